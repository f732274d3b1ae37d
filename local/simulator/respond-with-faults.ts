// Applies faults between a request and its response: delay, outage, timeout.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Payment } from './payment.ts'
import { namesOf, type Simulator } from './simulator.ts'

/** `of`: the payment or order of the request. The token endpoint has none. */
export async function respondWithFaults(
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
  if (faults.timeout) await clientGone(request.signal)
  return response
}

/** As a load balancer in front of the gateway answers: HTML, even for a JSON API. */
const outagePage = (status: number): Response =>
  new Response(
    '<!doctype html><html><head><title>Service unavailable</title></head>' +
      '<body><h1>We will be back soon</h1><p>Scheduled maintenance.</p></body></html>',
    { status, headers: { 'content-type': 'text/html; charset=utf-8' } },
  )

/** Resolves when the client has closed the connection. */
const clientGone = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
