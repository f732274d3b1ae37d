// All of the simulator on one port. `url`: where it can be reached, for the links to its pages.

import { Hono, type MiddlewareHandler } from 'hono'
import { isLoopback } from '../../worker/shared/loopback.ts'
import { controlApi } from './control-api.ts'
import { fibApi } from './fib-api.ts'
import { payPages } from './pay-pages.ts'
import { redirectApi } from './redirect-api.ts'
import type { Simulator } from './simulator.ts'

export function createApp(simulator: Simulator, url: () => string): Hono {
  const payUrl = (id: string) => `${url()}/pay/${id}`
  const app = new Hono()
  app.use(refuseForeign)
  app.get('/health', (c) => c.text('ok'))
  app.route('/', redirectApi(simulator, payUrl))
  app.route('/', fibApi(simulator, payUrl))
  app.route('/', payPages(simulator))
  app.route('/', controlApi(simulator))
  // Stripe's client is sent here too, and understands an error of this shape.
  const missing = { type: 'invalid_request_error', message: 'There is nothing here.' }
  app.notFound((c) => c.json({ error: missing }, 404))
  app.onError((error, c) => {
    console.error(error)
    return c.json({ error: { type: 'api_error', message: 'The simulator itself failed.' } }, 500)
  })
  return app
}

/**
 * Any web page in this machine's browser can send requests here: by its own origin, or by a name of
 * its own that it has pointed at 127.0.0.1, where it could read the answers too. It would pay, or
 * tell the edge of payments that nobody made.
 */
const refuseForeign: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? ''
  const origin = c.req.header('origin')
  if (!isLoopback(URL.parse(`http://${host}`)?.hostname ?? '')) {
    return c.json({ error: 'The Host header is not of this machine.', code: 'foreign_host' }, 403)
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    const error = 'The Origin header is not of the simulator: no web page may call it.'
    return c.json({ error, code: 'foreign_origin' }, 403)
  }
  return await next()
}
