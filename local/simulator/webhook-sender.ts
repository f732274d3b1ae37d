// Sends webhooks, retries those that were not answered with 2xx, and records each attempt.

import type { Clock } from '../../worker/shared/clock.ts'
import type { Batch, EncodedWebhook, Webhook } from './webhook.ts'

export interface WebhookSenderDeps {
  clock: Pick<Clock, 'now' | 'after'>
  /** The bytes of a webhook. Called for each attempt. */
  encode(webhook: Webhook): Promise<EncodedWebhook>
  /** Rejects if there was no response. */
  post(url: string, encoded: EncodedWebhook): Promise<{ status: number; text: string }>
  /** The waits before the second attempt, the third, and so on. After the last one it gives up. */
  retriesMs: readonly number[]
}

/** One attempt. */
export interface Sent {
  eventId: string
  paymentId: string
  gateway: string
  url: string
  /** From 1. */
  attempt: number
  /** ms */
  at: number
  body: string
  /** null: there was no response, and `error` says why. */
  status: number | null
  answer?: string
  error?: string
}

/** Enough for a test with a thousand. A benchmark with a million must not fill the memory. */
const MAX_RECORDED = 5_000

export class WebhookSender {
  readonly #deps: WebhookSenderDeps
  readonly #sent: Sent[] = []
  readonly #timers = new Set<() => void>()

  constructor(deps: WebhookSenderDeps) {
    this.#deps = deps
  }

  /** Every attempt, in the order of the responses. */
  get sent(): readonly Sent[] {
    return this.#sent
  }

  /** Resolves when every webhook was accepted or given up. */
  async send(batches: readonly Batch[]): Promise<void> {
    for (const { afterMs, webhooks } of batches) {
      if (afterMs > 0) await this.#wait(afterMs)
      await Promise.all(webhooks.map((webhook) => this.#deliver(webhook)))
    }
  }

  /** Cancels everything that still waits. */
  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  async #deliver(webhook: Webhook): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (await this.#attempt(webhook, attempt)) return
      const waitMs = this.#deps.retriesMs[attempt - 1]
      if (waitMs === undefined) return
      await this.#wait(waitMs)
    }
  }

  async #attempt(webhook: Webhook, attempt: number): Promise<boolean> {
    const encoded = await this.#deps.encode(webhook)
    const { eventId, paymentId, gateway, url } = webhook
    const at = this.#deps.clock.now()
    const answer = await this.#deps.post(url, encoded).then(
      ({ status, text }) => ({ status, answer: text.slice(0, 200) }),
      (error: unknown) => ({ status: null, error: reasonOf(error) }),
    )
    const { body } = encoded
    this.#sent.push({ eventId, paymentId, gateway, url, attempt, at, body, ...answer })
    if (this.#sent.length > MAX_RECORDED) this.#sent.shift()
    return answer.status !== null && answer.status >= 200 && answer.status < 300
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(ms, () => {
        this.#timers.delete(cancel)
        resolve()
      })
      this.#timers.add(cancel)
    })
  }
}

/** The message of a fetch error is only "fetch failed". The reason is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
