// A simulator on a real port, the requests of a gateway client, and a merchant that receives its
// webhooks.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'
import type { FaultPlan } from '../../simulator/faults.ts'
import { type OpenSimulator, openSimulator } from '../../simulator/open-simulator.ts'
import { PATIENT } from './patience.ts'

export const API_KEY = 'the-merchants-api-key-of-32-bytes-or-more'
export const CLIENT = { id: 'merchant', secret: 'client-secret' }
export const STRIPE = { secretKey: 'sk_test_merchant', webhookSecret: 'whsec_of-the-merchant' }

export const MOLLIE = { apiKey: 'test_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM' }

type Json = Record<string, unknown>

/** Receives webhooks, and answers with the statuses of the test. */
export class Merchant {
  readonly bodies: string[] = []
  /** The headers of each body. */
  readonly headers: IncomingHttpHeaders[] = []
  /** The statuses of the next responses; then 200. */
  answers: number[] = []
  readonly #server: Server

  constructor() {
    // A sender must not use a connection at the moment in which it is closed for being idle.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      void text(request).then((body) => {
        this.bodies.push(body)
        this.headers.push(request.headers)
        response.writeHead(this.answers.shift() ?? 200).end('ok')
      })
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/callback`
  }

  /** Waits for this number of webhooks. */
  async got(count: number): Promise<string[]> {
    await vi.waitUntil(() => this.bodies.length >= count, { ...PATIENT, interval: 5 })
    return this.bodies
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

export interface SimulatorSetup extends AsyncDisposable {
  url: string
  /** The URL of the merchant for webhooks. */
  callback: string
  merchant: Merchant
  simulator: OpenSimulator['simulator']
  faults(plan: Partial<FaultPlan>): void
  call(path: string, init?: RequestInit): Promise<Response>
  /** A token of the redirect gateway. */
  token(scope?: string): Promise<string>
  /** A charge at the redirect gateway. */
  init(orderId?: string, more?: Json): Promise<Response>
  charged(orderId?: string): Promise<string>
  inquiry(id: string): Promise<Json>
  act(id: string, action: string): Promise<Response>
}

export async function setUpSimulator(env: Record<string, string> = {}): Promise<SimulatorSetup> {
  const merchant = new Merchant()
  const callback = await merchant.listen()
  const open = await openSimulator({
    SIMULATOR_REDIRECT_CALLBACK_URL: callback,
    SIMULATOR_REDIRECT_CLIENT_ID: CLIENT.id,
    SIMULATOR_REDIRECT_CLIENT_SECRET: CLIENT.secret,
    SIMULATOR_REDIRECT_API_KEY: API_KEY,
    SIMULATOR_FIB_CLIENT_ID: CLIENT.id,
    SIMULATOR_FIB_CLIENT_SECRET: CLIENT.secret,
    SIMULATOR_STRIPE_CALLBACK_URL: callback,
    SIMULATOR_STRIPE_SECRET_KEY: STRIPE.secretKey,
    SIMULATOR_STRIPE_WEBHOOK_SECRET: STRIPE.webhookSecret,
    SIMULATOR_MOLLIE_API_KEY: MOLLIE.apiKey,
    SIMULATOR_REFUND_MS: '20',
    SIMULATOR_RETRIES_MS: '10 10',
    ...env,
  })
  const call = (path: string, init?: RequestInit) =>
    fetch(`${open.url}${path}`, { redirect: 'manual', ...init })
  const token = async (scope = 'payment:read payment:write reverse:write') => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      scope,
    })
    const answer = await call('/oauth2/token', { method: 'POST', body })
    return ((await answer.json()) as { access_token: string }).access_token
  }
  const init = async (orderId = 'order-1', more: Json = {}) =>
    call(`${TRANSACTION}/init`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        language: 'En',
        externalReferenceId: `ext-${orderId}`,
        orderId,
        serviceType: 'Delivery',
        amount: { value: 25_000, currency: 'IQD' },
        ...more,
      }),
    })
  return {
    url: open.url,
    callback,
    merchant,
    simulator: open.simulator,
    faults: (plan) => open.simulator.faults.set({ all: {}, orders: {}, ...plan }),
    call,
    token,
    init,
    async charged(orderId) {
      const answer = (await (await init(orderId)).json()) as {
        transactionDetails: { transactionId: string }
      }
      return answer.transactionDetails.transactionId
    },
    async inquiry(id) {
      const headers = { authorization: `Bearer ${await token()}` }
      return (await (await call(`${TRANSACTION}/inquiry/${id}`, { headers })).json()) as Json
    },
    act: (id, action) => call(`/_control/payments/${id}/${action}?wait`, { method: 'POST' }),
    async [Symbol.asyncDispose]() {
      await open.close()
      merchant.close()
    },
  }
}

export const TRANSACTION = '/api/v2/payment-gateway/transaction'
