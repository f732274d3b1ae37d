import { describe, expect, it } from 'vitest'
import { deliveredOf, refundChange, storyOf, timeline } from '../../../console/payments/story.ts'
import type {
  AuditRecord,
  StoredEvent,
  Transaction,
  TransactionStory,
} from '../../../libraries/api/types.ts'

type Answer = Transaction & TransactionStory

const at = (seconds: number) => new Date(1_772_445_600_000 + seconds * 1_000).toISOString()

function answer(more: Partial<Answer> = {}): Answer {
  return {
    id: '01',
    gateway: 'redirect',
    reference: 'order-1',
    attempt: 1,
    externalReferenceId: 'ours',
    status: 'Paid',
    amount: 25_000,
    currency: 'IQD',
    refundedAmount: 0,
    refundRevision: 0,
    createdAt: at(0),
    updatedAt: at(9),
    isStranded: false,
    can: { refund: 0, check: true, cancel: false },
    check: {},
    webhookEvents: [],
    refunds: [],
    events: [],
    alerts: [],
    audit: [],
    notes: [],
    ...more,
  }
}

const story = (more: Partial<Answer> = {}) => storyOf(answer(more))

const lifecycle = (
  type:
    | 'PaymentInitiated'
    | 'PaymentSucceeded'
    | 'PaymentFailed'
    | 'AlertRaised'
    | 'RefundAmountChanged',
  when: string,
) => ({
  id: type,
  type,
  payload: { transaction: answer() },
  createdAt: when,
  deliveries: [],
})
const webhook = (id: string, when: string): Answer['webhookEvents'][number] => ({
  id,
  gateway: 'redirect',
  eventId: `event-${id}`,
  toStatus: 'Paid',
  outcome: 'applied',
  amount: 25_000,
  currency: 'IQD',
  isMismatch: false,
  occurredAt: when,
  receivedAt: when,
})
const refund = (status: 'claimed' | 'succeeded' | 'failed') => ({
  id: `refund-${status}`,
  amount: 5_000,
  reason: 'Broken',
  status,
  createdAt: at(20),
  updatedAt: at(21),
})

describe('the story of a payment', () => {
  it('shows readable rows in order, and unreadable rows apart', () => {
    const row = (id: string) => ({ id, code: 'unreadable', invalid: 'It is no time.' }) as const
    const parts = {
      refunds: [row('r1')],
      events: [row('e1')],
      alerts: [row('a1')],
      audit: [],
      notes: [],
    }
    const webhookEvents = [row('w0'), webhook('w1', at(5))]
    const whole = story({ ...parts, webhookEvents })
    expect(timeline(whole).map(({ key }) => key)).toEqual(['initiated', 'w1'])
    expect(whole.unreadable.map(({ id }) => id)).toEqual(['w0', 'r1', 'e1', 'a1'])
    const { can } = answer()
    const known = { isStranded: false, can, check: {} }
    const own = storyOf({ ...row('01'), ...known, ...parts, webhookEvents })
    expect(own).toMatchObject({ transaction: undefined, invalid: 'It is no time.' })
    expect(timeline(own).map(({ key }) => key)).toEqual(['w1'])
  })

  it('names who asked, and shows what was asked for later', () => {
    const act = (id: string, more: Partial<AuditRecord>) =>
      ({ id, at: at(30), action: 'charge', subject: 'ada', ...more }) as AuditRecord
    const whole = story({
      refunds: [refund('succeeded')],
      audit: [
        act('c1', { at: at(0), subject: 'shop' }),
        act('f1', { action: 'refund', about: 'refund-succeeded', subject: 'bob' }),
        act('k1', { action: 'check' }),
      ],
    })
    expect(timeline(whole)).toMatchObject([
      { kind: 'initiated', by: 'shop' },
      { kind: 'refund', by: 'bob' },
      { kind: 'act', act: { action: 'check', subject: 'ada' } },
    ])
  })

  it('is in order of time, and at the same time causes come first', () => {
    const whole = story({
      events: [
        lifecycle('PaymentInitiated', at(0)),
        lifecycle('PaymentSucceeded', at(5)),
        lifecycle('AlertRaised', at(5)),
      ] as never,
      webhookEvents: [webhook('w1', at(5))],
      refunds: [refund('succeeded')],
      alerts: [
        { id: 'a1', kind: 'amount_mismatch', gateway: 'redirect', detail: {}, createdAt: at(5) },
      ],
    })
    const events = timeline(whole).map((entry) => [entry.key, entry.events.map(({ type }) => type)])
    expect(events).toEqual([
      ['initiated', ['PaymentInitiated']],
      ['w1', []],
      ['a1', ['PaymentSucceeded', 'AlertRaised']],
      ['refund-succeeded', []],
    ])
  })

  it('has what the shop was told, where nothing else can be read', () => {
    const events = [lifecycle('PaymentInitiated', at(0))] as never
    const row = { id: '01', code: 'unreadable', invalid: 'It is no time.' } as const
    const { can, webhookEvents, refunds, alerts, audit, notes } = answer()
    const parts = { can, webhookEvents, refunds, alerts, audit, notes, events }
    const own = storyOf({ ...row, ...parts, isStranded: false, check: {} })
    expect(timeline(own)).toMatchObject([
      { kind: 'unknown', events: [{ type: 'PaymentInitiated' }] },
    ])
  })

  it('says whom its events were delivered to, and that there was nobody', () => {
    const stored = lifecycle('PaymentSucceeded', at(5)) as never as StoredEvent
    const event = (more: object): StoredEvent => ({ ...stored, deliveries: [], ...more })
    const delivery = { status: 'delivered', deliveredAt: at(9) }
    const nobody = event({ listenersDoneAt: at(5) })
    const listened = event({ listenersDoneAt: at(7) })
    const posted = event({ listenersDoneAt: at(5), deliveries: [delivery] })
    const failing = event({
      listenersDoneAt: at(7),
      deliveries: [delivery, { status: 'dead', lastStatus: 500 }],
    })
    const each = [[nobody], [nobody, listened], [posted, listened], [failing, nobody], [event({})]]
    expect(each.map(deliveredOf)).toEqual([
      { state: 'to_nobody' },
      { state: 'to_listeners', at: at(7) },
      { state: 'to_shop', at: at(9) },
      { state: 'dead', lastStatus: 500 },
      { state: 'pending' },
    ])
  })

  it('shows both sums where another refunded amount was told', () => {
    const changed = lifecycle('RefundAmountChanged', at(5)) as never as StoredEvent
    const payload = { ...changed.payload, previousRefundedAmount: 5_000 } as never
    const text = refundChange({ ...changed, payload })?.replaceAll('\u00a0', ' ')
    expect(text).toBe('Refunded: IQD 0, before IQD 5,000.')
    expect(refundChange(changed)).toBeUndefined()
  })

  it('shows a refusal without a webhook, and shows no refusal twice', () => {
    const error = { code: 'declined', message: 'Not today.' }
    const events = [lifecycle('PaymentFailed', at(2))] as never
    const refused = timeline(story({ status: 'Failed', error, events }))
    expect(refused.map(({ kind }) => kind)).toEqual(['initiated', 'refused'])
    const webhookEvents = [{ ...webhook('w1', at(2)), error }]
    const reported = timeline(story({ status: 'Failed', error, events, webhookEvents }))
    expect(reported.map(({ kind }) => kind)).toEqual(['initiated', 'webhook'])
  })

  it('has a refund in the currency that was paid, not in the requested one', () => {
    const other = story({
      status: 'PartiallyRefunded',
      refundedAmount: 5_000,
      refunds: [refund('succeeded')],
      paid: { amount: 20_000, currency: 'USD' },
    })
    expect(timeline(other).at(-1)).toMatchObject({ kind: 'refund', currency: 'USD' })
  })
})
