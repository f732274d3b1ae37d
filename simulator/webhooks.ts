// The webhooks of a payment's transition: which are sent when, as the gateways do it or with
// faults. Those that are not answered with 2xx are sent again, and each attempt is recorded.

import { type Clock, pause } from '../worker/shared/clock.ts'
import type { Faults } from './faults.ts'
import type { Transition } from './payments.ts'

/** How a gateway writes and signs its webhooks. */
export interface WebhookFormat {
  /** The merchant's setting with the signing secret. Missing: webhooks are not signed. */
  signsWith?: string
  /** The content of the webhook, before it is signed. */
  content(transition: Transition, eventId: string): Content
  /** `secret`: the merchant's, which a gateway that does not sign ignores. `now` in ms. */
  encode(signed: Signed, secret: string, now: number): Promise<EncodedWebhook>
  /** Whether the gateway sends no webhook for it. */
  isSilent?(transition: Transition): boolean
  /** The token that the payer's browser brings back to the shop. */
  returnToken?(content: Content, secret: string): Promise<string>
}

/** For redirect the claims of the token, for the others the body itself. */
export type Content = Record<string, unknown>

export interface Signed {
  /** The same for every attempt. FIB does not send it. */
  eventId: string
  content: Content
  forgery?: 'tampered' | 'alg_none'
  /** How old the signature is, which only Stripe dates. */
  ageMs?: number
}

export interface Webhook extends Signed {
  paymentId: string
  gateway: string
  url: string
}

/** A webhook as it is sent. */
export interface EncodedWebhook {
  headers: Record<string, string>
  body: string
}

/** Sent at once. The next batch waits until all of these were answered. */
export interface Batch {
  afterMs: number
  webhooks: Webhook[]
}

/** Empty without a callback URL, or with the fault `lost`. `newId` is for `outOfOrder`. */
export function batchesOf(
  transition: Transition,
  eventId: string,
  faults: Faults,
  newId: () => string,
  contentOf: WebhookFormat['content'],
): Batch[] {
  const { id: paymentId, gateway, callbackUrl: url } = transition.after
  if (url === undefined || faults.lost) return []
  const names = { paymentId, gateway, url }
  const { ageMs, tampered, algNone } = faults
  const webhook: Webhook = {
    ...names,
    eventId,
    content: contentOf({ ...transition, now: transition.now - (ageMs ?? 0) }, eventId),
    ...(ageMs !== undefined && { ageMs }),
    ...(algNone && { forgery: 'alg_none' }),
    ...(tampered && { forgery: 'tampered' }),
  }
  const copies = Array.from({ length: faults.copies ?? 1 }, () => webhook)
  const batches: Batch[] = [{ afterMs: faults.lateMs ?? 0, webhooks: copies }]
  if (!faults.outOfOrder) return batches

  const { before } = transition
  const previous = { before, after: before, refundFailed: false, now: before.updatedAt }
  const earlierId = newId()
  const earlier = { ...names, eventId: earlierId, content: contentOf(previous, earlierId) }
  return [...batches, { afterMs: 0, webhooks: [earlier] }]
}

export interface Cancellable extends Pick<Clock, 'now' | 'after'> {
  cancelAll(): void
}

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** A clock whose calls can all be cancelled while they wait. */
export function cancellable(clock: Pick<Clock, 'now' | 'after'>): Cancellable {
  const waiting = new Set<() => void>()
  return {
    now: () => clock.now(),
    after(ms, call) {
      const cancel = clock.after(Math.min(ms, MAX_TIMER_MS), () => {
        waiting.delete(cancel)
        call()
      })
      waiting.add(cancel)
      return cancel
    },
    cancelAll() {
      for (const cancel of waiting) cancel()
      waiting.clear()
    },
  }
}

export interface WebhookSenderDeps {
  clock: Pick<Clock, 'now' | 'after'>
  /** The bytes of a webhook. Called for each attempt, since Stripe signs each with its time. */
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
      if (afterMs > 0) await pause(this.#deps.clock, afterMs)
      await Promise.all(webhooks.map((webhook) => this.#deliver(webhook)))
    }
  }

  async #deliver(webhook: Webhook): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (await this.#attempt(webhook, attempt)) return
      const waitMs = this.#deps.retriesMs[attempt - 1]
      if (waitMs === undefined) return
      await pause(this.#deps.clock, waitMs)
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
}

/** The message of a fetch error is only "fetch failed". The reason is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
