// A charge in the ledger: it begins before its gateway is called, and ends with the answer.

import {
  type ChargeStart,
  beginCharge as decideBegin,
  findCharge as decideFind,
  type FoundCharge,
  type KnownCharges,
} from '../domain/begin-charge.ts'
import type { Subscribers } from '../domain/events.ts'
import { type ChargeEnd, finishCharge as decideFinish, nameIn } from '../domain/finish-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { OpenAlert, OpenedPayment, Transaction } from '../domain/schemas.ts'
import type { ChargeBegun } from './ledger.ts'
import { changesOf, changesOfAll, type Keys, type Operation } from './operation.ts'
import { toTransaction } from './read-rows.ts'
import type { Changes, ParkedEvent, WorkingSet } from './working-set.ts'

/**
 * `mayCall`: whether the gateway may be called. If not, only the result of the same request before
 * is answered; undefined: there is none.
 */
export function beginCharge(
  start: ChargeStart,
  mayCall: boolean,
  subscribers: Subscribers,
): Operation<ChargeBegun | undefined> {
  return {
    keys: keysOf(start),
    decide(rows) {
      const known = knownTo(rows, start)
      if (!mayCall) {
        const found = decideFind(known, start)
        return found ? toFound(found, known) : { answer: undefined }
      }
      const begun = decideBegin(known, start)
      if (begun.state !== 'begun') return toFound(begun, known)
      const { transaction, events, keys, replaced } = begun
      const payment = { transaction, refunds: [], webhookEvents: [], alerts: [] }
      const decisions = [...(replaced ? [replaced] : []), { payment, events, alerts: [] }]
      return {
        answer: { state: 'begun', transaction: shown(transaction, known) },
        changes: { ...changesOfAll(rows, decisions, subscribers), chargeKeys: [...keys] },
      }
    },
  }
}

function keysOf({ id, idempotencyKey, request, replaces }: ChargeStart): Keys {
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

function toFound(
  found: FoundCharge,
  known: KnownCharges,
): { answer: ChargeBegun; changes?: Changes } {
  if (found.state !== 'answered' && found.state !== 'unknown') return { answer: found }
  const { state, transaction: row, key } = found
  const changes = { chargeKeys: key ? [key] : [] }
  const transaction = shown(row, known)
  if (state === 'answered') {
    const { charge_answer: answer } = row
    const opened = answer === null ? {} : { opened: JSON.parse(answer) as OpenedPayment }
    return { answer: { state, transaction, ...opened }, changes }
  }
  const nextCheckAt = row.next_check_at === null ? {} : { nextCheckAt: row.next_check_at }
  return { answer: { state, transaction, ...nextCheckAt }, changes }
}

/** With the alert of late money, whichever attempt it paid: nobody must be asked to pay again. */
function shown(row: TransactionRow, { attempts }: KnownCharges): Transaction {
  const isLate = ({ alert }: TransactionRow) =>
    alert !== null && (JSON.parse(alert) as OpenAlert).kind === 'late_payment'
  const { alert } = attempts.find(isLate) ?? row
  return toTransaction({ ...row, alert })
}

export interface ChargeFinished {
  transaction: TransactionRow
  /** Events that came before the answer and may be about this payment, in their order. */
  parked: ParkedEvent[]
}

export function finishCharge(end: ChargeEnd, subscribers: Subscribers): Operation<ChargeFinished> {
  const { transactionId: id, result } = end
  const name = nameIn(result)
  return {
    keys: { charges: [{ id, gateway_transaction_id: name ?? null }] },
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) throw new Error(`there is no transaction ${id}`)
      const { gateway } = payment.transaction
      const other = rows
        .all('transactions')
        .find(
          (row) =>
            row.id !== id && row.gateway === gateway && isSame(row.gateway_transaction_id, name),
        )
      const decision = decideFinish(payment, end, other)
      const changes = changesOf(rows, decision, subscribers)
      const { transaction } = decision.payment
      return { answer: { transaction, parked: parkedFor(rows, transaction) }, changes }
    },
  }
}

/** By any of its ids: which payment an event belongs to is decided when it is applied. */
const parkedFor = (rows: WorkingSet, transaction: TransactionRow): ParkedEvent[] =>
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
    .toSorted((a, b) => a.occurred_at - b.occurred_at || (a.id < b.id ? -1 : 1))

const isSame = (a: string | null, b: string | null | undefined): boolean => a !== null && a === b
