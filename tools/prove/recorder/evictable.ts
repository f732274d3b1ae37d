// The Worker's entry with three more routes: two evict an object in the middle of its work, as the
// platform does at a deploy: the ledger's, or a board's. The third moves the clock. All else is the
// product's.

import worker, {
  LedgerObject as Ledger,
  RepositoryObject as Repository,
} from '../../../worker/index.ts'

export {
  DirectoryObject,
  Dispatcher,
  SessionsObject,
} from '../../../worker/index.ts'

interface Env {
  LIBSQL_URL: string
  LEDGER: DurableObjectNamespace<LedgerObject>
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
}

export class LedgerObject extends Ledger {
  evict(): void {
    this.ctx.abort('evicted')
  }
}

export class RepositoryObject extends Repository {
  evict(): void {
    this.ctx.abort('evicted')
  }
}

const RealDate = Date
const realNow = Date.now
let movedMs = 0
RealDate.now = () => realNow() + movedMs
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], as) =>
    Reflect.construct(target, args.length > 0 ? args : [RealDate.now()], as) as Date,
})

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/move-clock') {
      movedMs = Number(await request.text())
      return new Response('moved')
    }
    if (pathname === '/evict-board') {
      const board = env.REPOSITORY.getByName(await request.text())
      await board.evict().catch(() => undefined)
      return new Response('evicted')
    }
    if (pathname !== '/evict-ledger') {
      return worker.fetch(request, env as unknown as Parameters<typeof worker.fetch>[1])
    }
    const ledger = env.LEDGER.getByName(new URL(env.LIBSQL_URL).host)
    // The call ends with the object.
    await ledger.evict().catch(() => undefined)
    return new Response('evicted')
  },
}
