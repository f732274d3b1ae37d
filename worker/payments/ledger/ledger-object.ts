// The Durable Object of the ledger: a shell around the one writer of a database. It stores nothing
// itself; its memory (breakers, tokens, the queue of writes) may be lost at any time.

import { DurableObject } from 'cloudflare:workers'
import { consoleLog } from '../../shared/log.ts'
import type { Ledger } from './ledger.ts'
import { answerCall, answerWebhooks, type LedgerReply } from './ledgers-object.ts'

/**
 * The class to export, over the ledger that `make` builds at the first call:
 * `export class LedgerObject extends ledgerObject<Env>((env) => …) {}`
 */
export function ledgerObject<Env>(make: (env: Env, ctx: DurableObjectState) => Ledger) {
  return class extends DurableObject<Env> {
    #ledger: Ledger | undefined

    call(name: string, args: readonly unknown[]): Promise<LedgerReply> {
      return answerCall(() => this.#open(), { name, args }, consoleLog)
    }

    webhooks(arrivals: string): Promise<string> {
      return answerWebhooks(() => this.#open(), arrivals, consoleLog)
    }

    #open(): Ledger {
      this.#ledger ??= make(this.env, this.ctx)
      return this.#ledger
    }
  }
}
