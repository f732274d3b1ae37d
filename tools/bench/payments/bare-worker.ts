// The upper limit for a Worker: it verifies the same signed callback, and stores nothing.

import { Hono } from 'hono'
import { compactVerify } from 'jose'

interface Env {
  API_KEY: string
}

const app = new Hono<{ Bindings: Env }>()
app.post('/payments/webhooks/:gateway', async (c) => {
  const { webhook_token: token } = await c.req.json<{ webhook_token: string }>()
  const key = new TextEncoder().encode(c.env.API_KEY)
  const { payload } = await compactVerify(token, key, { algorithms: ['HS256'] })
  const { eventId } = JSON.parse(new TextDecoder().decode(payload)) as { eventId: string }
  return c.text(eventId.startsWith('ev-') ? 'ok' : 'unknown')
})

export default app
