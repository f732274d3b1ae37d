// All routes of the simulator. `url`: its own URL, for links to its pages.

import { Hono, type MiddlewareHandler } from 'hono'
import { isLoopback } from '../../worker/shared/loopback.ts'
import { controlApi } from './control-api.ts'
import { fibApi } from './fib-api.ts'
import { payPages } from './pay-pages.ts'
import { redirectApi } from './redirect-api.ts'
import type { Simulator } from './simulator.ts'
import { stripeApi } from './stripe-api.ts'

export function createApp(simulator: Simulator, url: () => string): Hono {
  const payUrl = (id: string) => `${url()}/pay/${id}`
  const app = new Hono()
  app.use(refuseForeign)
  app.get('/health', (c) => c.text('ok'))
  app.route('/', redirectApi(simulator, payUrl))
  app.route('/', fibApi(simulator, payUrl))
  app.route('/', stripeApi(simulator, payUrl))
  app.route('/', payPages(simulator))
  app.route('/', controlApi(simulator))
  // In Stripe's form: that driver understands it, and the others only look at the status.
  const missing = { type: 'invalid_request_error', message: 'There is nothing here.' }
  app.notFound((c) => c.json({ error: missing }, 404))
  app.onError((error, c) => {
    console.error(error)
    return c.json({ error: { type: 'api_error', message: 'The simulator itself failed.' } }, 500)
  })
  return app
}

/**
 * Any web page in a browser on this machine can send requests here: from its own origin, or through
 * a domain name that it points to 127.0.0.1 (DNS rebinding), which lets it read responses as well.
 * It could pay, or send the edge webhooks about payments that do not exist.
 */
const refuseForeign: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? ''
  const origin = c.req.header('origin')
  if (!isLoopback(URL.parse(`http://${host}`)?.hostname ?? '')) {
    return c.json(
      { error: 'The Host header is not a name of this machine.', code: 'foreign_host' },
      403,
    )
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    const error = 'The Origin header is foreign: web pages must not call the simulator.'
    return c.json({ error, code: 'foreign_origin' }, 403)
  }
  return await next()
}
