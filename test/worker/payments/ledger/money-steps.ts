// Random steps for a few payments: charges, webhooks, refunds and sweeps in any order. Each step
// generates its ids before its call, so that the same call can be repeated.

import fc from 'fast-check'
import type { Arrival } from '../../../../worker/payments/acts/webhook.ts'
import { closedBy } from '../../../../worker/payments/domain/open-charge.ts'
import type { Transaction } from '../../../../worker/payments/domain/types.ts'
import type { DispatchedEvent } from '../../../support/ledger-fakes.ts'
import { type LedgerSetup, MINUTE } from '../../../support/ledger-setup.ts'

const AMOUNT = 1_000
const DAY = 24 * 60 * MINUTE
const ORDERS = ['order-0', 'order-1'] as const
const error = { code: 'declined', message: 'No.' }

/** A call of the ledger that can be repeated. */
export interface Call {
  /** Repeated, it does more work. Any other call changes nothing when it is repeated. */
  continues?: boolean
  /** It stored a row, and finds that row when it is repeated, however late. */
  isLasting?: boolean
  /** The fields of a webhook. */
  event?: { status: string; onMismatch: string; isAlert: boolean; isDisputed?: boolean }
  make(): Promise<{ outcome?: string; transactionId?: string; pending: DispatchedEvent[] }>
}

export type Step = (w: LedgerSetup, now: number) => Promise<Call | undefined>

const order = fc.constantFrom(...ORDERS)
const part = fc.constantFrom(1, 300, 700, AMOUNT, AMOUNT + 1)
const NOTHING = { pending: [] }

const gatewayIdOf = (reference: string, attempt: number) => `gateway of ${reference}, ${attempt}`

const newest = async (w: LedgerSetup, reference: string): Promise<Transaction | undefined> =>
  (await w.queries.transactions({ reference }, { limit: 1 }))[0]

const begin: fc.Arbitrary<Step> = fc
  .record({
    reference: order,
    key: fc.constantFrom(undefined, 'key-1', 'key-2'),
    amount: fc.constantFrom(AMOUNT, AMOUNT, AMOUNT, 5),
    chargeRepeatableForMs: fc.constantFrom(0, 60_000, Number.MAX_SAFE_INTEGER),
    replaces: fc.constantFrom('nothing', 'nothing', 'asked', 'unasked'),
  })
  .map(({ reference, key, amount, chargeRepeatableForMs, replaces }) => async (w, now) => {
    const idempotencyKey = key === undefined ? {} : { idempotencyKey: `${key} of ${reference}` }
    const request = { reference, amount }
    const before = replaces === 'nothing' ? undefined : await newest(w, reference)
    const replacement = before && {
      replaces: {
        transactionId: before.id,
        eventId: w.id(),
        ...(replaces === 'asked' && { nextCheckAt: now + 5 * MINUTE }),
      },
    }
    const wish = { ...idempotencyKey, request, chargeRepeatableForMs, now, ...replacement }
    const start = w.start(wish)
    const call: Call = {
      async make() {
        const begun = await w.ledger.beginCharge(start)
        if (begun.state === 'begun') call.isLasting = begun.transaction.id === start.id
        return { pending: w.deliverer.take() }
      },
    }
    return call
  })

const closing = fc.record({
  reference: order,
  purpose: fc.constantFrom('cancel' as const, 'replace' as const),
  isClosable: fc.constantFrom(true, true, false),
  unseenIsUnpayable: fc.boolean(),
})

/** Its page is being closed: what the gateway reports of it is a webhook or a check. */
const close: fc.Arbitrary<Step> = closing.map(({ reference, ...wish }) => async (w, now) => {
  const transaction = await newest(w, reference)
  if (!transaction) return undefined
  const start = { id: w.id(), transactionId: transaction.id, now, until: now + MINUTE, ...wish }
  return {
    async make() {
      await w.ledger.beginClosing(start)
      return { pending: w.deliverer.take() }
    },
  }
})

/** It was closed, and a changed order takes its place; or it was not, and stays as it is. */
const replace: fc.Arbitrary<Step> = fc
  .record({ reference: order, isEnded: fc.boolean() })
  .map(({ reference, isEnded }) => async (w, now) => {
    const transaction = await newest(w, reference)
    if (!transaction) return undefined
    const by = { id: w.id(), transactionId: transaction.id, purpose: 'replace' } as const
    const closes = { ...by, isClosable: true, unseenIsUnpayable: false, now, until: now + MINUTE }
    const replaces = {
      transactionId: transaction.id,
      eventId: w.id(),
      closedBy: closedBy(by),
      nextCheckAt: now + 5 * MINUTE,
    }
    const start = w.start({ request: { reference, amount: AMOUNT + 1 }, now, replaces })
    return {
      async make() {
        const { state } = await w.ledger.beginClosing(closes)
        if (state === 'begun' && isEnded) await w.ledger.beginCharge(start)
        else await w.ledger.endClosing(by)
        return { pending: w.deliverer.take() }
      },
    }
  })

