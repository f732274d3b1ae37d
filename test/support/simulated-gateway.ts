// The simulation of a gateway as the healthy gateway of the contract of drivers: it holds the
// payment of a case, answers, and calls back. Its outages and refusals are written by hand.

import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import type { GatewayFixtures, HeldPayment } from '../../libraries/testing/gateway-fixtures.ts'
import { SENT_AT } from '../../libraries/testing/gateway-subject.ts'
import { openBook } from '../../simulator/book.ts'
import { readSettings } from '../../simulator/config.ts'
import { transitionOf } from '../../simulator/one-webhook.ts'
import { type Action, openPayment, type Transition } from '../../simulator/payments.ts'
import { SIMULATIONS } from '../../simulator/simulations.ts'
import { type Simulation, Simulator } from '../../simulator/simulator.ts'
import { webhookRequest } from './payments.ts'

type Simulated = Pick<GatewayFixtures, 'driver' | 'settings' | 'charge'>

/** A number, as the redirect gateway has one of the payer. */
export const PHONE = '9647800000000'

/** A gateway's words for the state of a payment, wherever it writes one. */
const STATE = /status$/i

/** The states of a payment here are our statuses: the simulation knows the gateway's words. */
export function simulated(
  name: keyof typeof SIMULATIONS,
  { driver, settings, charge }: Simulated,
): Simulated & Pick<GatewayFixtures, 'states' | 'healthy' | 'callback'> {
  const simulation: Simulation = SIMULATIONS[name]
  const { hasPartialRefunds, inMinorUnits, webhooks } = simulation
  const { isUnique: _, ...traits } = simulation
  const paid: readonly Action[] = ['pay']
  const ways = new Map<string, readonly Action[]>([
    ['Pending', []],
    ...Object.entries(simulation.simulate.ways),
    ...(hasPartialRefunds ? [['PartiallyRefunded', [...paid, 'refund']] as const] : []),
  ])
  const states = Object.fromEntries([...ways.keys()].map((status) => [status, status]))

  /** What it holds, with its last transition, at `now` in ms. */
  function transitionTo(held: HeldPayment, now: number): Transition {
    const { reference, externalReferenceId: externalReference, currency, refunded } = held
    const metadata = { external_reference_id: externalReference, reference }
    const order = {
      gateway: name,
      reference,
      externalReference,
      amount: inMinorUnits ? held.amount : held.amount / 10 ** held.decimals,
      currency,
      description: charge.description,
      phone: PHONE,
      metadata,
      paymentMetadata: metadata,
      expiresInMs: 3_600_000,
    }
    const actions = ways.get(held.state) ?? paid
    return transitionOf(simulation, openPayment(order, held.id, now), actions, refunded)
  }

  /** A word that nobody knows is in the place of those for a paid payment. */
  const worded = <Json>({ state }: HeldPayment, json: Json): Json =>
    ways.has(state)
      ? json
      : JSON.parse(JSON.stringify(json), (field, value) =>
          STATE.test(field) && typeof value === 'string' ? state : value,
        )

  const simulator = (own: Pick<Simulation, 'idOf'>, newId: () => string, held?: HeldPayment) =>
    new Simulator({
      settings: readSettings({}, { [name]: { merchant: settings } }),
      book: {
        ...openBook(undefined, undefined),
        payments: held ? [transitionTo(held, charge.now).after] : [],
      },
      gateways: { [name]: { ...traits, ...own } },
      // Nothing happens by itself.
      clock: { now: () => charge.now, after: () => () => undefined },
      newId,
      post: () => Promise.reject(new Error('It calls back as the case says')),
    })
  // Its tokens are good at each request, whatever the payment.
  const tokens = simulator({}, () => 'an-access-token-of-the-gateway')

  return {
    driver,
    settings,
    charge,
    states: { Pending: 'Pending', Paid: 'Paid', ...states },

    // A new one for each request: cases have a payment each, and one idempotency key for several.
    async healthy(request, held) {
      const idOf: Simulation['idOf'] = (kind, uuid) =>
        kind === 'payment' ? held.id : (traits.idOf?.(kind, uuid) ?? uuid)
      const holding = Object.assign(simulator({ idOf }, randomUUID, held), {
        tokensOf: (gateway: string) => tokens.tokensOf(gateway),
      })
      const api = simulation.api(holding, (id) => `https://pay.test/${id}`)
      const app = new Hono().route(new URL(settings.base_url ?? '').pathname, api)
      app.notFound((c) => c.json({}, 404))
      const answer = await app.fetch(request)
      const text = await answer.text()
      const { status, headers } = answer
      if (text === '') return new Response(null, { status, headers })
      return new Response(JSON.stringify(worded(held, JSON.parse(text))), { status, headers })
    },

    async callback(held, { id, at, edit }) {
      const content = worded(held, webhooks.content(transitionTo(held, at), id))
      const raw = edit(content)
      // While they rotate, a later delivery may be signed with the old one.
      const [secret = '', old = secret] = settings[webhooks.signsWith ?? '']?.split(' ') ?? []
      const signing = at > SENT_AT ? old : secret
      const { headers, body } = await webhooks.encode({ eventId: id, content: raw }, signing, at)
      const request = webhookRequest(body, at + 5_000, headers)
      return { request, ...(webhooks.signsWith !== undefined && { raw }) }
    },
  }
}
