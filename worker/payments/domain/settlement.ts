// A gateway's settlement, row by row against what we have: which payment each row is about, and
// whether both sides agree: each movement with one row, or one row with the sum of those that no
// other row has. Pure. Files are read by libraries/settlement.

import { heldAmount, paidAmount } from './payment.ts'
import type { MovementRow, RefundRow, TransactionRow } from './rows.ts'
import { type MovementKind, UNPAID_ENDS } from './status.ts'
import type { SettledRow } from './types.ts'

/**
 * `known`: payments that have any of the names in the rows. A payment agrees with as many rows as
 * it has movements, so all rows of one belong together.
 */
export function compareRows(
  rows: readonly SettledRow[],
  known: readonly KnownPayment[],
): Compared[] {
  const compared = rows.map(
    ({ type }): Compared => ({ as: type === 'unknown_word' ? type : 'not_ours' }),
  )
  for (const [payment, of] of rowsOfEach(rows, known)) {
    const answers = comparePayment(
      of.map((at) => rows[at] as SettledRow),
      payment,
    )
    for (const [n, answer] of answers.entries()) compared[of[n] ?? 0] = answer
  }
  return compared
}

/** The places of the rows of each payment: what an id names comes before what a reference does. */
function rowsOfEach(
  rows: readonly SettledRow[],
  known: readonly KnownPayment[],
): Map<KnownPayment, number[]> {
  const byPayment = new Map<KnownPayment, number[]>()
  const put = (payment: KnownPayment, at: number) => {
    const places = byPayment.get(payment)
    if (places) places.push(at)
    else byPayment.set(payment, [at])
  }
  const find = finder(known)
  const unnamed: number[] = []
  for (const [at, row] of rows.entries()) {
    const payment = find(row)
    if (payment) put(payment, at)
    else unnamed.push(at)
  }
  const byReference = Map.groupBy(known, ({ transaction }) => transaction.reference)
  for (const at of unnamed) {
    const row = rows[at] as SettledRow
    const ofReference = byReference.get(row.reference ?? '') ?? []
    const payment = best(
      ofReference.filter((it) => isOfAmount(it, row)),
      (it) => (byPayment.get(it) ?? []).filter((other) => rows[other]?.type === row.type).length,
    )
    if (payment) put(payment, at)
  }
  return new Map([...byPayment].map(([payment, of]) => [payment, of.toSorted((a, b) => a - b)]))
}

/** By the gateway's id first, then ours, then the gateway's of a refund. */
function finder(known: readonly KnownPayment[]): (row: SettledRow) => KnownPayment | undefined {
  const by = (name: (row: TransactionRow) => string | null) =>
    new Map(known.map((payment) => [name(payment.transaction), payment]))
  const byGatewayId = by((row) => row.gateway_transaction_id)
  const byId = by((row) => row.id)
  const byExternal = by((row) => row.external_reference_id)
  const byRefund = new Map(
    known.flatMap((it) => it.refunds.map((row) => [row.gateway_refund_id, it] as const)),
  )
  const ofRefund = ({ type, id, refund = id }: SettledRow) =>
    type === 'payment' || refund === undefined ? undefined : byRefund.get(refund)
  return (row) =>
    (row.id === undefined ? undefined : byGatewayId.get(row.id)) ??
    (row.ours === undefined ? undefined : (byId.get(row.ours) ?? byExternal.get(row.ours))) ??
    ofRefund(row)
}

const isOfAmount = ({ transaction, refunds, movements }: KnownPayment, row: SettledRow): boolean =>
  row.amount === (transaction.paid_at === null ? transaction.amount : paidAmount(transaction)) ||
  movements.some((it) => isPaying(it) && it.amount === row.amount) ||
  (row.type !== 'payment' && refunds.some(({ amount }) => amount === row.amount))

/** Of several attempts one that was paid and has no row yet, else the newest that was paid. */
function best(
  payments: readonly KnownPayment[],
  rowsOf: (payment: KnownPayment) => number,
): KnownPayment | undefined {
  const sorted = payments.toSorted((a, b) => a.transaction.attempt - b.transaction.attempt)
  const paid = sorted.filter(({ movements }) => movements.some(isPaying))
  return paid.findLast((payment) => rowsOf(payment) === 0) ?? paid.at(-1) ?? sorted.at(-1)
}

/** What both sides can differ in. The first that is so counts. */
export const SETTLED_AS = [
  'unknown_word',
  'not_ours',
  'other_currency',
  'other_amount',
  'paid_there',
  'refunded_there',
  'refund_failed',
  'refused_paid',
  'late',
  'twice',
  'same',
] as const
export type SettledAs = (typeof SETTLED_AS)[number]

