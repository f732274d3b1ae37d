import express from 'express'
import { handleEvents, toNodeHandler } from 'signalbox/events'
import { markPaid } from './orders.ts'

const app = express()
const receive = handleEvents({
  secrets: process.env.PAYMENT_EVENTS_SECRET,
  on: { PaymentSucceeded: ({ transaction }) => markPaid(transaction) },
})
app.post('/events', toNodeHandler(receive))
app.listen(Number(process.env.PORT ?? 3000))
