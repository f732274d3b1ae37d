// How a person or a test tells the simulator what to do: docs/simulator.md. No part of any gateway.

import { Hono } from 'hono'
import { readPlan } from './faults.ts'
import type { Action } from './payment.ts'
import type { Simulator } from './simulator.ts'

/** `refund` is what the gateway's own staff may do. */
const ACTIONS: readonly Action[] = ['pay', 'pay_late', 'fail', 'cancel', 'expire', 'refund']

export function controlApi(simulator: Simulator): Hono {
  const { book, faults, courier, tokens } = simulator
  const api = new Hono().basePath('/_control')

  api.get('/', (c) =>
    c.json({ faults: faults.plan, payments: book.all().length, webhooks: courier.sent.length }),
  )
  api.get('/faults', (c) => c.json(faults.plan))
  api.put('/faults', async (c) => {
    const read = readPlan(await c.req.json<unknown>().catch(() => undefined))
    if (!read.ok) return c.json({ error: read.sentence, code: 'invalid_request' }, 400)
    faults.set(read.plan)
    return c.json(faults.plan)
  })

  api.get('/payments', (c) => {
    const order = c.req.query('order')
    const all = book.all().filter(({ reference }) => order === undefined || order === reference)
    return c.json({ payments: all })
  })
  api.get('/payments/:id', (c) => {
    const payment = book.find(c.req.param('id'))
    return payment ? c.json(payment) : c.json(UNKNOWN, 404)
  })
  api.post('/payments/:id/:action', async (c) => {
    const payment = book.find(c.req.param('id'))
    const action = ACTIONS.find((name) => name === c.req.param('action'))
    if (!payment || !action) return c.json(UNKNOWN, 404)
    const acted = simulator.act(payment, action)
    if (!acted.ok) {
      const error = `The payment is ${acted.state} and cannot ${action}.`
      return c.json({ error, code: 'wrong_state', state: acted.state }, 409)
    }
    // Until every webhook of it is taken or given up.
    if (c.req.query('wait') !== undefined) await acted.told
    return c.json(acted.payment)
  })

  api.get('/webhooks', (c) => {
    const payment = c.req.query('payment')
    const sent = courier.sent.filter(({ paymentId }) => !payment || payment === paymentId)
    return c.json({ webhooks: sent })
  })
  api.delete('/tokens', (c) => {
    tokens.redirect.forget()
    tokens.fib.forget()
    return c.body(null, 204)
  })
  return api
}

const UNKNOWN = { error: 'There is no such payment or action.', code: 'not_found' }
