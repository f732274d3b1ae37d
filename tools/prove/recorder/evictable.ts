// The Worker's entry with one more route, which evicts the ledger's object in the middle of its
// work, as the platform does at a deploy. All else is the product's.

import worker, { LedgerObject as Ledger } from '../../../worker/index.ts'

export {
  DirectoryObject,
  Dispatcher,
  RepositoryObject,
  SessionsObject,
} from '../../../worker/index.ts'

interface Env {
  LIBSQL_URL: string
  LEDGER: DurableObjectNamespace<LedgerObject>
}

export class LedgerObject extends Ledger {
  evict(): void {
    this.ctx.abort('evicted')
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname !== '/evict-ledger') {
      return worker.fetch(request, env as unknown as Parameters<typeof worker.fetch>[1])
    }
    const ledger = env.LEDGER.getByName(new URL(env.LIBSQL_URL).host)
    // The call ends with the object.
    await ledger.evict().catch(() => undefined)
    return new Response('evicted')
  },
}
