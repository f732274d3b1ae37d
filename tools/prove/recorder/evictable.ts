// The Worker's entry with three more routes: two evict an object in the middle of its work, as the
// platform does at a deploy: the ledger's, or a board's. The third moves the clock. All else is the
// product's.

import worker, * as product from '../../../worker/index.ts'

export { DirectoryObject, Dispatcher, SessionsObject } from '../../../worker/index.ts'

interface Env {
  LIBSQL_URL: string
  LEDGER: DurableObjectNamespace<LedgerObject>
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
}

export class LedgerObject extends product.LedgerObject {
  evict(): void {
    this.ctx.abort('evicted')
  }
}

export class RepositoryObject extends product.RepositoryObject {
  evict(): void {
    this.ctx.abort('evicted')
  }
}

const realNow = Date.now
let movedMs = 0
Date.now = () => realNow() + movedMs
globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], as) =>
    Reflect.construct(target, args.length > 0 ? args : [Date.now()], as) as Date,
})

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/move-clock') {
      movedMs = Number(await request.text())
      return new Response('moved')
    }
    const evicted =
      pathname === '/evict-board'
        ? env.REPOSITORY.getByName(await request.text())
        : pathname === '/evict-ledger' && env.LEDGER.getByName(new URL(env.LIBSQL_URL).host)
    if (!evicted) return worker.fetch(request, env as unknown as Parameters<typeof worker.fetch>[1])
    // The call ends with the object.
    await evicted.evict().catch(() => undefined)
    return new Response('evicted')
  },
}
