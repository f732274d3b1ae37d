// What the shop asks of the payments' API: the same request with the same key until it is answered
// for good, each time of the next edge. Every try is a line of the history.

import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadPlan } from './load.ts'

/** With the second half of them the shop asks for another page, where the first was lost. */
const ATTEMPTS = 4
const AGAIN_MS = 700
/** Longer than the edge takes for any answer. */
export const ANSWER_MS = 30_000
/** No other try is answered otherwise. */
const FINAL: readonly unknown[] = ['already_paid', 'not_cancellable']

interface Answer {
  status: number
  body: {
    transactionId?: string
    gatewayTransactionId?: string
    status?: string
    code?: string
  } | null
}

interface Asked {
  path: string
  body: object
  /** Idempotency-Key. */
  key?: string | undefined
  /** Its line in the history. */
  line: { kind: 'charge' | 'refund' | 'acknowledge' | 'cancel'; [name: string]: unknown }
}

export class ShopRequests {
  readonly #plan: LoadPlan
  /** Each request is for the next one. */
  edges: readonly string[]
  #requests = 0

  constructor(plan: LoadPlan) {
    this.#plan = plan
    this.edges = [plan.system.edgeUrl]
  }

  /** Until it is answered for good. Undefined: it was refused, or the load is over. */
  async untilDone({ path, body, key, line }: Asked): Promise<Answer | undefined> {
    const { ending, recorder } = this.#plan
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await sleep(AGAIN_MS * attempt)
      if (attempt > 0 && ending.isOver) return undefined
      const sentAt = performance.now()
      const replace = line.kind === 'charge' && attempt >= ATTEMPTS / 2
      const answer = await this.#post(path, replace ? { ...body, replace } : body, key)
      recorder.write({ ...line, tookMs: Math.round(performance.now() - sentAt), ...answer })
      if (answer.status >= 200 && answer.status < 300) return answer
      if (answer.status === 422 || FINAL.includes(answer.body?.code)) return undefined
    }
    return undefined
  }

  async #post(path: string, body: object, key: string | undefined): Promise<Answer> {
    const edge = this.edges[this.#requests++ % this.edges.length]
    const authorization = `Bearer ${this.#plan.system.tokens.payments}`
    try {
      const response = await fetch(`${edge}/api/payments${path}`, {
        method: 'POST',
        headers: { authorization, ...(key !== undefined && { 'idempotency-key': key }) },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      return { status: response.status, body: (await response.json()) as Answer['body'] }
    } catch {
      return { status: 0, body: null }
    }
  }
}
