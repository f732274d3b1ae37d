// Payments of an edge in this process, with a scripted gateway, on a real port.

import type { Environment } from '../../worker/config.ts'
import { SECRET, token } from './edge.ts'
import { processEdge } from './in-process-edge.ts'
import { request } from './payments.ts'
import { type PaymentsSetup, setUpPayments } from './payments-setup.ts'
import { serve } from './serve.ts'

export interface PaymentsServer {
  setup: PaymentsSetup
  /** What `createPayments` is given. */
  place: { url: string; token: string }
  close(): Promise<void>
}

export async function servePayments(env: Environment = {}): Promise<PaymentsServer> {
  const setup = setUpPayments()
  const edge = processEdge({ env: { AUTH_SECRETS: SECRET, ...env }, payments: setup.payments })
  const { url, close } = await serve(async ({ url, method, headers, body }) => {
    const { origin, pathname, search } = new URL(url)
    const init = { method, headers, ...(body && { body, duplex: 'half' as const }) }
    return await edge.fetch(`${pathname}${search}`, init, origin)
  })
  const scope = 'payments:read payments:write'
  return { setup, place: { url, token: await token({ scope, repos: [] }) }, close }
}

export const LAMP = request({ description: 'A lamp' })
