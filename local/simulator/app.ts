// All of the simulator on one port. `url`: where it can be reached, for the links to its pages.

import { Hono } from 'hono'
import { controlApi } from './control-api.ts'
import { fibApi } from './fib-api.ts'
import { payPages } from './pay-pages.ts'
import { redirectApi } from './redirect-api.ts'
import type { Simulator } from './simulator.ts'

export function createApp(simulator: Simulator, url: () => string): Hono {
  const payUrl = (id: string) => `${url()}/pay/${id}`
  const app = new Hono()
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
