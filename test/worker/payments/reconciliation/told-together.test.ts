// Money that is read for the first time together with what became of it: it was refunded, or charged
// back, before it was known here, whatever the payment is here.

import { describe, expect, it } from 'vitest'
import type { DisputeSet } from '../../../../worker/payments/domain/types.ts'
import type { StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { DAY, HOUR, MINUTE, setUpSweep, silent } from './sweep-setup.ts'

const money = { known: true, amount: 25_000, currency: 'IQD' } as const
const disputes: DisputeSet = {
  id: 'dp-1',
  readAt: 0,
  parts: [{ id: 'dp-1', amount: 25_000, currency: 'IQD', state: 'open', isOut: true }],
}
const all = { ...money, status: 'Refunded' } as const
const part = { ...money, status: 'PartiallyRefunded', amount: 5_000, paidAmount: 25_000 } as const
const listed = (amount: number, readAt: number) => ({
  refunds: { readAt, refunds: [{ id: 're-1', amount, status: 'succeeded' }] } as const,
})

const ENDS = ['Failed', 'Expired'] as const
/** What the gateway says of it now, and the books then. */
const NEWS: [string, (now: number) => StatusAnswer, number, [string, number][]][] = [
  ['paid', () => ({ ...money, status: 'Paid' }), 0, [['late_paid', 25_000]]],
  [
    'refunded',
    (now) => ({ ...all, ...listed(25_000, now) }),
    25_000,
    [
      ['late_paid', 25_000],
      ['refunded', -25_000],
    ],
  ],
  [
    'refunded in part',
    (now) => ({ ...part, ...listed(5_000, now) }),
    5_000,
    [
      ['late_paid', 25_000],
      ['refunded', -5_000],
    ],
  ],
  [
    'refunded in part, of which it knows only the sum',
    () => part,
    5_000,
    [
      ['late_paid', 25_000],
      ['refunded', -5_000],
    ],
  ],
  [
    'charged back',
    (now) => ({ ...money, status: 'Paid', disputes: { ...disputes, readAt: now } }),
    0,
    [
      ['late_paid', 25_000],
      ['disputed', 25_000],
    ],
  ],
  [
    'refunded in part and charged back',
    (now) => ({ ...part, ...listed(5_000, now), disputes: { ...disputes, readAt: now } }),
    5_000,
    [
      ['late_paid', 25_000],
      ['refunded', -5_000],
      ['disputed', 25_000],
    ],
  ],
]

describe.each(ENDS)('a payment that is %s here', (end) => {
  it.each(NEWS)(
    'and %s at its gateway is late money, by one reading',
    async (_, says, back, books) => {
      const setup = setUpSweep({
        gateway: { checkStatus: async () => says(setup.clock.now()) },
      })
      const { charge, webhook, stale, sweeper, story, queries, quiet } = setup
      const id = await charge()
      await webhook(id, end)
      await stale(id)
      await sweeper.sweep()
      await quiet()
      const { transaction, alerts } = await story(id)
      expect(transaction).toMatchObject({
        status: end,
        paid: { amount: 25_000, currency: 'IQD' },
        refundedAmount: back,
      })
      const range = { after: 0, before: Number.MAX_SAFE_INTEGER }
      const movements = await queries.movements(range, 9)
      expect(
        movements.map((row) => ('invalid' in row ? row.id : [row.kind, row.amountMinor])),
      ).toEqual(books)
      const kinds = books.some(([kind]) => kind === 'disputed')
        ? ['late_payment', 'dispute']
        : ['late_payment']
      expect(alerts.map(({ kind }) => kind).toSorted()).toEqual(kinds.toSorted())
      const [late] = alerts.filter(({ kind }) => kind === 'late_payment')
      expect(late?.acknowledgedBy).toBe(back === 25_000 ? 'refund' : undefined)
    },
  )

  it('is asked about once more a day later, and again after an hour if nobody answers', async () => {
    let answer: StatusAnswer | undefined
    let asked = 0
    const { charge, webhook, pass, story } = setUpSweep({
      gateway: {
        async checkStatus() {
          asked++
          return answer ?? (await silent.checkStatus())
        },
      },
    })
    const id = await charge()
    await webhook(id, end)
    await pass(DAY - 2 * MINUTE)
    expect(asked).toBe(0)
    await pass(4 * MINUTE)
    expect(asked).toBe(1)
    answer = { ...money, status: end }
    await pass(HOUR + MINUTE)
    expect(asked).toBe(2)
    await pass(2 * DAY)
    expect(asked).toBe(2)
    expect((await story(id)).check.nextAt).toBeUndefined()
  })
})

it('a payment that is open here is paid, refunded and disputed by one reading', async () => {
  const setup = setUpSweep({
    gateway: {
      checkStatus: async () => ({
        ...part,
        ...listed(5_000, setup.clock.now()),
        disputes: { ...disputes, readAt: setup.clock.now() },
      }),
    },
  })
  const { charge, pass, moves, story, asked } = setup
  const id = await charge()
  await pass(5 * MINUTE)
  expect(moves()).toEqual(['PaymentSucceeded', 'PaymentRefunded'])
  // A crash between two calls would leave the rest unknown for good.
  expect(asked.filter((method) => method === 'settleCheck')).toHaveLength(1)
  const { transaction, alerts } = await story(id)
  expect(transaction).toMatchObject({ status: 'PartiallyRefunded', refundedAmount: 5_000 })
  expect(alerts).toMatchObject([{ kind: 'dispute', detail: { amount: 25_000 } }])
})
