// What a payer asks back through the bank: its rows as the gateway holds them, and the one alert of
// each dispute from its first event to its end. Its money is in the books alone. Pure, but for new
// ids.

import { opened, type Settler, stepAt, withAlerts } from './alerts.ts'
import type { PaymentError } from './exceptions.ts'
import { newId } from './new-id.ts'
import { isOvertaken, type Payment } from './payment.ts'
import {
  ALERTS,
  type AlertRow,
  DISPUTES,
  type DisputeRow,
  json,
  type WebhookEventRow,
} from './rows.ts'
import type { AlertDetail, DisputeSet, ReportedDispute } from './types.ts'

const BY_GATEWAY: Settler = 'gateway'
const SECOND_MS = 1_000

/**
 * What an event reports of a dispute. One whose driver reads none carries only what is disputed
 * now, and names each step of it by its id and a word.
 */
export function disputeIn(event: WebhookEventRow): DisputeSet | undefined {
  if (event.disputes !== null) return JSON.parse(event.disputes) as DisputeSet
  if (event.alert !== 'dispute') return undefined
  const { event_id, amount, currency, occurred_at: readAt } = event
  const id = event_id.replace(/:[^:]*$/, '')
  const error = json<PaymentError>(event.error)
  const parts = [{ id, amount, currency, state: 'open', isOut: true }] as const
  return { id, readAt, parts, ...(error && { error }) }
}

/**
 * The payment with this dispute as it was read, and its alert. `detail`: what an alert has of the
 * event.
 */
export function withDispute(
  payment: Payment,
  set: DisputeSet,
  { detail, now }: { detail: AlertDetail; now: number },
): Payment {
  const before = payment.disputes.filter(({ dispute }) => dispute === set.id)
  const after = rowsIn(payment, set, now)
  if (after.every((row, at) => row === before[at])) return payment
  const others = payment.disputes.filter(({ dispute }) => dispute !== set.id)
  const read = { ...payment, disputes: [...others, ...after] }
  if (!areDisputesChanged(before, after)) return read
  const reported = { ...detail, ...(set.error && { error: set.error }) }
  return withAlerts(read, [alertOf(read, { id: set.id, before, after }, reported, now)])
}

/** Whether the gateway has something of this dispute that is not stored. */
export const isDisputeNews = (disputes: readonly DisputeRow[], set: DisputeSet): boolean =>
  set.parts.some((part) => {
    const row = disputes.find((each) => isPart(each, set, part))
    return !row || isChanged(row, asRead(row, part))
  })

/** Some of it was read before what is stored, by a clock that may have been set back. */
export const isDisputeUnused = (
  disputes: readonly DisputeRow[],
  set: DisputeSet,
  now: number,
): boolean =>
  !set.isCopy &&
  set.parts.some((part) => {
    const row = disputes.find((each) => isPart(each, set, part))
    return row && isLater(row, part, set, now) && isChanged(row, asRead(row, part))
  })

/** Rows that were only read again are the same. */
export const areDisputesChanged = (
  before: readonly DisputeRow[],
  after: readonly DisputeRow[],
): boolean =>
  after.some((row) => {
    const was = before.find(({ id }) => id === row.id)
    return !was || isChanged(was, row)
  })

const isPart = (row: DisputeRow, set: DisputeSet, { id }: ReportedDispute): boolean =>
  row.dispute === set.id && row.part === id

/** A later read is stored. Of an event's own copy no more is known than its second. */
function isLater(
  row: DisputeRow,
  { state }: ReportedDispute,
  { readAt, isCopy = false }: DisputeSet,
  now: number,
): boolean {
  if (!isCopy) return isOvertaken(readAt, row.read_at, now)
  const second = (ms: number) => Math.floor(ms / SECOND_MS)
  // Of the same second, an end wins.
  const isSame = second(readAt) === second(row.read_at)
  if (isSame) return row.outcome !== null && state !== 'ended'
  return isOvertaken(readAt, row.read_at, now)
}

/** A chargeback that the set does not list keeps its state: it has not ended. */
function rowsIn({ transaction, disputes }: Payment, set: DisputeSet, now: number): DisputeRow[] {
  const rows = disputes.filter(({ dispute }) => dispute === set.id)
  const at = Math.min(set.readAt, now)
  for (const part of set.parts) {
    const named = rows.findIndex((row) => row.part === part.id)
    // What was known only as a sum is the first of those that are.
    const index = named === -1 ? rows.findIndex((row) => row.part === null) : named
    const row = rows[index]
    if (!row) {
      const made = asRead(newRow(transaction.id, set.id, part, now), part)
      rows.push({ ...made, read_at: at })
    } else if (!isLater(row, part, set, now)) {
      const read = { ...asRead(row, part), read_at: at }
      if (isChanged(row, read)) rows[index] = { ...read, updated_at: now }
      else if (at > row.read_at) rows[index] = read
    }
  }
  return rows
}

