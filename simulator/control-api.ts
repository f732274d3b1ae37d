// The control API for people and tests: docs/simulator.md. It is not part of any gateway.

import { Hono } from 'hono'
import * as z from 'zod'
import { readPlan } from './faults.ts'
import { type Action, REFUND_STATUSES } from './payments.ts'
import type { Simulator } from './simulator.ts'

/** `refund` is a refund by the staff of the gateway. */
const ACTIONS = [
  'pay',
  'pay_late',
  'transfer',
  'authorize',
  'fail',
  'cancel',
  'expire',
  'refund',
  'charge_back',
] as const satisfies Action[]

/**
 * A refund of any part, by the gateway's staff. `amount`: by default the rest. `refundId`: of an
 * earlier one, which gets this status.
 */
const staffRefund = z.strictObject({
  status: z.enum(REFUND_STATUSES).default('succeeded'),
  amount: z.int().positive().exactOptional(),
  refundId: z.string().exactOptional(),
})

/** By default all that is left. `final`: the rest is released. */
const capture = z.strictObject({
  amount: z.int().positive().exactOptional(),
  final: z.boolean().default(false),
})

/** A new dispute or chargeback, by default of all; with its id, how it goes on. */
const dispute = z.strictObject({
  disputeId: z.string().exactOptional(),
  amount: z.int().positive().exactOptional(),
  status: z.string().min(1).exactOptional(),
  moves: z.int().min(0).exactOptional(),
})

export function controlApi(simulator: Simulator): Hono {
  const { payments, faults, webhooks, tokens } = simulator
  const api = new Hono().basePath('/_control')

  api.get('/', (c) =>
    c.json({
      faults: faults.plan,
      payments: payments.all().length,
      webhooks: webhooks.sent.length,
    }),
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
    const all = payments.all().filter(({ reference }) => order === undefined || order === reference)
    return c.json({ payments: all })
  })
  api.get('/payments/:id', (c) => {
    const payment = payments.find(c.req.param('id'))
    return payment ? c.json(payment) : c.json(UNKNOWN, 404)
  })
  api.post('/payments/:id/refunds', async (c) => {
    const payment = payments.find(c.req.param('id'))
    if (!payment || !simulator.traitsOf(payment.gateway).hasPartialRefunds)
      return c.json(UNKNOWN, 404)
    const read = staffRefund.safeParse(await c.req.json<unknown>().catch(() => undefined))
    if (!read.success) {
      const error = 'It takes a status, and an amount or a refundId.'
      return c.json({ error, code: 'invalid_request' }, 400)
    }
    const { refundId, ...part } = read.data
    const acted =
      refundId === undefined
        ? simulator.refund(payment, part)
        : simulator.endRefund(payment, refundId, part.status)
    if (!acted) return c.json(UNKNOWN, 404)
    if (acted.ok) return c.json(acted.payment)
    const error = 'There is not so much of it to refund.'
    return c.json({ error, code: 'wrong_state', state: acted.state }, 409)
  })
  api.post('/payments/:id/captures', async (c) => {
    const payment = payments.find(c.req.param('id'))
    if (!payment || !simulator.traitsOf(payment.gateway).moves.authorize)
      return c.json(UNKNOWN, 404)
    const read = capture.safeParse(await c.req.json<unknown>().catch(() => ({})))
    if (!read.success) {
      return c.json({ error: 'It takes an amount and final.', code: 'invalid_request' }, 400)
    }
    const { final: isFinal, ...part } = read.data
    const acted = simulator.capture(payment, { ...part, isFinal })
    if (acted.ok) return c.json(acted.payment)
    const error = 'There is not so much of it to capture.'
    return c.json({ error, code: 'wrong_state', state: acted.state }, 409)
  })
  api.post('/payments/:id/disputes', async (c) => {
    const payment = payments.find(c.req.param('id'))
    if (!payment || simulator.traitsOf(payment.gateway).disputedAs === undefined)
      return c.json(UNKNOWN, 404)
    const read = dispute.safeParse(await c.req.json<unknown>().catch(() => ({})))
    if (!read.success) {
      const error = 'It takes an amount, a status and moves, and the disputeId of one.'
      return c.json({ error, code: 'invalid_request' }, 400)
    }
    const acted = simulator.dispute(payment, read.data)
    if (acted.ok) return c.json(acted.payment)
    const error = 'It is not paid, or has no such dispute.'
    return c.json({ error, code: 'wrong_state', state: acted.state }, 409)
  })
  api.post('/payments/:id/:action', async (c) => {
    const payment = payments.find(c.req.param('id'))
    const action = ACTIONS.find((name) => name === c.req.param('action'))
    if (!payment || !action) return c.json(UNKNOWN, 404)
    const acted = simulator.act(payment, action)
    if (!acted.ok) {
      const error = `The payment is ${acted.state} and cannot ${action}.`
      return c.json({ error, code: 'wrong_state', state: acted.state }, 409)
    }
    // Waits until every webhook of this action was accepted or given up.
    if (c.req.query('wait') !== undefined) await acted.webhooksDone
    return c.json(acted.payment)
  })

  api.get('/webhooks', (c) => {
    const payment = c.req.query('payment')
    const sent = webhooks.sent.filter(({ paymentId }) => !payment || payment === paymentId)
    return c.json({ webhooks: sent })
  })
  api.delete('/tokens', (c) => {
    for (const each of tokens.values()) each.revokeAll()
    return c.body(null, 204)
  })
  return api
}

const UNKNOWN = { error: 'There is no such payment or action.', code: 'not_found' }
