// A charge and a refund in the ledger: each is stored before its gateway is called, and ends with
// the gateway's answer.

import {
  type BegunCharge,
  type ChargeBegun,
  type ChargeStart,
  beginCharge as decideBeginCharge,
  type KnownCharges,
  openBy,
} from '../domain/begin-charge.ts'
import {
  type ClosingBegun,
  type ClosingStart,
  closedBy,
  beginClosing as decideBeginClosing,
  endClosing as decideEndClosing,
} from '../domain/close-charge.ts'
import {
  type ChargeEnd,
  finishCharge as decideFinishCharge,
  gatewayIdIn,
} from '../domain/finish-charge.ts'
import { isForeign, type Payment } from '../domain/payment.ts'
import {
  beginRefund as decideBeginRefund,
  finishRefund as decideFinishRefund,
  type RefundBegun,
  type RefundEnd,
  type RefundStart,
} from '../domain/refund.ts'
import type { TransactionRow, WebhookEventRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type { OpenAlert } from '../domain/types.ts'
import type { Paused } from './ledger.ts'
import {
  type Keys,
  type Operation,
  type Rules,
  recordAct,
  store,
  storeInOrder,
} from './operation.ts'
import { applyParkedTo, byTime } from './webhooks.ts'
import type { WorkingSet } from './working-set.ts'

export function beginCharge(start: ChargeStart, rules: Rules): Operation<ChargeBegun | Paused> {
  return {
    keys: chargeKeys(start),
    decide(rows) {
      const known = knownTo(rows, start)
      const begun = decideBeginCharge(known, start)
      const paused = rows.pause && pausedInstead(rows, begun, start)
      if (paused) return paused
      if (begun.state === 'answered' || begun.state === 'unknown') {
        if (begun.key) rows.put({ chargeKeys: [begun.key] })
        return { ...begun, transaction: shown(begun.transaction, known) }
      }
      if (begun.state !== 'begun') return begun
      const { state, transaction, earlier, events, keys, replaced } = begun
      const payment = { transaction, refunds: [], disputes: [], alerts: [] }
      if (replaced) store(rows, replaced, rules)
      store(rows, { payment, events, alerts: [] }, rules)
      rows.put({ chargeKeys: keys })
      recordCharge(rows, start, transaction, replaced?.payment.transaction.id)
      return { state, transaction: shown(transaction, known), earlier }
    },
  }
}

/** If its gateway would be called for it, or asked to close a page, and was not called before. */
function pausedInstead(
  rows: WorkingSet,
  begun: BegunCharge,
  { id, now, isReplacing, replaces }: ChargeStart,
): Paused | undefined {
  if (begun.state === 'not_admitted') return { state: 'paused' }
  if (begun.state !== 'begun') {
    const open = isReplacing ? openBy(begun, now) : undefined
    return open && { state: 'paused', transactionId: open.transaction.id }
  }
  const stored = rows.get('transactions', begun.transaction.id)
  // This call is repeated: it was begun before the pause.
  if (stored?.called_by === id) return undefined
  const replaced = replaces && rows.get('transactions', replaces.transactionId)
  // So was this request, which has closed the page of the attempt that it replaces.
  if (replaces?.closedBy !== undefined && replaced?.called_by === replaces.closedBy)
    return undefined
  return { state: 'paused', ...(stored && { transactionId: stored.id }) }
}

/** `replacedId`: of the attempt that it replaces. */
function recordCharge(
  rows: WorkingSet,
  { id, by, now: at, replaces }: ChargeStart,
  { id: transaction_id, amount, is_repeat }: TransactionRow,
  replacedId: string | undefined,
): void {
  const detail = is_repeat === 1 ? 'repeat' : null
  recordAct(rows, { id, by }, { at, action: 'charge', transaction_id, amount, detail })
  if (replacedId === undefined || !replaces) return
  const replacing = { at, action: 'replace', transaction_id: replacedId } as const
  recordAct(rows, { id: replaces.eventId, by }, { ...replacing, about: transaction_id })
}

function chargeKeys({ id, idempotencyKey, request, replaces }: ChargeStart): Keys {
  const { gateway, reference } = request
  const key = idempotencyKey !== undefined && { idempotency_key: idempotencyKey }
  return {
    payments: [{ id, gateway, ...key }],
    orders: [{ gateway, reference }],
    chargeKeysOf: replaces ? [replaces.transactionId] : [],
    alerts: replaces ? [{ kind: 'unsettled', subject: replaces.transactionId }] : [],
  }
}

function knownTo(rows: WorkingSet, { id, idempotencyKey, request }: ChargeStart): KnownCharges {
  const isOurs = ({ gateway }: { gateway: string }) => gateway === request.gateway
  const ofGateway = rows.all('transactions').filter(isOurs)
  const keys = rows.all('chargeKeys').filter(isOurs)
  const further = keys.find(({ idempotency_key: key }) => key === idempotencyKey)
  return {
    installation: rows.installation,
    own: rows.get('transactions', id),
    byKey: ofGateway.find(
      (row) =>
        row.id === further?.transaction_id ||
        (idempotencyKey !== undefined && row.idempotency_key === idempotencyKey),
    ),
    attempts: ofGateway.filter(({ reference }) => reference === request.reference),
    keys,
  }
}

export function beginClosing(start: ClosingStart, rules: Rules): Operation<ClosingBegun | Paused> {
  const { transactionId: id, now: at } = start
  return {
    keys: { payments: [{ id }] },
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) throw new Error(`there is no transaction ${id}`)
      if (isForeign(payment.transaction, rows.installation)) return { state: 'foreign' }
      const begun = decideBeginClosing(payment, start)
      if (!('decision' in begun)) return begun
      const { state, decision } = begun
      const { transaction } = decision.payment
      const isNew = transaction !== payment.transaction
      if (isNew && rows.pause && payment.transaction.called_by !== closedBy(start)) {
        return { state: 'paused', transactionId: id }
      }
      if (isNew) store(rows, decision, rules)
      if (isNew && start.purpose === 'cancel') {
        recordAct(rows, start, { at, action: 'cancel', transaction_id: id })
      }
      return { state, transaction }
    },
  }
}