const finish: fc.Arbitrary<Step> = fc
  .record({
    reference: order,
    kind: fc.constantFrom('answered', 'answered', 'answered', 'refused', 'unknown', 'unsent'),
  })
  .map(({ reference, kind }) => async (w, now) => {
    const transaction = await newest(w, reference)
    if (!transaction) return undefined
    const nextCheckAt = now + 5 * MINUTE
    const gatewayTransactionId = gatewayIdOf(reference, transaction.attempt)
    const answer = w.answerOf(transaction, { gatewayTransactionId })
    const eventId = w.id()
    return {
      // Parked events that it applied may give the payment an id that matches other parked events.
      continues: true,
      make: () => {
        if (kind === 'refused') return w.finish(transaction, { kind, error }, { eventId, now })
        if (kind === 'unknown' || kind === 'unsent') {
          return w.finish(transaction, { kind, nextCheckAt }, { now })
        }
        return w.finish(transaction, { kind: 'answered', answer, nextCheckAt }, { now })
      },
    }
  })

const webhook: fc.Arbitrary<Step> = fc
  .record({
    reference: order,
    attempt: fc.constantFrom(1, 1, 2),
    isNamed: fc.boolean(),
    status: fc.constantFrom(
      ...(['Pending', 'Paid', 'Paid', 'Paid', 'Failed', 'Cancelled', 'Expired'] as const),
      ...(['Refunded', 'PartiallyRefunded', 'PartiallyRefunded'] as const),
    ),
    amount: fc.constantFrom(AMOUNT, AMOUNT, AMOUNT, 0, 1, 400, 999, 5_000),
    currency: fc.constantFrom('IQD', 'IQD', 'IQD', 'USD'),
    event: fc.integer({ min: 0, max: 40 }),
    onMismatch: fc.constantFrom('log' as const, 'reject' as const),
    delayMs: fc.integer({ min: 0, max: 90_000 }),
    isAlert: fc.constantFrom(false, false, false, false, false, true),
    // It goes on and ends, as often as it likes.
    disputed: fc.constantFrom(undefined, undefined, undefined, 'open', 'ended'),
  })
  .map(({ reference, attempt, isNamed, event, delayMs, isAlert, ...wish }) => async (w, now) => {
    const { disputed } = wish
    const part = { id: 'dp', amount: AMOUNT, currency: 'IQD', isOut: disputed === 'open' }
    const { status, onMismatch, amount, currency } = wish
    // A gateway names only the newest attempt by its reference alone.
    const last = (await newest(w, reference))?.attempt ?? 1
    const arrival: Arrival = {
      id: w.id(),
      onMismatch,
      receivedAt: now,
      payload: {
        gateway: 'redirect',
        gatewayTransactionId: gatewayIdOf(reference, attempt),
        reference: isNamed && attempt === last ? reference : '',
        status,
        amount,
        currency,
        eventId: `event-${event}`,
        occurredAt: now - delayMs,
        ...(isAlert && { alert: 'refund_failed' }),
        ...(!isAlert &&
          disputed && {
            disputes: { id: 'dp', readAt: now - delayMs, parts: [{ ...part, state: disputed }] },
          }),
        raw: {},
      },
    }
    return {
      isLasting: true,
      event: { status, onMismatch, isAlert, isDisputed: disputed !== undefined },
      make: () => w.caused(w.ledger.webhook(arrival)),
    }
  })

/** The most common event, which refunds need: the requested amount is paid. */
const pay: fc.Arbitrary<Step> = order.map((reference) => async (w, now) => {
  const transaction = await newest(w, reference)
  if (!transaction) return undefined
  const gatewayTransactionId = gatewayIdOf(reference, transaction.attempt)
  const arrival = w.arrival(transaction, { gatewayTransactionId, receivedAt: now })
  return {
    isLasting: true,
    event: { status: 'Paid', onMismatch: 'log', isAlert: false },
    make: () => w.caused(w.ledger.webhook(arrival)),
  }
})

