import { describe, expect, it } from 'vitest'
import {
  eventOf,
  judge,
  NEXT,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from '../../../../worker/payments/domain/status.ts'

// Written out by hand from the contract, not derived from the code: a row is where a payment is, a
// column what it is told to be. `yes` moves it, `same` is no news, `late` is somebody's money, and
// `-` is not allowed.
const TABLE = `
                   Pending  Paid  Failed  Cancelled  Expired  Refunded  PartiallyRefunded
Pending            same     yes   yes     yes        yes      -         -
Paid               -        same  -       -          -        yes       yes
Failed             -        late  same    -          -        -         -
Cancelled          -        late  -       same       -        -         -
Expired            -        late  -       -          same     -         -
Refunded           -        -     -       -          -        same      -
PartiallyRefunded  -        -     -       -          -        yes       yes
`

const JUDGEMENTS = {
  yes: 'applied',
  same: 'unchanged',
  late: 'late_payment',
  '-': 'illegal',
} as const

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const pairs = rows.flatMap(([from, ...words]) =>
  words.map((word, at) => [from, head[at], JUDGEMENTS[word as keyof typeof JUDGEMENTS]] as const),
) as [PaymentStatus, PaymentStatus, ReturnType<typeof judge>][]

describe('the graph of a payment', () => {
  it('is tested for every pair of statuses', () => {
    expect(head).toEqual([...PAYMENT_STATUSES])
    expect(rows.map(([from]) => from)).toEqual(head)
    expect(pairs).toHaveLength(49)
    expect(pairs.filter(([, , judgement]) => judgement === undefined)).toEqual([])
  })

  it.each(pairs)('judges %s → %s as %s', (from, to, judgement) => {
    expect(judge(from, to)).toBe(judgement)
    expect(NEXT[from].includes(to)).toBe(judgement === 'applied')
  })

  it('begins at Pending, and never returns to it', () => {
    expect(Object.values(NEXT).flat()).not.toContain('Pending')
  })

  it('reaches every status from Pending', () => {
    const reached = new Set<PaymentStatus>(['Pending'])
    for (const from of reached) for (const to of NEXT[from]) reached.add(to)
    expect(reached).toEqual(new Set(PAYMENT_STATUSES))
  })
})

it.each([
  ['Paid', 'PaymentSucceeded'],
  ['Failed', 'PaymentFailed'],
  ['Cancelled', 'PaymentCancelled'],
  ['Expired', 'PaymentCancelled'],
  ['Refunded', 'PaymentRefunded'],
  ['PartiallyRefunded', 'PaymentRefunded'],
] as const)('a change to %s fires %s', (to, event) => {
  expect(eventOf(to)).toBe(event)
})
