// A gateway's settlement file as rows of money: what was paid there, what was given back, and what
// came back of that. Pure.

import { CURRENCY } from '../../worker/payments/domain/money.ts'
import type { SettledRow as AskedRow } from '../../worker/payments/domain/types.ts'
import {
  type AmountText,
  amountIn,
  amountOf,
  type DecimalSign,
  decimalSignsOf,
  isOfUnknownSign,
} from './amounts.ts'
import {
  type ColumnMap,
  type Columns,
  columnsFound,
  findColumns,
  isNothing,
  refundedColumn,
} from './columns.ts'
import { type DateOrder, dateOrderOf, dayIn } from './dates.ts'
import { type Kept, keptIn } from './payouts.ts'
import { type Cells, classify, type MoneyType, type Row, type UnknownWord } from './rows.ts'
import { brief, type Encoding, type Line, readTable } from './table.ts'
import { OPTIONS, type Ways } from './typed.ts'
import type { Words } from './words.ts'

export interface Reading {
  map?: ColumnMap
  words?: Words
  encoding?: Encoding
  delimiter?: string
  decimal?: DecimalSign
  dates?: DateOrder
  /** For a file without a column of it. */
  currency?: string
}

/** A row of the file: its names, amount and currency as the edge is asked about them. */
export interface FileRow extends AskedRow {
  type: MoneyType
  line: number
  /** `2026-11-27`, as the file has it. */
  day?: string
  /** What was given back of this payment, minor units. */
  refunded?: number
  /** The gateway's id of the payout that has it. */
  payout?: string
}

export interface Settlement {
  rows: FileRow[]
  unreadable: { line: number; why: string }[]
  /** Rows whose word of type or state is in no list. */
  unknown: UnknownWord[]
  chargebacks: { line: number; amount: number; currency: string }[]
  /** Sums, fees and payouts. */
  skipped: number
  /** Rows whose money did not come. */
  unpaid: number
  /** What the gateway paid out, and kept. */
  kept: Kept
  /** From the first row of a payment to the last, those that did not come too. */
  days?: { first: string; last: string }
}

export type SettlementRead =
  | { ok: true; settlement: Settlement }
  /** It can be read in more than one way, or in none. */
  | { ok: false; needs: 'map' | 'decimal' | 'dates' | 'currency' | 'refunded'; message: string }

export function readSettlement(
  bytes: Uint8Array,
  reading: Reading = {},
  ways: Ways = OPTIONS,
): SettlementRead {
  const { map = {}, words = {}, currency: own = '' } = reading
  const lines = readTable(bytes, reading, (beginning) => columnsFound(beginning, map))
  const columns = findColumns(lines, map, ways.columns)
  if (typeof columns === 'string') return { ok: false, needs: 'map', message: columns }
  if (columns.at.currency === undefined && own === '') {
    const message =
      `There is no column of currency: name it ${ways.map('currency=…')}, or if all rows have ` +
      `the same one, give that ${ways.currency}, such as IQD.`
    return { ok: false, needs: 'currency', message }
  }
  const refunded = refundedColumn(columns, ways.map)
  if (typeof refunded === 'string') return { ok: false, needs: 'refunded', message: refunded }
  const rows = columns.rows.map((line) => rowOf(line, columns, refunded, own))
  const classed = classify(rows, words)
  const money = [...classed.money, ...classed.chargebacks]
  const amounts = money
    .flatMap((row) => amountsIn(row))
    .filter(({ currency: of }) => CURRENCY.test(of))
  const signs = reading.decimal === undefined ? decimalSignsOf(amounts) : undefined
  if (signs && 'twofold' in signs) {
    return { ok: false, needs: 'decimal', message: bothWays(signs.twofold, ways) }
  }
  const texts = [...money, ...classed.unpaid].flatMap(({ cells: { date } }) => date ?? [])
  const dates = reading.dates ?? dateOrderOf(texts)
  if (!dates) return { ok: false, needs: 'dates', message: eitherDay(texts, ways) }
  const signOf = (currency: string) => reading.decimal ?? signs?.of.get(currency) ?? '.'
  const how = { signOf, dates }
  const wrong = money.find(({ cells, currency }) => isNoAmount(cells.refunded, currency, how))
  if (wrong && refunded !== undefined) {
    const message =
      `The column ${refunded.name} has "${brief(wrong.cells.refunded ?? '')}" in line ` +
      `${wrong.line}, which is no amount in ${brief(wrong.currency)}. If it has no amounts, say ` +
      `so ${ways.map('refunded=none')}.`
    return { ok: false, needs: 'refunded', message }
  }
  return { ok: true, settlement: settlementOf(classed, how) }
}

interface How {
  signOf: (currency: string) => DecimalSign
  dates: DateOrder
}

function rowOf(
  line: Line,
  { at, money }: Columns,
  refunded: { at: number } | undefined,
  own: string,
): Row {
  const places = { ...at, ...(refunded && { refunded: refunded.at }) }
  const entries = Object.entries(places).map(([field, index]) => [field, line.cells[index]])
  const cells: Cells = Object.fromEntries(entries.filter(([, text]) => text))
  if (isNothing(cells.refunded ?? '')) delete cells.refunded
  const pair = money.find(({ amount }) => line.cells[amount]) ?? money[0]
  const currency = pair?.currency === undefined ? own : (line.cells[pair.currency] ?? '')
  const used = Object.values(places)
  const { id, ours, reference } = cells
  // Only a row without a name is known by what it is called.
  const isNamed = (id ?? ours ?? reference) !== undefined
  return {
    line: line.line,
    cells,
    texts: isNamed ? [] : line.cells.filter((text, n) => text !== '' && !used.includes(n)),
    text: line.cells[pair?.amount ?? 0] ?? '',
    currency: currency.toUpperCase(),
    isBroken: line.isBroken,
  }
}

const amountsIn = ({ text, cells, currency }: Row): AmountText[] =>
  [text, cells.refunded ?? ''].filter(Boolean).map((each) => ({ text: each, currency }))

function bothWays(amounts: readonly AmountText[], { decimal }: Ways): string {
  const isTwofold = (each: AmountText) => amountIn(each, '.') !== amountIn(each, ',')
  const { text } = amounts.find(isTwofold) ?? { text: '' }
  return `Are there decimals in ${brief(text)}? Say it ${decimal} .`
}

function eitherDay([text = '']: readonly string[], { dates }: Ways): string {
  const [day, other] = [dayIn(text, 'dmy'), dayIn(text, 'mdy')]
  return `Is ${brief(text)} ${day} or ${other}? Say it ${dates}.`
}

const isNoAmount = (text: string | undefined, currency: string, { signOf }: How): boolean =>
  text !== undefined &&
  CURRENCY.test(currency) &&
  amountOf({ text, currency }, signOf(currency)) === undefined

function settlementOf(
  { money, chargebacks, unknown, unpaid, own, skipped }: ReturnType<typeof classify>,
  how: How,
): Settlement {
  const settlement: Settlement = {
    rows: [],
    unreadable: [],
    unknown,
    chargebacks: [],
    skipped,
    unpaid: unpaid.length,
    kept: keptIn({ money, chargebacks, own }, how.signOf),
  }
  for (const row of money) {
    const read = readRow(row, how)
    if (typeof read === 'string') settlement.unreadable.push({ line: row.line, why: read })
    else settlement.rows.push(read)
  }
  for (const { line, text, currency, isReturned } of chargebacks) {
    const amount = CURRENCY.test(currency)
      ? amountOf({ text, currency }, how.signOf(currency))
      : undefined
    const sum = Math.abs(amount ?? 0)
    if (amount === undefined) {
      settlement.unreadable.push({ line, why: noAmount({ text, currency }) })
    } else settlement.chargebacks.push({ line, amount: isReturned ? sum : -sum, currency })
  }
  settlement.unreadable.sort((a, b) => a.line - b.line)
  const dated = [...money, ...unpaid, ...unknown.map(({ row }) => row)]
  const days = dated
    .flatMap(({ cells: { date } }) => (date === undefined ? [] : (dayIn(date, how.dates) ?? [])))
    .sort()
  const [first, last] = [days[0], days.at(-1)]
  if (first !== undefined && last !== undefined) settlement.days = { first, last }
  return settlement
}

const noAmount = ({ text, currency }: AmountText): string =>
  `${brief(text) || 'nothing'} is no amount in ${brief(currency) || 'no currency'}`

/** As spreadsheets write long numbers: the digits are lost. */
const SCIENTIFIC = /^\d(?:[.,]\d+)?e[+-]?\d+$/i

/** A sentence: why it cannot be read. */
function readRow(
  { line, cells, text, currency, isBroken, kind }: Row & { kind: MoneyType | undefined },
  { signOf, dates }: How,
): FileRow | string {
  const { id, ours, reference, date } = cells
  if (isBroken) return 'its quotes are wrong'
  if (!CURRENCY.test(currency)) return `${brief(currency) || 'nothing'} is no currency`
  const read = (amount: string) => amountOf({ text: amount, currency }, signOf(currency))
  const refunded = Math.abs(
    (kind === undefined || kind === 'payment') && cells.refunded ? (read(cells.refunded) ?? 0) : 0,
  )
  const amount = text === '' ? undefined : read(text)
  // Only what was given back is in the row.
  const isOnlyBack = refunded > 0 && (text === '' || amount === 0)
  if (!isOnlyBack && (amount === undefined || amount === 0)) {
    if (isOfUnknownSign({ text, currency }))
      return `the sign of ${brief(text)} in ${currency} is unknown`
    return noAmount({ text, currency })
  }
  const refund = kind === 'refund' || kind === 'refund_failed' ? cells.refund : undefined
  const names = [id, ours, reference, refund].filter((name) => name !== undefined)
  const spoilt = names.find((name) => SCIENTIFIC.test(name))
  if (spoilt !== undefined) return `${brief(spoilt)} is an id that a spreadsheet has shortened`
  if (names.length === 0) return 'it has no id and no reference'
  const day = date === undefined ? undefined : dayIn(date, dates)
  if (date !== undefined && day === undefined) return `${brief(date)} is no date`
  const isBack = isOnlyBack || ((amount ?? 0) < 0 && kind !== 'refund_failed')
  return {
    line,
    type: isBack ? 'refund' : (kind ?? 'payment'),
    ...(id !== undefined && { id }),
    ...(ours !== undefined && { ours }),
    ...(reference !== undefined && { reference }),
    ...(refund !== undefined && { refund }),
    amount: isOnlyBack ? refunded : Math.abs(amount ?? 0),
    currency,
    ...(day !== undefined && { day }),
    ...(refunded > 0 && !isBack && { refunded }),
    ...(cells.payout !== undefined && { payout: cells.payout }),
  }
}
