import express from 'express'
import { handleEvents } from 'signalbox/events'
import { markPaid } from './orders.ts'

const app = express()
const receive = handleEvents({
  secrets: process.env.PAYMENT_EVENTS_SECRET,
  on: { PaymentSucceeded: ({ transaction }) => markPaid(transaction) },
})
app.post('/events', express.raw({ type: '*/*' }), async ({ headers, body }, res) => {
  const init = { method: 'POST', headers: headers as Record<string, string>, body }
  const answer = await receive(new Request('http://shop/events', init))
  res.status(answer.status).send(await answer.text())
})
app.listen(Number(process.env.PORT ?? 3000))