export const SETTLED_TYPES = ['payment', 'refund', 'refund_failed', 'unknown_word'] as const

export interface Compared {
  as: SettledAs
  /** Not of a row that is not ours. */
  transaction?: TransactionRow
  refund?: RefundRow
  /** Those that the row agrees with, or differs from only in what `as` says. */
  movements?: readonly MovementRow[]
  /** Of what we have. */
  amount?: number
}

/** What rows agree with: disputes are left out. */
export const SETTLED_KINDS: readonly MovementKind[] = [
  'paid',
  'late_paid',
  'refused_paid',
  'refunded',
  'refund_failed',
]

export interface KnownPayment {
  transaction: TransactionRow
  refunds: readonly RefundRow[]
  /** Of these kinds, the oldest first. */
  movements: readonly MovementRow[]
}

/** What a row can agree with. */
interface Unit {
  /** Undefined: a refund that moved nothing, since everything was given back before. */
  movement?: MovementRow
  refund?: RefundRow
  /** As a row has it: above 0, but for refused money that was taken back. */
  amount: number
  currency: string
}

/** A payer has paid. */
const isPaying = ({ kind }: MovementRow): boolean =>
  kind === 'paid' || kind === 'late_paid' || kind === 'refused_paid'

/** The rows of one payment, and an answer for each. */
function comparePayment(rows: readonly SettledRow[], payment: KnownPayment): Compared[] {
  const compared = rows.map((): Compared => ({ as: 'not_ours' }))
  for (const [type, of] of Map.groupBy(rows.keys(), (at) => rows[at]?.type)) {
    if (!type) continue
    const units = UNITS[type](payment)
    const asked = of.map((at) => rows[at] as SettledRow)
    for (const [n, match] of matchesOf(asked, units, payment).entries()) {
      const row = asked[n] as SettledRow
      compared[of[n] ?? 0] = answerOf(row, match, units, payment)
    }
  }
  return compared
}

function answerOf(row: SettledRow, match: Match, all: readonly Unit[], payment: KnownPayment) {
  const refund = refundOf(row, match, payment)
  const movements = match.units.flatMap(({ movement }) => movement ?? [])
  return {
    as: asOf(row, match, all, payment),
    transaction: payment.transaction,
    ...(refund && { refund }),
    ...(movements.length > 0 && { movements }),
    amount: match.units.length > 0 ? sumOf(match.units) : expectedOf(payment, refund),
  }
}

/** Without a movement, the one that it names, or else one that was not made. */
function refundOf(row: SettledRow, { units }: Match, payment: KnownPayment) {
  if (row.type === 'payment') return undefined
  const isUnmade = ({ status, amount }: RefundRow) =>
    status !== 'succeeded' && amount === row.amount
  return units[0]?.refund ?? namedBy(row, payment) ?? payment.refunds.find(isUnmade)
}

const unitOf = (movement: MovementRow, refund?: RefundRow): Unit => ({
  movement,
  amount: movement.amount,
  currency: movement.currency,
  ...(refund && { refund }),
})

const UNITS: Readonly<Record<SettledRow['type'], (payment: KnownPayment) => Unit[]>> = {
  payment: ({ movements }) => movements.filter(isPaying).map((it) => unitOf(it)),
  refund: refundUnits,
  refund_failed: ({ movements, refunds }) =>
    movements
      .filter(({ kind }) => kind === 'refund_failed')
      .map((it) =>
        unitOf(
          it,
          refunds.find(({ id }) => id === it.refund_id),
        ),
      ),
  unknown_word: () => [],
}

const isFailed = ({ status }: RefundRow): boolean => status === 'failed'

/** A refund that moved once has its own amount: of more than was paid, less was booked. */
function refundUnits({ movements, refunds, transaction }: KnownPayment): Unit[] {
  const currency = transaction.paid_currency ?? transaction.currency
  const made = movements.filter(({ kind }) => kind === 'refunded')
  // A row is one of what stayed given back, before one of what failed since.
  const stayedFirst = refunds.toSorted((a, b) => Number(isFailed(a)) - Number(isFailed(b)))
  const units = stayedFirst.flatMap((refund): Unit[] => {
    const own = made.filter((it) => it.refund_id === refund.id)
    if (own.length === 0)
      return refund.status === 'succeeded' ? [{ refund, amount: refund.amount, currency }] : []
    return own.map((it) => {
      const amount = own.length === 1 ? refund.amount : -it.amount
      return { ...unitOf(it, refund), amount }
    })
  })
  const others = made.filter((it) => refunds.every(({ id }) => id !== it.refund_id))
  return [...units, ...others.map((it) => ({ ...unitOf(it), amount: -it.amount }))]
}

