// The Idempotency-Key of gateways that have one.

import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ActiveFaults } from './faults.ts'
import type { Order, Payment } from './payments.ts'

/** In the gateway's form. `409`: the first request with this key is still under way. */
type RefuseKey = (status: 400 | 409, message: string) => Response

/**
 * A repeated key gets the first answer, even a refusal. Kept as long as the simulator runs; the
 * gateways forget them earlier.
 */
export class IdempotencyKeys {
  readonly #refuse: RefuseKey
  readonly #answered = new Map<string, Answered>()

  constructor(refuse: RefuseKey) {
    this.#refuse = refuse
  }

  /** `request`: the path and all parameters. Without a key, `work` always runs. */
  async once(
    key: string | undefined,
    request: string,
    work: () => Response | Promise<Response>,
  ): Promise<Response> {
    if (key === undefined) return await work()
    const known = this.#answered.get(key)
    if (known) return await this.#again(known, request)
    const answer = Promise.resolve().then(work).catch(responseOf)
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
      return this.#refuse(400, message)
    }
    if (isRunning) {
      const message = 'There is currently another in-progress request using this Idempotent Key.'
      return this.#refuse(409, message)
    }
    const response = (await answer).clone()
    response.headers.set('Idempotent-Replayed', 'true')
    return response
  }
}

/** For requests that change something: a repeated one gets the first answer. `of`: whose faults. */
export const changing =
  (faults: ActiveFaults, keys: IdempotencyKeys) =>
  (
    c: Context,
    endpoint: string,
    of: Payment | Order | undefined,
    work: () => Response | Promise<Response>,
  ): Promise<Response> =>
    faults.respond(c, endpoint, of, async () => {
      const request = `${c.req.path} ${await c.req.text()}`
      return await keys.once(c.req.header('idempotency-key'), request, work)
    })

function responseOf(error: unknown): Response {
  if (error instanceof HTTPException) return error.getResponse()
  throw error
}

interface Answered {
  request: string
  answer: Promise<Response>
  isRunning: boolean
}
