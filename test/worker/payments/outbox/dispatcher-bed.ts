// A dispatcher whose clock and endpoint the test controls.

import type { Listeners } from '../../../../worker/payments/domain/events.ts'
import type { EventName } from '../../../../worker/payments/domain/status.ts'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { keptLog } from '../../../support/payments.ts'

export const endpoint = {
  url: 'https://shop.example/events',
  secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
}

/** The answer of the endpoint. */
export type Answer = (request: Request) => Response | Promise<Response>

export function dispatcherOf(
  listeners: Listeners,
  answer?: Answer,
  types?: ReadonlySet<EventName>,
) {
  const clock = new FakeClock()
  const { log, lines } = keptLog()
  const sent: Request[] = []
  const signals: AbortSignal[] = []
  const fetch = async (url: string, init: RequestInit) => {
    const request = new Request(url, init)
    sent.push(request.clone() as Request)
    // A copy's own signal does not outlive a garbage collection.
    if (init.signal) signals.push(init.signal)
    return (await answer?.(request)) ?? new Response('ok')
  }
  const options = { listeners, clock, log, fetch: fetch as typeof globalThis.fetch }
  const dispatcher = createDispatcher({
    ...options,
    ...(answer && { endpoint: { ...endpoint, ...(types && { types }) } }),
  })
  return { dispatcher, clock, lines, sent, signals }
}

export const ok: Answer = () => new Response(null, { status: 204 })
export const never: Answer = (request) =>
  new Promise((_resolve, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })
