// Spoiled histories of payments, each in one way: the checker finds it, and names the line.

import { describe, expect, it } from 'vitest'
import { goodHistory, type Line } from './good-history.ts'
import {
  addAlert,
  expectAdded,
  expectChanged,
  expectMissed,
  findings,
  indexOf,
  iqd,
  isBooking,
  isDelivery,
  isOf,
  isStored,
  type Which,
  withPayment,
  withStored,
} from './spoil.ts'

interface Told {
  payload: { transaction: object; previousRefundedAmount?: number }
}
const revised = ({ payload, ...event }: Told, refundRevision: number): Told => ({
  ...event,
  payload: { ...payload, transaction: { ...payload.transaction, refundRevision } },
})

describe('(d) each payment walks along the graph, and each step has its event', () => {
  const walk = (id: string, ...statuses: [string, string][]) =>
    statuses.map(([type, status]) => ({
      id: `event ${id} ${status}`,
      type,
      payload: { transaction: { id, status } },
    }))
  const initiated: [string, string] = ['PaymentInitiated', 'Pending']
  const failed: [string, string] = ['PaymentFailed', 'Failed']
  const succeeded: [string, string] = ['PaymentSucceeded', 'Paid']

  it.each([
    ['a move that the graph does not have', 'Paid', [initiated, failed, succeeded]],
    ['an event that was stored twice', 'Failed', [initiated, failed, failed]],
    [
      'an event whose type is of another status',
      'Failed',
      [initiated, ['PaymentSucceeded', 'Failed']],
    ],
    ['a payment that did not begin', 'Failed', [failed]],
    ['a payment without events', 'Failed', []],
    ['a status that there is not', 'Lost', [initiated, ['PaymentFailed', 'Lost']]],
  ] as [string, string, [string, string][]][])('finds %s', (_, status, statuses) => {
    const lines = goodHistory()
    const at = indexOf(lines, isStored('tx-3'))
    lines[at] = withStored({ status, events: walk('tx-3', ...statuses) })(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'd', line: at + 1 })
  })

  it('finds an event that tells of another payment', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isStored('tx-3'))
    const events = [...walk('tx-3', initiated), ...walk('tx-2', failed)]
    lines[at] = withStored({ events })(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'd', line: at + 1 })
  })

  it.each([
    ['a change of the refunded sum without its event', (told: Told[]) => told.toSpliced(3, 1)],
    ['one that is told twice', (told: Told[]) => told.toSpliced(4, 0, told[3] as Told)],
    ['a revision that is left out', (told: Told[]) => told.with(4, revised(told[4] as Told, 4))],
    [
      'one that tells another sum before it',
      (told: Told[]) =>
        told.with(4, {
          ...(told[4] as Told),
          payload: { ...(told[4] as Told).payload, previousRefundedAmount: 3_000 },
        }),
    ],
  ])('finds %s', (_, spoil) => {
    const lines = goodHistory()
    const at = indexOf(lines, isStored('tx-4'))
    const { events } = (lines[at] as Line).transaction as { events: Told[] }
    lines[at] = withStored({ events: spoil(events) })(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'd', line: at + 1 })
  })

  it('takes it that a later change is stored before an earlier one', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isStored('tx-4'))
    const { events } = (lines[at] as Line).transaction as { events: Told[] }
    const [a, b, c, d, e] = events
    lines[at] = withStored({ events: [a, b, e, d, c] })(lines[at] as Line)
    expect(findings(lines)).toEqual([])
  })

  it('finds a change without its event, and an event without its change', () => {
    expectChanged('first', isStored('tx-3'), withStored({ status: 'Expired' }), ['d'])
    expectChanged('first', isStored('tx-3'), withStored({ status: 'Pending' }), ['d', 'g'])
  })

  it.each(['listener', 'endpoint'])('finds an event that the %s did not take', (kind) => {
    const isIt = isDelivery(kind, 'tx-1', 'Paid')
    expectMissed(isIt, 'd', isStored('tx-1'))
    const lines = goodHistory()
    const at = indexOf(lines, isIt)
    lines[at] = { ...(lines[at] as Line), status: 500 }
    const stored = indexOf(lines, isStored('tx-1')) + 1
    expect(findings(lines)).toEqual([{ check: 'd', line: stored }])
  })

  it.each(['listener', 'endpoint'])('asks for no event at the %s that came since rest', (kind) => {
    const without = goodHistory().filter((line) => !isDelivery(kind, 'tx-1', 'Paid')(line))
    const at = indexOf(without, isStored('tx-1'))
    const { transaction } = (without[at] ?? {}) as { transaction?: { events: object[] } }
    const { events = [] } = transaction ?? {}
    const times = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:03Z']
    const made = events.map((event, n) => ({ ...event, createdAt: times[n] }))
    without[at] = withStored({ events: made })(without[at] as Line)
    const found = (since?: string) => findings(without.toSpliced(at, 0, { kind: 'at-rest', since }))
    const missing = [{ check: 'd', line: at + 2 }]
    expect(found('2026-01-01T00:00:02Z')).toEqual([])
    expect(found('2026-01-01T00:00:04Z')).toEqual(missing)
    expect(found()).toEqual(missing)
  })

  it.each(['listener', 'endpoint'])('takes it that the %s got an event twice', (kind) => {
    const isIt = isDelivery(kind, 'tx-1', 'Paid')
    expectAdded(isIt, goodHistory().find(isIt) as Line, [])
  })

  it.each(['listener', 'endpoint'])('finds an event of no change that the %s got', (kind) => {
    const isIt = isDelivery(kind, 'tx-3', 'Failed')
    const transaction = { id: 'tx-3', status: 'Cancelled' }
    const line = { kind, type: 'PaymentCancelled', status: 200, transaction }
    expectAdded(isIt, line, [{ check: 'd', shown: (each) => each.transaction === transaction }])
  })

  it.each(['listener', 'endpoint'])('finds an event that tells the %s another amount', (kind) => {
    const isIt = isDelivery(kind, 'tx-2', 'Paid')
    expectChanged('first', isIt, withStored({ paid: iqd(10_000) }), ['d'])
  })

  it.each(['listener', 'endpoint'])('finds an alert that the %s did not take', (kind) => {
    expectMissed(isOf(kind, { type: 'AlertRaised' }), 'd', isStored('tx-2'))
    expectMissed(isOf(kind, { type: 'AlertRaised' }), 'd', isOf('alert'))
  })

  it.each(['listener', 'endpoint'])('finds an alert that tells the %s another amount', (kind) => {
    const change = (line: Line) => {
      const alert = { ...(line.alert as object), detail: { amount: 1 } }
      return { ...line, alert }
    }
    expectChanged('first', isOf(kind, { type: 'AlertRaised' }), change, ['d'])
  })

  it('finds an alert that is no event', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isStored('tx-2'))
    lines[at] = withStored({ events: walk('tx-2', initiated, succeeded) })(lines[at] as Line)
    const heard = indexOf(lines, isOf('listener', { type: 'AlertRaised' })) + 1
    expect(findings(lines)).toContainEqual({ check: 'd', line: heard })
  })

  it('finds an event that reached the endpoint under an id of its own', () => {
    const change = (line: Line) => ({ ...line, id: 'another' })
    expectChanged('first', isDelivery('endpoint', 'tx-1', 'Paid'), change, ['d'])
  })
})

describe('(d) what a payment was told or read as is not undone', () => {
  it('finds a refund that was over when it was read, and then was not', () => {
    const refund = { id: 'refund tx-1', amount: 25_000 }
    const seenAs = (...statuses: string[]) => {
      const lines = goodHistory()
      const at = indexOf(lines, isOf('seen'))
      const seen = lines[at] as Line
      const read = statuses.map((status) => withStored({ refunds: [{ ...refund, status }] })(seen))
      lines.splice(at, 1, ...read)
      return { at, found: findings(lines), stored: indexOf(lines, isStored('tx-1')) + 1 }
    }
    expect(seenAs('accepted').found).toEqual([])
    const undone = seenAs('succeeded', 'accepted')
    expect(undone.found).toEqual([{ check: 'd', line: undone.at + 2 }])
    // It may fail after it was made, but it is not made after it had failed.
    const failed = seenAs('succeeded', 'failed')
    expect(failed.found).toEqual([{ check: 'd', line: failed.stored }])
  })

  it('finds an event that came to the endpoint while the same one was not answered yet', () => {
    const isIt = isDelivery('endpoint', 'tx-1', 'Paid')
    const lines = goodHistory()
    const first = indexOf(lines, isIt)
    const again = (tookMs: number) => lines.toSpliced(-1, 0, { ...(lines[first] as Line), tookMs })
    const last = lines.length
    expect(findings(again(last - 1 - first))).toEqual([])
    expect(findings(again(last + 1 - first))).toEqual([{ check: 'd', line: last }])
  })
})

describe('(e) the gateways and the shop agree, to the dinar', () => {
  /** One line of a gateway or of the shop is another one: the transaction's line is named. */
  const expectDifference = (isIt: Which, change: (line: Line) => Line, id: string) => {
    const lines = goodHistory()
    const at = indexOf(lines, isIt)
    lines[at] = change(lines[at] as Line)
    expect(findings(lines)).toEqual([{ check: 'e', line: indexOf(lines, isStored(id)) + 1 }])
  }

  it.each([
    ['a dinar that is missing', iqd(24_999)],
    ['another currency', { amount: 25_000, currency: 'USD' }],
  ])('finds %s', (_, paid) => {
    expectDifference(isBooking('tx-1'), withPayment({ paid }), 'tx-1')
  })

  it('finds money that came in for a payment that failed', () => {
    expectDifference(isBooking('tx-3'), withPayment({ paid: iqd(5_000) }), 'tx-3')
  })

  it('takes it where an alert names that money, and not where it names another sum', () => {
    for (const [amount, found] of [
      [5_000, 0],
      [4_000, 1],
    ] as const) {
      const lines = goodHistory()
      const at = indexOf(lines, isBooking('tx-3'))
      lines[at] = withPayment({ paid: iqd(5_000) })(lines[at] as Line)
      addAlert(lines, 'late_payment', 'tx-3', { amount })
      expect(findings(lines)).toHaveLength(found)
    }
  })

  it('finds money that came in for no transaction', () => {
    const line = goodHistory().find(isBooking('tx-2')) as Line
    const names = { id: 'unknown', reference: 'x', externalReference: 'y' }
    const isNew = (each: Line) => (each.payment as { id?: string })?.id === 'unknown'
    expectAdded(isBooking('tx-2'), withPayment(names)(line), [{ check: 'e', shown: isNew }])
  })

  it('finds a payment that no gateway booked', () => {
    expectMissed(isBooking('tx-1'), 'e', isStored('tx-1'))
  })

  it('finds two payments of one transaction at its gateway', () => {
    const line = goodHistory().find(isBooking('tx-3')) as Line
    const second = withPayment({ id: 'second' })(line)
    expectAdded(isBooking('tx-3'), second, [{ check: 'e', shown: isStored('tx-3') }])
  })

  it('finds a refund that is stored and was not made, or was made and is not stored', () => {
    expectDifference(isBooking('tx-1'), withPayment({ refunded: 0 }), 'tx-1')
    expectDifference(isBooking('tx-2'), withPayment({ refunded: 9_000 }), 'tx-2')
  })

  it('finds it although an alert names the refund: only the gateway says what went back', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isBooking('tx-1'))
    lines[at] = withPayment({ refunded: 0 })(lines[at] as Line)
    addAlert(lines, 'refund_failed', 'tx-1', { amount: 25_000 })
    expect(findings(lines)).toEqual([{ check: 'e', line: indexOf(lines, isStored('tx-1')) + 1 }])
  })

  it.each([
    ['is of another sum', { amount: 2_001 }],
    ['waits', { status: 'accepted' }],
    ['is not known', { gatewayRefundId: 'another' }],
  ])('finds a refund that the gateway lists, and that %s', (_, own) => {
    const lines = goodHistory()
    const at = indexOf(lines, isStored('tx-4'))
    const { refunds } = (lines[at] as Line).transaction as { refunds: object[] }
    const changed = refunds.with(-1, { ...refunds.at(-1), ...own })
    lines[at] = withStored({ refunds: changed })(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'e', line: at + 1 })
  })

  it('finds one that has failed there, and that no row has', () => {
    const refunds = [
      { id: 'a', status: 'succeeded', amount: 2_000, gatewayRefundId: 'refund tx-4' },
    ]
    expectDifference(isStored('tx-4'), withStored({ refunds }), 'tx-4')
  })

  it.each(['Paid', 'PartiallyRefunded'])(
    'finds everything refunded of a payment that is %s',
    (status) => {
      const lines = goodHistory()
      const at = indexOf(lines, isStored('tx-1'))
      lines[at] = withStored({ status })(lines[at] as Line)
      expect(findings(lines)).toContainEqual({ check: 'e', line: at + 1 })
    },
  )

  it('finds a refund that was made twice', () => {
    const refunds = ['refund tx-1', 'second'].map((id) => {
      return { id, status: 'succeeded', amount: 25_000 }
    })
    expectChanged('first', isStored('tx-1'), withStored({ refunds }), ['e'])
  })

  it('finds another amount that an alert names, and that is not what is stored as paid', () => {
    expectDifference(isStored('tx-2'), withStored({ paid: iqd(10_000) }), 'tx-2')
  })

  it('finds another amount that no alert names', () => {
    expectMissed(isOf('alert'), 'e', isStored('tx-2'))
  })

  it('finds money that is stored for a payment that is not paid', () => {
    const lines = goodHistory()
    const [booking, stored] = [isBooking('tx-3'), isStored('tx-3')].map((isIt) =>
      indexOf(lines, isIt),
    ) as [number, number]
    lines[booking] = withPayment({ paid: iqd(5_000) })(lines[booking] as Line)
    lines[stored] = withStored({ paid: iqd(5_000) })(lines[stored] as Line)
    expect(findings(lines)).toEqual([{ check: 'e', line: stored + 1 }])
  })

  it('finds a webhook of no payment, or with ids of two, that is not parked or told', () => {
    const webhook = goodHistory().find(isOf('webhook')) as Line
    const strangers = [
      { ...webhook, eventId: 'strange', payment: 'of another system' },
      { ...webhook, eventId: 'strange', externalReference: 'external tx-2' },
    ]
    for (const strange of strangers) {
      const lines = goodHistory()
      const at = indexOf(lines, isOf('webhook'))
      lines.splice(at, 0, strange)
      const ofIt = (outcome: string) => {
        const event = { eventId: 'strange', outcome, transactionId: 'tx-1' }
        return [...lines.slice(0, -1), { kind: 'event', event }, { kind: 'rest' }]
      }
      expect(findings(ofIt('parked'))).toEqual([])
      const found = [{ check: 'e', line: at + 1 }]
      expect(findings(ofIt('applied'))).toEqual(found)
      expect(findings(ofIt('rejected'))).toEqual(found)
      addAlert(lines, 'id_mismatch', 'tx-1', { amount: 25_000 })
      expect(findings(ofIt('rejected'))).toEqual([])
    }
  })

  it('takes no contradiction for the name of a difference', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isBooking('tx-3'))
    lines[at] = withPayment({ paid: iqd(5_000) })(lines[at] as Line)
    addAlert(lines, 'id_mismatch', 'tx-3', { amount: 5_000 })
    expect(findings(lines)).toEqual([{ check: 'e', line: indexOf(lines, isStored('tx-3')) + 1 }])
  })

  it('finds a payment that is paid, and of which no money is stored', () => {
    expectDifference(isStored('tx-2'), withStored({ paid: undefined }), 'tx-2')
  })
})

describe('(e) a payment is made once', () => {
  const call = goodHistory().find(isOf('charge-call')) as Line

  it('finds that a gateway was asked again for one that it had made', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('charge-call'))
    lines.splice(at, 0, { ...call, status: 0 }, call)
    expect(findings(lines)).toEqual([{ check: 'e', line: at + 3 }])
  })

  it('takes it that an earlier request hung until its connection was cut', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('charge-call'))
    lines.splice(at + 1, 0, { ...call, status: 0, tookMs: 100_000 })
    expect(findings(lines)).toEqual([])
  })

  it('takes it that the gateway is asked again after it had refused, or for another one', () => {
    const lines = goodHistory()
    const others = [{ ...call, status: 401 }, call, { ...call, attempt: 'another' }]
    lines.splice(indexOf(lines, isOf('charge-call')), 1, ...others)
    expect(findings(lines)).toEqual([])
  })
})

describe('(e) a refund is made once', () => {
  const call = goodHistory().find(isOf('refund-call')) as Line
  const expectCalls = (calls: Line[], found: number) => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('refund-call'))
    lines.splice(at, 1, ...calls)
    const expected = [{ check: 'e', line: at + calls.length }].slice(0, found)
    expect(findings(lines)).toEqual(expected)
  }

  it('finds that the gateway was asked again for one that it had said yes to', () => {
    expectCalls([call, call], 1)
    expectCalls([call, { ...call, status: 400 }], 1)
  })

  it('takes it that the gateway is asked again after it had refused, or for another payment', () => {
    expectCalls([{ ...call, status: 503 }, { ...call, status: 0 }, call], 0)
    expectCalls([call, { ...call, payment: 'gateway tx-2' }], 0)
  })

  it('takes it that the gateway is asked again for one that has failed, once for each', () => {
    for (const [refused, found] of [
      [1, 0],
      [0, 1],
    ] as const) {
      const lines = goodHistory()
      const booking = indexOf(lines, isBooking('tx-1'))
      lines[booking] = withPayment({ refused })(lines[booking] as Line)
      const at = indexOf(lines, isOf('refund-call'))
      lines.splice(at, 1, call, call)
      expect(findings(lines)).toEqual([{ check: 'e', line: at + 2 }].slice(0, found))
    }
  })

  it('finds two refunds at the gateway under one name of ours, unless the first has failed', () => {
    const twice = (status: string) => {
      const lines = goodHistory()
      const at = indexOf(lines, isBooking('tx-4'))
      const { refunds } = (lines[at] as Line).payment as { refunds: object[] }
      const named = { ...refunds[0], status, name: 'ours' }
      lines[at] = withPayment({ refunds: refunds.with(0, named) })(lines[at] as Line)
      return findings(lines).filter(({ line }) => line === at + 1)
    }
    expect(twice('failed')).toEqual([])
    expect(twice('succeeded')).toHaveLength(1)
  })
})

describe('(f) no order is charged twice without an alert', () => {
  const order = { reference: 'order of tx-1' }

  it('finds each payment of an order beyond the first that no alert names', () => {
    const lines = goodHistory()
    for (const id of ['tx-2', 'tx-3']) {
      const at = indexOf(lines, isStored(id))
      lines[at] = withStored(order)(lines[at] as Line)
    }
    // The first one went back.
    expect(findings(lines)).toEqual([])
    const first = indexOf(lines, isBooking('tx-1'))
    const notBack = withPayment({ refunded: 20_000 })(lines[first] as Line)
    lines[first] = notBack
    const second = indexOf(lines, isBooking('tx-2'))
    expect(findings(lines)).toContainEqual({ check: 'f', line: second + 1 })
    lines[first] = withPayment({ refunded: 25_000 })(notBack)
    expect(findings(lines)).toEqual([])
    const back = indexOf(lines, isStored('tx-1'))
    lines[back] = withStored({ reference: 'another' })(lines[back] as Line)
    const other = indexOf(lines, isStored('tx-4'))
    lines[other] = withStored(order)(lines[other] as Line)
    expect(findings(lines)).toEqual([{ check: 'f', line: second + 1 }])

    addAlert(lines, 'late_payment', 'tx-2', order)
    expect(findings(lines)).toEqual([])
    const third = indexOf(lines, isBooking('tx-3'))
    lines[third] = withPayment({ paid: iqd(5_000) })(lines[third] as Line)
    expect(findings(lines)).toContainEqual({ check: 'f', line: third + 1 })
    addAlert(lines, 'late_payment', 'tx-3', { ...order, amount: 5_000 })
    addAlert(lines, 'double_payment', 'tx-3', order)
    expect(findings(lines)).toEqual([])
  })
})

describe('(f) late money that is still there has an open alert', () => {
  it('finds one that a refund had settled, and that refund has failed', () => {
    const lines = goodHistory()
    const paid = iqd(5_000)
    for (const [isIt, change] of [
      [isBooking('tx-3'), withPayment({ paid })],
      [isStored('tx-3'), withStored({ paid })],
    ] as const) {
      const at = indexOf(lines, isIt)
      lines[at] = change(lines[at] as Line)
    }
    const movement = { kind: 'late_paid', transactionId: 'tx-3', amountMinor: 5_000 }
    lines.splice(-1, 0, { kind: 'movement', movement })
    addAlert(lines, 'late_payment', 'tx-3', { amount: 5_000 })
    expect(findings(lines)).toEqual([])
    const at = indexOf(lines, isOf('alert'), 'last')
    const settled = { ...((lines[at] as Line).alert as object), acknowledgedBy: 'refund' }
    lines[at] = { ...(lines[at] as Line), alert: settled }
    expect(findings(lines)).toEqual([{ check: 'f', line: at + 1 }])
  })
})

describe('(f) a paid order is paid again only on purpose', () => {
  const charge = { kind: 'charge', gateway: 'redirect', order: 'order of tx-2', tookMs: 1 }
  const lastLine = (lines: readonly Line[]) => [{ check: 'f', line: lines.length - 1 }]

  it('finds that another key is answered with the payment of the first', () => {
    const answer = { ...charge, key: 'february', status: 200, body: { transactionId: 'tx-2' } }
    const later = goodHistory().toSpliced(-1, 0, answer)
    expect(findings(later)).toEqual(lastLine(later))
    const refused = goodHistory().toSpliced(-1, 0, { ...answer, status: 409 })
    expect(findings(refused)).toEqual([])
    const first = goodHistory().findIndex(isOf('charge'))
    const known = goodHistory().toSpliced(first, 0, answer).toSpliced(-1, 0, answer)
    expect(findings(known)).toEqual([])
    const slow = goodHistory().toSpliced(-1, 0, { ...answer, tookMs: 1_000 })
    expect(findings(slow)).toEqual([])
  })

  it('takes a second payment that the shop asked for, and finds an alert of it', () => {
    const body = { transactionId: 'tx-3' }
    const repeated = { ...charge, key: 'march', repeat: true, status: 201, body }
    const lines = goodHistory().filter((line) => line.kind !== 'charge')
    lines.splice(-1, 0, { ...charge, status: 201, body: { transactionId: 'tx-2' } }, repeated)
    const booking = indexOf(lines, isBooking('tx-3'))
    const stored = indexOf(lines, isStored('tx-3'))
    lines[booking] = withPayment({ paid: iqd(5_000) })(lines[booking] as Line)
    const reference = 'order of tx-2'
    lines[stored] = withStored({ reference })(lines[stored] as Line)
    addAlert(lines, 'late_payment', 'tx-3', { amount: 5_000, reference: 'none' })
    expect(findings(lines)).toEqual([])
    addAlert(lines, 'double_payment', 'tx-3', { reference })
    const alert = isOf('alert')
    expect(findings(lines)).toEqual([{ check: 'f', line: indexOf(lines, alert, 'last') + 1 }])
  })
})

