import express from 'express'
import { handleEvents } from 'signalbox/events'
import { markPaid } from './orders.ts'

const app = express()
const receive = handleEvents({
  secrets: process.env.PAYMENT_EVENTS_SECRET,
  on: { PaymentSucceeded: ({ transaction }) => markPaid(transaction) },
})
app.post('/events', express.raw({ type: '*/*', limit: '256kb' }), async (req, res) => {
  const init = { method: 'POST', headers: req.headers as Record<string, string>, body: req.body }
  const answer = await receive(new Request('http://shop/events', init))
  res.status(answer.status).send(await answer.text())
})
app.listen(Number(process.env.PORT ?? 3000))
