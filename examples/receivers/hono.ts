// deno serve -A examples/receivers/hono.ts
import { Hono } from 'hono'
import { handleEvents } from 'signalbox/events'
import { markPaid } from './orders.ts'

const receive = handleEvents({
  secrets: process.env.PAYMENT_EVENTS_SECRET,
  on: { PaymentSucceeded: ({ transaction }) => markPaid(transaction) },
})
const app = new Hono()
app.post('/events', (c) => receive(c.req.raw))
export default app
