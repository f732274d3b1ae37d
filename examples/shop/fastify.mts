import fastify from 'fastify'
import { toNodeHandler } from 'signalbox/events'
import { front, newOrder, pageOf, press, receive } from './shop.mts'

const shop = fastify()
// Nothing is parsed: the signature of an event covers its bytes, and the forms here have no fields.
shop.removeAllContentTypeParsers()
shop.addContentTypeParser('*', (_request, _body, done) => done(null))
shop.get('/', (_request, reply) => reply.type('text/html').send(front))
shop.post('/', (_request, reply) => reply.redirect(`/orders/${newOrder()}`, 303))
shop.get<{ Params: { id: string } }>('/orders/:id', ({ params: { id } }, reply) => {
  const page = pageOf(id)
  return reply
    .code(page ? 200 : 404)
    .type('text/html')
    .send(page)
})
shop.post<{ Params: { id: string; action: string } }>(
  '/orders/:id/:action',
  async ({ params: { id, action }, protocol, host }, reply) =>
    reply.redirect(await press(id, action, `${protocol}://${host}/orders/${id}`), 303),
)
shop.post('/events', async (request, reply) => {
  reply.hijack()
  await toNodeHandler(receive)(request.raw, reply.raw)
})
await shop.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
