// A simulator on a real port of this machine, with real clock and network. main.ts, `signalbox` and
// tests open it.

import { randomUUID } from 'node:crypto'
import { Hono, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { serveNode } from '../worker/serve-node.ts'
import { bodyRefusal } from '../worker/shared/body-limit-hono.ts'
import { hostClock } from '../worker/shared/clock.ts'
import { consoleLog } from '../worker/shared/log.ts'
import { isLoopback } from '../worker/shared/loopback.ts'
import { openBook } from './book.ts'
import { type Environment, readSettings, type Settings } from './config.ts'
import { controlApi } from './control-api.ts'
import { payPages } from './pages.ts'
import { SIMULATIONS } from './simulations.ts'
import { Simulator } from './simulator.ts'
import type { EncodedWebhook } from './webhooks.ts'

/** A gateway waits this long for a merchant. */
const WEBHOOK_TIMEOUT_MS = 15_000
/** Far more than any request to a gateway needs. Any web page may send a body of any length. */
const MAX_BODY_BYTES = 1 << 20

export interface OpenSimulator {
  url: string
  simulator: Simulator
  close(): Promise<void>
}

/** `env`: see config.ts. Throws a TypeError that names an invalid variable. */
export async function openSimulator(env: Environment): Promise<OpenSimulator> {
  const settings = readSettings(env, SIMULATIONS)
  const book = openBook(settings.file, edgeOf(settings))
  const deps = { settings, book, gateways: SIMULATIONS, clock: hostClock, newId: randomUUID, post }
  const simulator = new Simulator(deps)
  let url = ''
  const payUrl = (id: string) => `${settings.sharedUrl?.origin ?? url}/pay/${id}`
  const app = createApp(simulator, payUrl)
  // The fault `timeout` leaves a connection silent for as long as its client wants.
  const listening = { hostname: '127.0.0.1', port: settings.port, silenceMs: 0 }
  const server = await serveNode(app.fetch, listening)
  url = server.url
  return {
    url,
    simulator,
    async close() {
      simulator.close()
      await server.close(0)
      book.close()
    },
  }
}

/** Where one gateway sends its webhooks, all do. */
const edgeOf = ({ merchants }: Settings): string | undefined =>
  Object.values(merchants).find(({ callbackUrl }) => callbackUrl !== undefined)?.callbackUrl

async function post(url: string, { headers, body }: EncodedWebhook) {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    // A redirect does not count as accepted.
    redirect: 'manual',
    signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS),
  })
  return { status: response.status, text: await response.text() }
}

const tooLarge = bodyRefusal({ maxSize: MAX_BODY_BYTES, onError: (c) => c.body(null, 413) })

function createApp(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const app = new Hono()
  app.use(refuseForeign(simulator.settings.sharedUrl))
  app.use(async (c, next) => (await tooLarge(c)) ?? next())
  app.get('/health', (c) => c.text('ok'))
  for (const { api } of Object.values(SIMULATIONS)) app.route('/', api(simulator, payUrl))
  app.route('/', payPages(simulator))
  app.route('/', controlApi(simulator))
  // In Stripe's form: that driver understands it, and the others only look at the status.
  const missing = { type: 'invalid_request_error', message: 'There is nothing here.' }
  app.notFound((c) => c.json({ error: missing }, 404))
  app.onError((error, c) => {
    // What a gateway refuses, in its own form.
    if (error instanceof HTTPException) return error.getResponse()
    // A client that closed the connection while sending is not an error of ours.
    if (!c.req.raw.signal.aborted) consoleLog('error', 'simulator.failed', { error })
    return c.json({ error: { type: 'api_error', message: 'The simulator itself failed.' } }, 500)
  })
  return app
}

/**
 * Any web page in a browser on this machine can send requests here: from its own origin, or through
 * a domain name that it points to 127.0.0.1 (DNS rebinding), which lets it read responses as well.
 * It could pay, or send the edge webhooks about payments that do not exist.
 */
const refuseForeign =
  (shared: URL | undefined): MiddlewareHandler =>
  async (c, next) => {
    const host = c.req.header('host') ?? ''
    const origin = c.req.header('origin')
    const own = host === shared?.host ? shared.origin : `http://${host}`
    if (host !== shared?.host && !isLoopback(URL.parse(own)?.hostname ?? '')) {
      const error = 'The Host header is not a name of this machine.'
      return c.json({ error, code: 'foreign_host' }, 403)
    }
    if (origin !== undefined && origin !== own) {
      const error = 'The Origin header is foreign: web pages must not call the simulator.'
      return c.json({ error, code: 'foreign_origin' }, 403)
    }
    return await next()
  }
