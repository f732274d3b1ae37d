import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { front, newOrder, pageOf, press, receive } from './shop.mts'

const shop = new Hono()
shop.get('/', (c) => c.html(front))
shop.post('/', (c) => c.redirect(`/orders/${newOrder()}`, 303))
shop.get('/orders/:id', (c) => {
  const page = pageOf(c.req.param('id'))
  return page ? c.html(page) : c.notFound()
})
shop.post('/orders/:id/:action', async (c) => {
  const { id, action } = c.req.param()
  return c.redirect(await press(id, action, new URL(`/orders/${id}`, c.req.url).href), 303)
})
shop.post('/events', (c) => receive(c.req.raw))
// On Deno, Bun and Workers, `export default shop` takes the place of this line.
serve({ fetch: shop.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
