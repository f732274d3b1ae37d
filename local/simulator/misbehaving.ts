// Between a request and its answer: slow, out, or silent, when told so.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Payment } from './payment.ts'
import { namesOf, type Simulator } from './simulator.ts'

/** `of`: the payment or order that the request is about; the token endpoint knows none. */
export async function answering(
  simulator: Simulator,
  request: Request,
  endpoint: string,
  of: Parameters<typeof namesOf>[0] | Payment | undefined,
  work: () => Response | Promise<Response>,
): Promise<Response> {
  const faults = simulator.faults.ofRequest(endpoint, of ? namesOf(of) : [])
  if (faults.slowMs) await sleep(faults.slowMs)
  if (faults.outage !== undefined) return outagePage(faults.outage)
  const response = await work()
  if (faults.timeout) await gone(request.signal)
  return response
}

/** As a balancer in front of the gateway shows it, whatever the gateway speaks. */
const outagePage = (status: number): Response =>
  new Response(
    '<!doctype html><html><head><title>Service unavailable</title></head>' +
      '<body><h1>We will be back soon</h1><p>Scheduled maintenance.</p></body></html>',
    { status, headers: { 'content-type': 'text/html; charset=utf-8' } },
  )

/** Resolves when whoever asked has hung up. */
const gone = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