const refund: fc.Arbitrary<Step> = fc
  .record({ reference: order, amount: part, fullOnly: fc.constantFrom(false, false, true) })
  .map(({ reference, ...wish }) => async (w, now) => {
    const transaction = await newest(w, reference)
    if (!transaction) return undefined
    const start = w.refundStart(transaction, { ...wish, now })
    const call: Call = {
      async make() {
        const { state } = await w.ledger.beginRefund(start)
        if (state === 'begun') call.isLasting = true
        return NOTHING
      },
    }
    return call
  })

const endRefund: fc.Arbitrary<Step> = fc
  .record({
    reference: order,
    kind: fc.constantFrom('done', 'accepted', 'accepted', 'refused', 'unknown'),
  })
  .map(({ reference, kind }) => async (w, now) => {
    const transaction = await newest(w, reference)
    const story = transaction && (await w.story(transaction))
    const refundId = story?.refunds.at(-1)?.id
    if (refundId === undefined) return undefined
    // It has ended already.
    if (story?.events.some(({ id }) => id === refundId)) return undefined
    const nextCheckAt = now + 5 * MINUTE
    return {
      make: () => {
        if (kind === 'done') return w.endRefund(refundId, { kind }, now)
        if (kind === 'refused') return w.endRefund(refundId, { kind, error }, now)
        const isTaken = kind === 'accepted' ? 'accepted' : 'unknown'
        return w.endRefund(refundId, { kind: isTaken, nextCheckAt }, now)
      },
    }
  })

/** The sweeper's check, and what the gateway answers: it may have no refund, or say of none. */
const check: fc.Arbitrary<Step> = fc
  .record({
    status: fc.constantFrom(
      'Pending' as const,
      'Paid' as const,
      'Expired' as const,
      'Refunded' as const,
    ),
    isListed: fc.boolean(),
    isOfAnother: fc.constantFrom(false, false, true),
  })
  .map(({ status, isListed, isOfAnother }) => async (w, now) => {
    const until = now + 5 * MINUTE
    const [claimed] = await w.ledger.claimChecks({ now, until, limit: 1 })
    if (!claimed) return undefined
    const { asked } = claimed
    const { reference, attempt, amount, currency } = asked
    const report = {
      gatewayTransactionId: isOfAnother ? 'another' : gatewayIdOf(reference, attempt),
      status,
      amount,
      currency,
      ...(isListed && { refunds: { readAt: now, refunds: [] } }),
    }
    const answer = { id: w.id(), report, askedAt: now, onMismatch: 'log' } as const
    return {
      async make() {
        await w.ledger.settleCheck({ asked, now, answer })
        return { pending: w.deliverer.take() }
      },
    }
  })

const applyParked: fc.Arbitrary<Step> = fc.constant(async (w, now) => ({
  // An event that it applied may give the payment an id that matches another parked event.
  continues: true,
  async make() {
    await w.ledger.applyParked({ now, limit: 9 })
    return { pending: w.deliverer.take() }
  },
}))

const dispatchDue: fc.Arbitrary<Step> = fc.boolean().map((ok) => async (w, now) => ({
  continues: true,
  async make() {
    const pending = await w.outbox.claimPending({ now, limit: 9 })
    const listeners = ok ? { ok } : { ok, nextAttemptAt: now + MINUTE }
    const dispatched = pending.map(({ outboxId }) => ({ outboxId, listeners }))
    await w.outbox.settleDispatched(dispatched, now)
    return NOTHING
  },
}))

const pausing: fc.Arbitrary<Step> = fc
  .constantFrom('pause' as const, 'resume' as const, 'resume' as const, 'resume' as const)
  .map((to) => async (w, now) => {
    const asked = { id: w.id(), by: 'ada', now }
    return {
      async make() {
        await w.ledger[to](asked)
        return NOTHING
      },
    }
  })

/** Each with the time since the step before it, and which earlier call is then repeated. */
export const steps = fc.array(
  fc.record({
    step: fc.oneof(
      { arbitrary: begin, weight: 4 },
      { arbitrary: finish, weight: 4 },
      { arbitrary: close, weight: 1 },
      { arbitrary: replace, weight: 1 },
      { arbitrary: webhook, weight: 8 },
      { arbitrary: pay, weight: 4 },
      { arbitrary: refund, weight: 6 },
      { arbitrary: endRefund, weight: 6 },
      { arbitrary: check, weight: 1 },
      { arbitrary: applyParked, weight: 1 },
      { arbitrary: dispatchDue, weight: 1 },
      { arbitrary: pausing, weight: 2 },
    ),
    waitMs: fc.constantFrom(0, 1, 1_000, 90_000, 600_000, DAY),
    again: fc.option(fc.nat(), { nil: undefined, freq: 2 }),
  }),
  { minLength: 30, maxLength: 60, size: 'max' },
)
