// Stripe's Idempotency-Key: a repeated key gets the first answer, even an error. Kept as long as
// the simulator runs; Stripe forgets them after a day or more.

import type { StripeError } from './stripe-request.ts'

interface Answered {
  request: string
  answer: Promise<Response>
  isRunning: boolean
}

export class IdempotencyKeys {
  readonly #answered = new Map<string, Answered>()

  /** `request`: the path and all parameters. Without a key, `work` always runs. */
  async once(
    key: string | undefined,
    request: string,
    work: () => Response | Promise<Response>,
  ): Promise<Response> {
    if (key === undefined) return await work()
    const known = this.#answered.get(key)
    if (known) return await this.#again(known, request)
    const answer = (async () => await work())()
    const started = { request, answer, isRunning: true }
    this.#answered.set(key, started)
    const response = await answer.finally(() => {
      started.isRunning = false
    })
    return response.clone()
  }

  async #again({ request: first, answer, isRunning }: Answered, request: string) {
    if (first !== request) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.'
      return refuse(400, { type: 'idempotency_error', message })
    }
    if (isRunning) {
      const message = 'There is currently another in-progress request using this Idempotent Key.'
      const code = 'idempotency_key_in_use'
      return refuse(409, { type: 'idempotency_error', code, message })
    }
    const response = (await answer).clone()
    response.headers.set('Idempotent-Replayed', 'true')
    return response
  }
}

const refuse = (status: number, error: StripeError) => Response.json({ error }, { status })
