// A refund whose webhook was lost, read by checks while the clock stands a little behind that of an
// earlier read: a time service has set it back, a machine woke, or another isolate has its own.

import { describe, expect, it } from 'vitest'
import type { RefundSet } from '../../../../worker/payments/domain/types.ts'
import type { StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { verified } from '../../../support/payments.ts'
import { MINUTE, setUpSweep } from './sweep-setup.ts'

const paid = { known: true, status: 'Paid', amount: 25_000, currency: 'IQD' } as const
const back = { amount: 25_000, status: 'succeeded' } as const
const LISTS: [string, RefundSet['refunds']][] = [
  ['lists its refunds by id', [{ ...back, id: 're-1' }]],
  ['makes one refund, and gives it no id', [back]],
]

function setUp(refunds: () => RefundSet['refunds']) {
  const setup = setUpSweep({
    gateway: {
      async checkStatus(): Promise<StatusAnswer> {
        const listed = refunds()
        const state = listed.length > 0 ? ({ ...paid, status: 'Refunded' } as const) : paid
        return { ...state, refunds: { readAt: setup.clock.now(), refunds: listed } }
      },
    },
  })
  const { clock, ledger, charge, story, sweeper, quiet } = setup
  return {
    ...setup,
    /** Paid by its webhook, which was read now. */
    async charged() {
      const id = await charge()
      const payload = verified({
        gatewayTransactionId: `g-${id}`,
        eventId: `webhook-${id}`,
        occurredAt: clock.now(),
        refunds: { readAt: clock.now(), refunds: [] },
      })
      const at = { onMismatch: 'log', receivedAt: clock.now() } as const
      await ledger.webhook({ id: `w-${id}`, payload, ...at })
      return id
    },
    /** Somebody asks for a check, and the sweeper makes it. */
    async check(id: string) {
      await setup.stale(id)
      await sweeper.sweep()
      await quiet()
      const { transaction } = await story(id)
      if ('invalid' in transaction) throw new Error(String(transaction.invalid))
      return [transaction.status, transaction.refundedAmount]
    },
  }
}

describe.each(LISTS)('a check of a gateway that %s', (_, made) => {
  it.each([100, 500, 1_000, 10_000, 59_000, 60_000])(
    'by a clock that was set back by %i ms is repeated when its time has come, and used then',
    async (ms) => {
      let refunds: RefundSet['refunds'] = []
      const { charged, check, clock, pass, story } = setUp(() => refunds)
      const id = await charged()
      refunds = made
      clock.jump(-ms)
      expect(await check(id)).toEqual(['Paid', 0])
      // Nobody asks any more.
      await pass(2 * MINUTE)
      expect((await story(id)).transaction).toMatchObject({
        status: 'Refunded',
        refundedAmount: 25_000,
      })
    },
  )

  it('is used as soon as the clock is past what is stored, however often it was read before', async () => {
    let refunds: RefundSet['refunds'] = []
    const { charged, check, clock, story, queries } = setUp(() => refunds)
    const id = await charged()
    refunds = made
    clock.jump(-30_000)
    for (let n = 0; n < 3; n++) {
      expect(await check(id)).toEqual(['Paid', 0])
      await clock.advance(1_000)
    }
    clock.jump(30_000)
    expect(await check(id)).toEqual(['Refunded', 25_000])
    const { webhookEvents } = await story(id)
    const ids = webhookEvents.map((event) => ('invalid' in event ? '' : event.eventId))
    expect(new Set(ids).size).toBe(ids.length)
    // Read again, it is known.
    expect(await check(id)).toEqual(['Refunded', 25_000])
    expect((await story(id)).webhookEvents).toHaveLength(webhookEvents.length)
    const movements = await queries.movements({ after: 0, before: Number.MAX_SAFE_INTEGER }, 9)
    expect(movements).toMatchObject([{ kind: 'paid' }, { kind: 'refunded', amountMinor: -25_000 }])
  })

  it('of two isolates with clocks apart is used by the one that is behind, too', async () => {
    let refunds: RefundSet['refunds'] = []
    const { charged, check, clock } = setUp(() => refunds)
    const id = await charged()
    const behind = async () => {
      clock.jump(-45_000)
      const found = await check(id)
      clock.jump(45_000)
      return found
    }
    await clock.advance(10_000)
    expect(await check(id)).toEqual(['Paid', 0])
    refunds = made
    expect(await behind()).toEqual(['Paid', 0])
    await clock.advance(MINUTE)
    expect(await behind()).toEqual(['Refunded', 25_000])
  })
})