export function endClosing(
  closing: Pick<ClosingStart, 'id' | 'transactionId' | 'purpose'>,
): Operation<undefined> {
  const { transactionId: id } = closing
  return {
    keys: { payments: [{ id }] },
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) throw new Error(`there is no transaction ${id}`)
      rows.put({ transactions: [decideEndClosing(payment, closedBy(closing)).transaction] })
      return undefined
    },
  }
}

/** With the alert of late money of any attempt: the order must not be paid again. */
function shown(row: TransactionRow, { attempts }: KnownCharges): TransactionRow {
  const isLate = ({ alert }: TransactionRow) =>
    alert !== null && (JSON.parse(alert) as OpenAlert).kind === 'late_payment'
  const { alert } = attempts.find(isLate) ?? row
  return { ...row, alert }
}

/** The answer is stored whatever becomes of the events that were parked for it. */
export function finishCharge(end: ChargeEnd, rules: Rules): Operation<TransactionRow> {
  const { transactionId: id, result, now } = end
  const gatewayId = gatewayIdIn(result)
  return {
    keys: { charges: [{ id, gateway_transaction_id: gatewayId ?? null }] },
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) throw new Error(`there is no transaction ${id}`)
      const { gateway } = payment.transaction
      const other = rows
        .all('transactions')
        .find(
          (row) =>
            row.id !== id &&
            row.gateway === gateway &&
            isSame(row.gateway_transaction_id, gatewayId),
        )
      const decision = decideFinishCharge(payment, end, other)
      store(rows, decision, rules)
      const { transaction } = decision.payment
      for (const event of parkedFor(rows, transaction)) applyParkedTo(rows, event, rules, now)
      return rows.get('transactions', id) ?? transaction
    },
  }
}

/** In their order. By any of its ids: which payment an event is about is decided one by one. */
const parkedFor = (rows: WorkingSet, transaction: TransactionRow): WebhookEventRow[] =>
  rows
    .all('webhookEvents')
    .filter(
      (event) =>
        event.outcome === 'parked' &&
        event.gateway === transaction.gateway &&
        (isSame(event.gateway_transaction_id, transaction.gateway_transaction_id) ||
          isSame(event.external_reference_id, transaction.external_reference_id) ||
          isSame(event.reference, transaction.reference)),
    )
    .toSorted(byTime)

const isSame = (a: string | null, b: string | null | undefined): boolean => a !== null && a === b

export function beginRefund(start: RefundStart): Operation<RefundBegun | Paused> {
  const { gateway, transactionId: id } = start
  return {
    keys: { payments: [{ id }, { gateway, gateway_transaction_id: id }] },
    decide(rows) {
      const found = refundedPayment(rows, start)
      if (found && isForeign(found.transaction, rows.installation)) {
        return { state: 'not_refundable', status: found.transaction.status }
      }
      const begun = decideBeginRefund(found, start)
      const isNew = begun.state === 'begun' && !rows.get('refunds', start.id)
      if (rows.pause && (isNew || begun.state === 'not_admitted')) {
        return { state: 'paused', ...(found && { transactionId: found.transaction.id }) }
      }
      if (begun.state !== 'begun') return begun
      const { state, payment, refund } = begun
      const { transaction } = payment
      rows.put({ transactions: [transaction], refunds: [refund] })
      const action = UNPAID_ENDS.includes(transaction.status) ? 'late_refund' : 'refund'
      const act = { action, transaction_id: transaction.id, amount: refund.amount } as const
      recordAct(rows, start, { ...act, at: start.now, about: refund.id })
      return { state, transaction, amount: refund.amount }
    },
  }
}

/** By our id or by the gateway's, within the gateway. */
function refundedPayment(
  rows: WorkingSet,
  { gateway, transactionId }: RefundStart,
): Payment | undefined {
  const ours = rows.all('transactions').filter((row) => row.gateway === gateway)
  const found =
    ours.find(({ id }) => id === transactionId) ??
    ours.find(({ gateway_transaction_id: id }) => id === transactionId)
  return rows.payment(found?.id)
}

export function finishRefund(end: RefundEnd, rules: Rules): Operation<TransactionRow> {
  const { refundId, now } = end
  return {
    keys: { refunds: [refundId] },
    decide(rows) {
      const refund = rows.get('refunds', refundId)
      const payment = rows.payment(refund?.transaction_id)
      if (!refund || !payment) throw new Error(`there is no refund ${refundId}`)
      const decision = decideFinishRefund(payment, refund, end)
      storeInOrder(rows, { before: payment, decision, now }, rules)
      return decision.payment.transaction
    },
  }
}
