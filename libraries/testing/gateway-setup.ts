// A gateway's driver with the real guard and the real call: tokens, timeouts, retries, the breaker.
// `fetch` is a gateway of the test, and the test moves the clock.

import type { Notify, PaymentEvents } from '../../worker/payments/domain/types.ts'
import {
  CALL_TIMEOUT_MS,
  type ClientDeps,
  createClient,
  type GatewayClient,
  openCall,
} from '../../worker/payments/gateways/client.ts'
import type { AnyGateway, GatewayCall } from '../../worker/payments/gateways/gateway.ts'
import {
  type BreakerState,
  createGuard,
  type GatewayGuard,
} from '../../worker/payments/gateways/guard.ts'
import { end, FakeClock } from './fake-clock.ts'

export type Answer = (request: Request) => Response | Promise<Response>

export interface Sent {
  method: string
  /** The URL without its origin. */
  path: string
  headers: Headers
  body: string
}

export class GatewaySetup {
  readonly clock = new FakeClock()
  /** Every request, in the order of their sending. */
  readonly sent: Sent[] = []
  /** Lines of the log: warnings and errors, those of the driver too. */
  readonly lines: { event: string; fields: Record<string, unknown> }[] = []
  readonly timeouts: PaymentEvents['GatewayTimeout'][] = []
  readonly gateway: AnyGateway
  /** Tests may replace it at any time. */
  answer: Answer
  /** @internal */
  readonly breakers = new Map<string, BreakerState>()
  /** @internal */
  readonly openings: PaymentEvents['CircuitOpened'][] = []
  /** @internal */
  readonly guard: GatewayGuard
  /** @internal */
  readonly client: GatewayClient
  readonly #deps: ClientDeps

  constructor(gateway: AnyGateway, answer: Answer) {
    this.gateway = gateway
    this.answer = answer
    const { clock, breakers: store } = this
    const log = (level: string, event: string, fields: Record<string, unknown>) => {
      if (level !== 'debug') this.lines.push({ event, fields })
    }
    const gateways = new Map([[gateway.key, gateway]])
    this.guard = createGuard({ gateways, clock, store, fetch: this.fetch, log })
    const notify: Notify = (name, payload) => {
      if (name === 'GatewayTimeout') this.timeouts.push(payload as never)
      if (name === 'CircuitOpened') this.openings.push(payload as never)
    }
    this.#deps = { guard: this.guard, clock, log, fetch: this.fetch, notify }
    this.client = createClient(this.#deps)
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    this.sent.push(await sentOf(request))
    return await this.answer(request)
  }

  /**
   * For one charge, webhook or check. `token`: an access token that it has already. `deadlineAt`:
   * in ms of the clock's `elapsed`. `verdict`: what the circuit breaker is told in the end.
   * `unanswered`: how many tries so far had no definite answer.
   */
  call({
    token,
    deadlineAt = this.clock.elapsed() + CALL_TIMEOUT_MS,
  }: {
    token?: string
    deadlineAt?: number
  } = {}): GatewayCall & { verdict(): 'success' | 'failure' | 'neutral'; unanswered(): number } {
    return openCall({ ...this.#deps, key: this.gateway.key, deadlineAt }, token)
  }

  /** `METHOD path` of each request. */
  get asked(): string[] {
    return this.sent.map(({ method, path }) => `${method} ${path}`)
  }

  /** Advances the clock until the work has settled. */
  end<T>(work: Promise<T>): Promise<T> {
    return end(this.clock, work)
  }
}

/** The request stays unread. */
export async function sentOf(request: Request): Promise<Sent> {
  const { pathname, search } = new URL(request.url)
  const { method, headers } = request
  return { method, path: pathname + search, headers, body: await request.clone().text() }
}

export const json = (body: unknown, status = 200): Response => Response.json(body, { status })

export const page = (html: string, status = 200): Response =>
  new Response(`<!doctype html><title>Sorry</title>${html}`, {
    status,
    headers: { 'content-type': 'text/html' },
  })

/** Accepts the connection, and does not answer. */
export const silence: Answer = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

export const noConnection: Answer = () => {
  throw new TypeError('fetch failed')
}
