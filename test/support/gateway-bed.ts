// A gateway's driver with the real guard and the real call. `fetch` is a gateway of the test, and
// the test moves the clock.

import type { PaymentEvents } from '../../worker/payments/domain/events.ts'
import type { AnyGateway } from '../../worker/payments/gateways/gateway.ts'
import type { BreakerState } from '../../worker/payments/gateways/guard/breaker.ts'
import { type Caller, createCaller } from '../../worker/payments/gateways/guard/caller.ts'
import type { GatewayGuard } from '../../worker/payments/gateways/guard/guard.ts'
import { createGuard } from '../../worker/payments/gateways/guard/guard-process.ts'
import { end, FakeClock } from './fake-clock.ts'

export type Answer = (request: Request) => Response | Promise<Response>

export interface Sent {
  method: string
  /** The URL without its origin. */
  path: string
  headers: Headers
  body: string
}

export class GatewayBed {
  readonly clock = new FakeClock()
  readonly breakers = new Map<string, BreakerState>()
  readonly sent: Sent[] = []
  readonly lines: { event: string; fields: Record<string, unknown> }[] = []
  readonly timeouts: PaymentEvents['GatewayTimeout'][] = []
  readonly openings: PaymentEvents['CircuitOpened'][] = []
  readonly gateway: AnyGateway
  readonly guard: GatewayGuard
  readonly caller: Caller
  /** Tests may replace it at any time. */
  answer: Answer

  constructor(gateway: AnyGateway, answer: Answer) {
    this.gateway = gateway
    this.answer = answer
    const { clock, breakers: store } = this
    const log = (_: string, event: string, fields: Record<string, unknown>) => {
      this.lines.push({ event, fields })
    }
    const gateways = new Map([[gateway.key, gateway]])
    this.guard = createGuard({ gateways, clock, store, fetch: this.fetch, log })
    this.caller = createCaller({
      guard: this.guard,
      clock,
      log,
      fetch: this.fetch,
      onTimeout: (timeout) => this.timeouts.push(timeout),
      onOpened: (opened) => this.openings.push(opened),
    })
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = await request.clone().text()
    this.sent.push({ method, path: pathname + search, headers, body })
    return await this.answer(request)
  }

  call() {
    return this.caller.startCall(this.gateway)
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
