// A gateway's settlement file as rows of money: what was paid there, and what was given back. Pure.

import { CURRENCY } from '../../worker/payments/domain/money.ts'
import { type AmountText, amountIn, type DecimalSign, decimalSignOf } from './amounts.ts'
import { type ColumnMap, type Field, findColumns } from './columns.ts'
import { type DateOrder, dateOrderOf, dayIn } from './dates.ts'
import { type Encoding, type Line, readTable } from './table.ts'

export interface Reading {
  map?: ColumnMap
  encoding?: Encoding
  delimiter?: string
  decimal?: DecimalSign
  dates?: DateOrder
  /** For a file without a column of it. */
  currency?: string
}

/** What one row says. */
export interface SettledRow {
  line: number
  type: 'payment' | 'refund'
  id?: string
  ours?: string
  reference?: string
  /** Minor units, above 0. */
  amount: number
  currency: string
  /** `2026-11-27`, as the file has it. */
  day?: string
}

export interface Settlement {
  rows: SettledRow[]
  unreadable: { line: number; why: string }[]
  /** The same id, type, amount and date as the row of line `first`. */
  twice: { row: SettledRow; first: number }[]
  /** Sums, and rows of other kinds, such as fees and payouts. */
  skipped: number
}

export type SettlementRead =
  | { ok: true; settlement: Settlement }
  /** It can be read in more than one way, or in none. */
  | { ok: false; needs: 'map' | 'decimal' | 'dates' | 'currency'; message: string }

/** Undefined where the row has nothing there. */
type Cells = Partial<Record<Field, string>>
interface Row extends AmountText {
  line: number
  cells: Cells
  isBroken: boolean
}

export function readSettlement(bytes: Uint8Array, reading: Reading = {}): SettlementRead {
  const { map = {}, currency: own = '' } = reading
  const columns = findColumns(readTable(bytes, reading), map)
  if (typeof columns === 'string') return { ok: false, needs: 'map', message: columns }
  const { at, rows: lines } = columns
  if (at.currency === undefined && own === '') {
    const message =
      'There is no column of currency: name it with --map currency=…, or if all rows have the ' +
      'same one, give that with --currency, such as IQD.'
    return { ok: false, needs: 'currency', message }
  }
  const found = lines.map((line): Row => {
    const entries = Object.entries(at).map(([field, index]) => [field, line.cells[index]])
    const cells: Cells = Object.fromEntries(entries.filter(([, text]) => text))
    const currency = (at.currency === undefined ? own : (cells.currency ?? '')).toUpperCase()
    return { line: line.line, cells, text: cells.amount ?? '', currency, isBroken: line.isBroken }
  })
  const rows = found.filter((row, n) => !isTotal(row, lines[n]) && typeOf(row.cells) !== 'other')
  const money = rows.filter(({ currency }) => CURRENCY.test(currency))
  const decimal = reading.decimal ?? decimalSignOf(money)
  if (!decimal) return { ok: false, needs: 'decimal', message: bothWays(money) }
  const texts = rows.flatMap(({ cells: { date } }) => date ?? [])
  const dates = reading.dates ?? dateOrderOf(texts)
  if (!dates) {
    const [text = ''] = texts
    const [day, other] = [dayIn(text, 'dmy'), dayIn(text, 'mdy')]
    const message = `Is ${text} ${day} or ${other}? Say it with --dates dmy or --dates mdy.`
    return { ok: false, needs: 'dates', message }
  }
  const skipped = lines.length - rows.length
  return { ok: true, settlement: sorted(rows, { decimal, dates }, skipped) }
}

function bothWays(amounts: readonly AmountText[]): string {
  const isTwofold = (each: AmountText) => amountIn(each, '.') !== amountIn(each, ',')
  const { text } = amounts.find(isTwofold) ?? { text: '' }
  return `Are there decimals in ${text}? Say it with --decimal , or --decimal .`
}

function sorted(
  rows: readonly Row[],
  how: { decimal: DecimalSign; dates: DateOrder },
  skipped: number,
): Settlement {
  const settlement: Settlement = { rows: [], unreadable: [], twice: [], skipped }
  const known = new Map<string, number>()
  for (const row of rows) {
    const read = readRow(row, how)
    if (typeof read === 'string') {
      settlement.unreadable.push({ line: row.line, why: read })
      continue
    }
    const { id, ours, reference, type, amount, currency } = read
    const key = JSON.stringify([id ?? ours ?? reference, type, amount, currency, row.cells.date])
    const first = known.get(key)
    if (first === undefined) known.set(key, row.line)
    if (first === undefined) settlement.rows.push(read)
    else settlement.twice.push({ row: read, first })
  }
  return settlement
}

/** As spreadsheets write long numbers: the digits are lost. */
const SCIENTIFIC = /^\d(?:[.,]\d+)?e[+-]?\d+$/i

/** A sentence: why it cannot be read. */
function readRow(
  { line, cells, text, currency, isBroken }: Row,
  { decimal, dates }: { decimal: DecimalSign; dates: DateOrder },
): SettledRow | string {
  const { id, ours, reference, date } = cells
  if (isBroken) return 'its quotes are wrong'
  if (!CURRENCY.test(currency)) return `${currency || 'nothing'} is no currency`
  const amount = amountIn({ text, currency }, decimal)
  if (amount === undefined || amount === 0)
    return `${text || 'nothing'} is no amount in ${currency}`
  const names = [id, ours, reference].filter((name) => name !== undefined)
  const spoilt = names.find((name) => SCIENTIFIC.test(name))
  if (spoilt !== undefined) return `${spoilt} is an id that a spreadsheet has shortened`
  if (names.length === 0) return 'it has no id and no reference'
  const day = date === undefined ? undefined : dayIn(date, dates)
  if (date !== undefined && day === undefined) return `${date} is no date`
  const isBack = amount < 0 || typeOf(cells) === 'refund'
  return {
    line,
    type: isBack ? 'refund' : 'payment',
    ...(id !== undefined && { id }),
    ...(ours !== undefined && { ours }),
    ...(reference !== undefined && { reference }),
    amount: Math.abs(amount),
    currency,
    ...(day !== undefined && { day }),
  }
}

const TOTAL =
  /^(grand |sub)?-?(totals?|sums?|summe|المجموع|الإجمالي|إجمالي)\b|^(المجموع|الإجمالي|إجمالي)/i

/** It names no payment, and says that it is a sum. */
const isTotal = ({ cells }: Row, line: Line | undefined): boolean =>
  line?.cells.some((text) => TOTAL.test(text)) === true &&
  [cells.id, cells.ours, cells.reference].every((name) => name === undefined || TOTAL.test(name))

/** A refund that failed is in no list of what we have to compare. */
const OTHER = /payout|transfer|\bfees?\b|^fee|topup|top_up|adjustment|failure|dispute|chargeback/i

function typeOf({ type = '' }: Cells): 'payment' | 'refund' | 'other' {
  if (OTHER.test(type)) return 'other'
  return /refund|revers|استرجاع|إرجاع|استرداد/i.test(type) ? 'refund' : 'payment'
}
