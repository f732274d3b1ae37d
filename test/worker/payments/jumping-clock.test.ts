// A machine's time of day is set while payments are made: by an hour, a day, a year, or as a time
// service does by 0.1 to 60 s, either way.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { end } from '../../../libraries/testing/fake-clock.ts'
import { request } from '../../support/payments.ts'
import { reported, setUpPayments, unavailable } from '../../support/payments-setup.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY
/** Twice that of a charge: a sweep asks a few payments one after the other. */
const LONGEST_MS = 40_000
const PAID = new Set(['PaymentSucceeded'] as const)
const SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=']

const order = fc.nat(4)
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('charge', 'pay', 'refund'), order }),
  fc.record({ do: fc.constantFrom('sweep', 'gateway', 'endpoint') }),
  fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1_000, MINUTE, 10 * MINUTE, HOUR) }),
  fc.record({
    do: fc.constant('jump'),
    // biome-ignore format: several a line.
    ms: fc.constantFrom(
      HOUR, -HOUR, DAY, -DAY, YEAR, -YEAR, 100, -100, -500, 1_000, -1_000, -10_000, MINUTE, -MINUTE,
    ),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

const orderOf = (reference: string) => request({ reference })

function openShop() {
  let isEndpointUp = true
  let isGatewayUp = true
  const setup = setUpPayments({
    endpoint: { url: 'https://shop.example/events', secrets: SECRETS },
    fetch: async () => new Response(null, { status: isEndpointUp ? 204 : 500 }),
  })
  const { payments, clock, script, webhook, quiet } = setup
  clock.jump(50 * YEAR)
  const { charge, refund } = script
  script.charge = (asked) => (isGatewayUp ? charge(asked) : unavailable())
  script.refund = (asked) => (isGatewayUp ? refund(asked) : unavailable())
  script.status = () => (isGatewayUp ? reported('Paid') : unavailable())

  /** No answer is later than its maximum, however the clock was set. What it is does not matter. */
  async function inTime(work: Promise<unknown>): Promise<void> {
    const since = clock.elapsed()
    await end(
      clock,
      work.catch(() => undefined),
    )
    expect(clock.elapsed() - since).toBeLessThanOrEqual(LONGEST_MS)
    await quiet()
  }
  const found = async (of: number) => {
    const reference = `order-${of}`
    return (await payments.queries.transactions({ reference }, { limit: 1 }))[0]
  }
  const actions: Record<string, (step: { order: number; ms: number }) => Promise<unknown>> = {
    charge: ({ order: of }) => payments.charge(orderOf(`order-${of}`)),
    async pay({ order: of }) {
      const payment = await found(of)
      if (payment) await webhook({ externalReferenceId: payment.externalReferenceId })
    },
    async refund({ order: of }) {
      const payment = await found(of)
      if (!payment) return
      const asked = { transactionId: payment.id, amount: 10_000, reason: 'Back' }
      await payments.refund('bank', asked)
    },
    sweep: () => payments.sweeper.sweep(),
    async gateway() {
      isGatewayUp = !isGatewayUp
    },
    async endpoint() {
      isEndpointUp = !isEndpointUp
    },
  }

  return {
    setup,
    async do({ do: name, ...of }: Step): Promise<void> {
      const { ms = 0, order: at = 0 } = { ms: undefined, order: undefined, ...of }
      if (name === 'jump') clock.jump(ms)
      else if (name === 'pass') await clock.advance(ms)
      else await inTime(actions[name]?.({ ms, order: at }) ?? Promise.resolve())
    },
    /** All is up again, and nobody sets the clock any more. */
    async recover(): Promise<void> {
      isGatewayUp = true
      isEndpointUp = true
      // A check may have been stored a day ahead, and another one may follow from it.
      for (let passed = 0; passed <= 2 * DAY; passed += 10 * MINUTE) {
        await clock.advance(10 * MINUTE)
        await inTime(payments.sweeper.sweep())
      }
    },
  }
}

describe('payments on a clock that jumps', () => {
  it('send an event again after its wait, though the time of day was set back', async () => {
    const sentAt: number[] = []
    const setup = setUpPayments({
      endpoint: { url: 'https://shop.example/events', secrets: SECRETS, types: PAID },
      fetch: async () => {
        sentAt.push(setup.clock.elapsed())
        return new Response(null, { status: 500 })
      },
    })
    const { payments, clock, webhook, quiet } = setup
    clock.jump(50 * YEAR)
    const paid = async (reference: string) => {
      await payments.charge(orderOf(reference))
      const [payment] = await payments.queries.transactions({ reference }, { limit: 1 })
      await webhook({ externalReferenceId: payment?.externalReferenceId ?? '' })
      await quiet()
    }
    await paid('order-1')
    clock.jump(-40 * MINUTE)
    for (let tries = 2; tries <= 5; tries++) {
      // Another event, of the new time, does not move the older one's turn.
      if (tries === 3) await paid('order-2')
      const before = sentAt.length
      await clock.advance(2 * MINUTE)
      await quiet()
      expect(sentAt.length).toBeGreaterThan(before)
    }
  })

  it.each(['made', 'asked about'])(
    'are asked about at once, and once, that were %s by a clock three hours ahead',
    async (what) => {
      const { payments, clock, script } = setUpPayments({})
      clock.jump(50 * YEAR)
      let asked = 0
      script.status = () => reported(++asked < 3 ? 'Pending' : 'Paid')
      const charge = () => payments.charge(orderOf('order-1'))
      if (what === 'asked about') await charge()
      clock.jump(3 * HOUR)
      if (what === 'made') await charge()
      else await payments.sweeper.sweep()
      const before = asked
      clock.jump(-3 * HOUR)
      await payments.sweeper.sweep()
      await payments.sweeper.sweep()
      expect(asked - before).toBe(1)
      const isPaid = async () =>
        (await payments.queries.transactions({ status: 'Paid' }, { limit: 1 })).length === 1
      for (let sweeps = 0; sweeps < 2; sweeps++) {
        await clock.advance(6 * MINUTE)
        await payments.sweeper.sweep()
      }
      expect(await isPaid()).toBe(true)
    },
  )

  it('are answered in time, and two days later each is settled and told, or has an alert', async () => {
    const life = fc.array(step, { minLength: 5, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(life, async (steps) => {
        const shop = openShop()
        for (const each of steps) await shop.do(each)
        await shop.recover()
        const { payments, clock } = shop.setup
        const alerts = await payments.queries.alerts({}, { limit: 100 })
        const isAlerted = (id: string) => alerts.some(({ transactionId }) => transactionId === id)
        const all = await payments.queries.transactions({}, { limit: 100 })
        for (const { id, status } of all) {
          if (!isAlerted(id)) expect(status).not.toBe('Pending')
        }
        const { events } = await payments.queries.waiting(clock.now())
        expect(events).toMatchObject({ listeners: { count: 0 }, endpoint: { count: 0 } })
      }),
      { numRuns: 40 },
    )
  })
})
