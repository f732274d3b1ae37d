import { env } from 'cloudflare:workers'
import { handleEvents } from 'signalbox/events'
import { markPaid } from './orders.ts'

const receive = handleEvents({
  secrets: (env as { PAYMENT_EVENTS_SECRET?: string }).PAYMENT_EVENTS_SECRET,
  on: { PaymentSucceeded: ({ transaction }) => markPaid(transaction) },
})
export default {
  fetch: (request: Request) =>
    new URL(request.url).pathname === '/events'
      ? receive(request)
      : new Response('', { status: 404 }),
}
