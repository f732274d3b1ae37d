import express from 'express'
import { toNodeHandler } from 'signalbox/events'
import { front, newOrder, pageOf, press, receive } from './shop.mts'

const shop = express()
shop.get('/', (_req, res) => res.send(front))
shop.post('/', (_req, res) => res.redirect(303, `/orders/${newOrder()}`))
shop.get('/orders/:id', ({ params: { id } }, res) => {
  const page = pageOf(id)
  res.status(page ? 200 : 404).send(page)
})
shop.post('/orders/:id/:action', async ({ params: { id, action }, protocol, host }, res) => {
  res.redirect(303, await press(id, action, `${protocol}://${host}/orders/${id}`))
})
shop.post('/events', toNodeHandler(receive))
shop.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