const newRow = (
  transaction_id: string,
  dispute: string,
  { id: part, amount, currency }: ReportedDispute,
  now: number,
): DisputeRow =>
  DISPUTES.row({
    id: newId(now),
    transaction_id,
    dispute,
    part,
    amount,
    currency,
    out_amount: 0,
    is_inquiry: 0,
    read_at: now,
    created_at: now,
    updated_at: now,
  })

function asRead(row: DisputeRow, reported: ReportedDispute): DisputeRow {
  const { id: part, amount, currency, state, isInquiry = false, isOut } = reported
  const end =
    state === 'ended'
      ? { outcome: reported.outcome ?? row.outcome ?? 'closed', ended_at: reported.endedAt ?? null }
      : state === 'open' && { outcome: null, ended_at: null }
  const out_amount = isOut === undefined ? row.out_amount : isOut ? amount : 0
  return { ...row, part, amount, currency, is_inquiry: isInquiry ? 1 : 0, ...end, out_amount }
}

// biome-ignore format: several names a line.
const READ = [
  'part', 'amount', 'currency', 'out_amount', 'is_inquiry', 'outcome', 'ended_at',
] as const

const isChanged = (row: DisputeRow, read: DisputeRow): boolean =>
  READ.some((name) => row[name] !== read[name])

interface Change {
  id: string
  before: readonly DisputeRow[]
  after: readonly DisputeRow[]
}

/**
 * It stays acknowledged, unless more is disputed, an inquiry has become a dispute, or one that had
 * ended goes on. Its end settles it, also where a person had acknowledged it before.
 */
function alertOf(
  { transaction, alerts }: Payment,
  change: Change,
  reported: AlertDetail,
  now: number,
): AlertRow {
  const { id: transaction_id, gateway } = transaction
  const { after } = change
  const subject = `${transaction_id} ${change.id}`
  const known = alerts.find((row) => row.kind === 'dispute' && row.subject === subject)
  const [last] = after.toReversed()
  const standing = after.filter(isOpen)
  const outcome = standing.length === 0 ? last?.outcome : undefined
  const detail: AlertDetail = {
    ...reported,
    amount: sumOf(standing.length === 0 ? after : standing),
    ...(last && { currency: last.currency }),
    ...(standing.length > 0 && standing.every(isInquiry) && { inquiry: true }),
    ...(outcome != null && { outcome }),
  }
  const row = ALERTS.row({
    id: known?.id ?? newId(now),
    kind: 'dispute',
    subject,
    gateway,
    transaction_id,
    created_at: now,
    ...known,
    detail: JSON.stringify(detail),
  })
  if (outcome != null) {
    const isKnown = known?.acknowledged_at != null && outcome === outcomeOf(change.before)
    const acknowledged_at = known ? stepAt(known, now) : now
    return isKnown ? row : { ...row, acknowledged_at, acknowledged_by: BY_GATEWAY }
  }
  return known && isRaisedAgain(change) ? opened(row, now) : row
}

function isRaisedAgain({ before, after }: Change): boolean {
  const goesOn = outcomeOf(before) !== undefined
  const isTaken = before.filter(isOpen).some(isInquiry) && !after.filter(isOpen).some(isInquiry)
  return goesOn || isTaken || isMore(before, after)
}

function isMore(before: readonly DisputeRow[], after: readonly DisputeRow[]): boolean {
  const open = after.filter(isOpen)
  // Until then only the sum was known.
  if (before.some(({ part }) => part === null)) return sumOf(open) > sumOf(before.filter(isOpen))
  return open.some((row) => {
    const was = before.find(({ id }) => id === row.id)
    return !was || row.amount > was.amount || !isOpen(was)
  })
}

const isOpen = ({ outcome }: DisputeRow): boolean => outcome === null
const isInquiry = ({ is_inquiry }: DisputeRow): boolean => is_inquiry === 1
const sumOf = (rows: readonly DisputeRow[]): number =>
  rows.reduce((sum, { amount }) => sum + amount, 0)

/** Of a dispute that has ended. */
const outcomeOf = (rows: readonly DisputeRow[]): string | undefined =>
  rows.some(isOpen) ? undefined : (rows.at(-1)?.outcome ?? undefined)