interface Match {
  units: readonly Unit[]
  /** The amount or the currency is another one. */
  differs: boolean
}

/** What a row takes of the units that are free. Each is tried for all rows before the next one. */
type Pass = (row: SettledRow, free: readonly Unit[], named: RefundRow | undefined) => Unit[]

const isEqual = (row: SettledRow) => (unit: Unit) =>
  unit.amount === row.amount && unit.currency === row.currency

/** Of two ids of refunds that differ, each is a refund of its own. */
const mayBe = (row: SettledRow, named: RefundRow | undefined) => (unit: Unit) =>
  named
    ? unit.refund === named
    : row.refund === undefined || (unit.refund?.gateway_refund_id ?? null) === null

const equal: Pass = (row, free, named) =>
  free.filter(mayBe(row, named)).filter(isEqual(row)).slice(0, 1)

const sumOf = (units: readonly Unit[]): number =>
  units.reduce((total, { amount }) => total + amount, 0)

/** All of them, if they are as much as the row. */
function whole(row: SettledRow, units: readonly Unit[]): Unit[] {
  const own = units.filter(({ currency }) => currency === row.currency)
  return own.length > 1 && sumOf(own) === row.amount ? own : []
}

/** One that is equal; or all whose sum it is. */
const PASSES: readonly Pass[] = [
  (row, free, named) => (named ? equal(row, free, named) : []),
  equal,
  (row, free, named) => {
    const own = free.filter(mayBe(row, named))
    const ofRefund = [...Map.groupBy(own, ({ refund }) => refund).values()]
    return ofRefund.map((units) => whole(row, units)).find((units) => units.length > 0) ?? []
  },
  (row, free, named) => whole(row, free.filter(mayBe(row, named))),
]

function matchesOf(
  rows: readonly SettledRow[],
  units: readonly Unit[],
  payment: KnownPayment,
): Match[] {
  const matches: Match[] = rows.map(() => ({ units: [], differs: false }))
  const names = rows.map((row) => namedBy(row, payment))
  let free = units
  const take = (at: number, taken: readonly Unit[], differs: boolean) => {
    matches[at] = { units: taken, differs }
    free = free.filter((unit) => !taken.includes(unit))
  }
  for (const pass of PASSES) {
    for (const [at, row] of rows.entries()) {
      if (free.length === 0) return matches
      if (matches[at]?.units.length !== 0) continue
      take(at, pass(row, free, names[at]), false)
    }
  }
  for (const [at, row] of rows.entries()) {
    if (matches[at]?.units.length === 0) {
      take(at, free.filter(mayBe(row, names[at])).slice(0, 1), true)
    }
  }
  return matches
}

const namedBy = ({ type, id, refund = id }: SettledRow, { refunds }: KnownPayment) =>
  type === 'payment' || refund === undefined
    ? undefined
    : refunds.find((row) => row.gateway_refund_id === refund)

/** What we expect where nothing moved, or where every movement has its row. */
const expectedOf = ({ transaction }: KnownPayment, refund: RefundRow | undefined): number =>
  refund?.amount ?? (transaction.paid_at === null ? transaction.amount : paidAmount(transaction))

function asOf(
  row: SettledRow,
  { units, differs }: Match,
  all: readonly Unit[],
  payment: KnownPayment,
): SettledAs {
  if (row.type === 'unknown_word') return 'unknown_word'
  const { transaction } = payment
  const currencies = all.length > 0 ? all.map(({ currency }) => currency) : [transaction.currency]
  if (!currencies.includes(row.currency)) return 'other_currency'
  if (differs && units.length > 0) return 'other_amount'
  if (units.length === 0) return withoutUnit(row, all, payment)
  if (units.some(({ movement }) => movement?.kind === 'refused_paid') && isRefused(payment))
    return 'refused_paid'
  const isLate = UNPAID_ENDS.includes(transaction.status) && heldAmount(payment) > 0
  return isLate && row.type !== 'refund_failed' ? 'late' : 'same'
}

/** Money that was refused and later taken is no longer refused. */
const isRefused = ({ movements }: KnownPayment): boolean =>
  movements
    .filter(({ kind }) => kind === 'refused_paid')
    .reduce((sum, { amount }) => sum + amount, 0) > 0

function withoutUnit(row: SettledRow, all: readonly Unit[], payment: KnownPayment): SettledAs {
  if (row.type === 'payment') {
    if (all.length > 0) return 'twice'
    return row.amount === payment.transaction.amount ? 'paid_there' : 'other_amount'
  }
  const named = namedBy(row, payment)
  const own = all.filter(mayBe(row, named))
  if (named ? own.length > 0 : own.some(isEqual(row))) return 'twice'
  return row.type === 'refund' ? 'refunded_there' : 'refund_failed'
}