describe('(g) what was answered is in the database', () => {
  const isWebhook = (id: string) => isOf('webhook', { eventId: `webhook of ${id}` })

  it('finds a webhook that was answered 200 and is not there', () => {
    expectMissed(isOf('event'), 'g', isWebhook('tx-3'))
  })

  it('asks nothing of one that came after what is stored was asked for', () => {
    const lines = goodHistory()
    const late = lines.find(isWebhook('tx-1')) as Line
    const at = indexOf(lines, isOf('jump'))
    const webhooks = ['unknown', undefined].map((eventId) => ({ ...late, eventId }))
    const another = webhooks.map((webhook) => ({ ...webhook, payment: 'another' }))
    const rest = { kind: 'at-rest' }
    expect(findings(lines.toSpliced(at, 0, rest, ...another))).toEqual([])
    const found = [at + 1, at + 2].map((line) => ({ check: 'g', line }))
    expect(findings(lines.toSpliced(at, 0, ...another, rest))).toEqual(found)
  })

  it('counts those without an id of their own by their payment', () => {
    const anonymous = (line: Line) => ({ ...line, eventId: undefined })
    expectChanged('first', isWebhook('tx-1'), anonymous, [])
    const change = (line: Line) => ({ ...anonymous(line), payment: 'another' })
    expectChanged('first', isWebhook('tx-1'), change, ['g'])

    const line = anonymous(goodHistory().find(isWebhook('tx-1')) as Line)
    const lines = goodHistory()
    lines.splice(indexOf(lines, isWebhook('tx-1')), 1, line, { ...line, answer: 'duplicate' }, line)
    const second = indexOf(lines, (each) => each === line, 'last')
    expect(findings(lines)).toEqual([{ check: 'g', line: second + 1 }])
  })

  it('finds one that is there twice', () => {
    const event = goodHistory().find(isOf('event')) as Line
    const shown = (line: Line) => line === event
    expectAdded(isOf('event'), event, [{ check: 'g', shown }])
  })

  it('finds one that is there, and is refused when it comes again', () => {
    const known = goodHistory().find(isWebhook('tx-1')) as Line
    const again = { ...known, status: 503, answer: 'unavailable' }
    expectAdded(isWebhook('tx-1'), again, [{ check: 'g', shown: (line) => line === again }])
    const lines = goodHistory()
    lines.splice(indexOf(lines, isWebhook('tx-1')), 0, again)
    expect(findings(lines)).toEqual([])
    expectAdded(isWebhook('tx-1'), { ...again, status: 500 }, [])
  })

  it('takes it that one which is there was given up in the middle of a fault', () => {
    const fault = (phase: string) => ({ kind: 'fault', t: 0, name: 'stop-database', phase })
    const known = goodHistory().find(isWebhook('tx-1')) as Line
    const again = { ...known, status: 503, answer: 'unavailable' }
    const found = (...before: Line[]) => {
      const lines = goodHistory()
      lines.splice(indexOf(lines, isWebhook('tx-1')) + 1, 0, ...before, again)
      return findings(lines).length
    }
    expect([found(fault('begin')), found(fault('begin'), fault('end'))]).toEqual([0, 1])
  })

  it('asks nothing of one that was refused, or that is about nothing', () => {
    const refused = (line: Line) => ({ ...line, eventId: 'unknown', status: 503, answer: '' })
    expectChanged('first', isWebhook('tx-1'), refused, [])
    const ignored = (line: Line) => ({ ...line, eventId: 'unknown', answer: 'ignored' })
    expectChanged('first', isWebhook('tx-1'), ignored, [])
  })

  it('finds a charge whose transaction is not there, also one that was answered 503', () => {
    const change = (line: Line) => ({ ...line, status: 503, body: { transactionId: 'tx-9' } })
    expectChanged('first', isOf('charge'), change, ['g'])
  })

  it('finds books that have less or more than is left of a payment', () => {
    const lines = goodHistory()
    const at = lines.findIndex(isOf('movement'))
    const { movement } = lines[at] as unknown as { movement: { transactionId: string } }
    const line = indexOf(lines, isStored(movement.transactionId)) + 1
    const without = lines.filter((_, n) => n !== at)
    expect(findings(without)).toEqual([{ check: 'e', line }])
    const beside = { ...movement, kind: 'disputed', amountMinor: 7 }
    expect(findings(lines.toSpliced(at + 1, 0, { kind: 'movement', movement: beside }))).toEqual([])
  })

  it('finds a payment that was answered as cancelled, and is not', () => {
    const lines = goodHistory()
    lines.splice(-1, 0, { kind: 'cancel', transactionId: 'tx-1', status: 200 })
    const line = indexOf(lines, isStored('tx-1')) + 1
    expect(findings(lines)).toEqual([{ check: 'g', line }])
    expectChanged('first', isOf('cancel'), (each) => ({ ...each, status: 503 }), [])
  })

  it('finds a refund that is not there', () => {
    const change = (line: Line) => ({ ...line, body: { refundId: 'another' } })
    expectChanged('first', isOf('refund'), change, ['g'])
  })
})

describe('(h) months later, what had ended is as it was', () => {
  const isLater = (id: string) => (line: Line) =>
    line.kind === 'later' && (line.transaction as { id: string }).id === id

  it.each([
    ['status', { status: 'Paid' }],
    ['refunded amount', { refundedAmount: 0 }],
    ['alerts', { alerts: [{ kind: 'late_payment' }] }],
    ['events', { events: [] }],
    ['refunds', { refunds: [] }],
  ])('finds that its %s changed', (_, own) => {
    const change = (line: Line) => ({ ...withStored(own)(line), isOther: true })
    expectChanged('first', isLater('tx-1'), change, ['h'])
  })

  it('takes a change of one that had not ended', () => {
    const lines = goodHistory()
    const stored = indexOf(lines, isStored('tx-1'))
    const refunds = [{ id: 'refund tx-1', status: 'accepted', amount: 25_000 }]
    lines[stored] = withStored({ refunds })(lines[stored] as Line)
    const later = indexOf(lines, isLater('tx-1'))
    lines[later] = { ...withStored({ alerts: [{}] })(lines[later] as Line), isOther: true }
    expect(findings(lines).filter(({ check }) => check === 'h')).toEqual([])
  })

  it('finds that a gateway is asked for a refund', () => {
    const lines = goodHistory()
    const call = lines.find(isOf('refund-call')) as Line
    lines.splice(-1, 0, { ...call, payment: 'gateway tx-2', status: 400 })
    expect(findings(lines)).toEqual([{ check: 'h', line: lines.length - 1 }])
  })
})
