// The Durable Object of the ledger and its guard: a shell around the one writer of a database. Its
// memory (tokens, the queue of writes) may be lost at any time.

import { DurableObject } from 'cloudflare:workers'
import { hostClock } from '../../shared/clock.ts'
import { consoleLog } from '../../shared/log.ts'
import { DUE_BATCH } from '../outbox/dispatch.ts'
import { answerCall, type LedgerApi, type LedgerCall, type LedgerReply } from './rpc.ts'

/**
 * The class to export, over the ledger that `make` builds at the first call:
 * `export class LedgerObject extends ledgerObject<Env>((env) => …) {}`
 */
export function ledgerObject<Env>(make: (env: Env, ctx: DurableObjectState) => LedgerApi) {
  return class extends DurableObject<Env> {
    #ledger: LedgerApi | undefined

    async call(call: string): Promise<string> {
      return JSON.stringify(await this.#answer(JSON.parse(call) as LedgerCall))
    }

    /** Events that were not delivered are due again. A failure is logged, and the sweeper's. */
    override async alarm(): Promise<void> {
      const due = { now: hostClock.now(), limit: DUE_BATCH }
      await this.#answer({ name: 'dispatchDue', args: [due] })
    }

    #answer(call: LedgerCall): Promise<LedgerReply> {
      const open = () => {
        this.#ledger ??= make(this.env, this.ctx)
        return this.#ledger
      }
      return answerCall(open, call, consoleLog)
    }
  }
}
