// A comparison of a settlement as text: what differs, how many rows are of each class, and the sums
// of both sides.

import {
  CLASSES,
  type ComparedRow,
  type Comparison,
  isDifference,
} from '../../libraries/settlement/compare.ts'
import type { Sum } from '../../libraries/settlement/sums.ts'
import { brief } from '../../libraries/settlement/table.ts'
import { majorText } from '../../worker/payments/domain/money.ts'
import { printable } from '../../worker/shared/printable.ts'

const NAMES: Record<ComparedRow['class'], string> = {
  unreadable: 'unreadable',
  unknown_word: 'of an unknown word',
  not_ours: 'not ours',
  other_currency: 'other currency',
  other_amount: 'other amount',
  paid_there: 'paid there and not here',
  refunded_there: 'refunded there and not here',
  refund_failed: 'refund failed there and not here',
  refused_paid: 'paid, and refused here for its amount',
  late: 'late: paid after it had ended',
  twice: 'twice: more rows than movements here',
  same: 'the same',
  here_only: 'here and not there',
}

const SUMS: Record<Sum['kind'], string> = {
  paid: 'paid',
  refunded: 'refunded',
  refund_failed: 'refunds that failed',
  chargebacks: 'chargebacks',
  fees: 'fees',
  paid_out: 'paid out',
}

export function comparisonText(comparison: Comparison): string {
  const { rows, counts, words, sums } = comparison
  // An unknown word is listed once, not with each row.
  const different = rows.filter((each) => isDifference(each) && each.class !== 'unknown_word')
  const head = ['line', 'difference', 'payment', 'there', 'here', '']
  const classes = CLASSES.filter((name) => counts[name] > 0).map(
    (name) => `${counts[name]} ${NAMES[name]}`,
  )
  const parts = [
    different.length > 0 ? `${tableOf([head, ...different.map(cellsOf)])}\n` : '',
    words.length > 0 ? `${words.map(wordText).join('')}\n` : '',
    `${classes.join(', ') || 'no row of money'} (${aroundText(comparison)})\n`,
    sums.length > 0
      ? `\n${tableOf([['', '', 'there', 'here', 'difference'], ...sums.map(sumCells)])}`
      : '',
  ]
  return parts.join('')
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)),
    [],
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return `${rows.map(line).join('\n')}\n`
}

function wordText({ word, column, rows }: Comparison['words'][number]): string {
  const taught = `--words '${word}=payment', or refund, or none`
  return printable(`${rows} of the unknown ${column} "${word}": teach it with ${taught}`).concat(
    '\n',
  )
}

function aroundText({ days, skipped, unpaid, chargebacks }: Comparison): string {
  const undated = 'without dates (--map date=…) what it lacks is not known'
  const span = days ? `${days.first} to ${days.last}` : undated
  const left = [
    ...(skipped > 0 ? [`${skipped} of sums, fees and payouts`] : []),
    ...(chargebacks > 0 ? [`${chargebacks} of chargebacks`] : []),
    ...(unpaid > 0 ? [`${unpaid} whose money did not come`] : []),
  ]
  return left.length > 0 ? `${span}; left out: ${left.join(', ')}` : span
}

function cellsOf({ class: name, line, first, why, row, ours, movement }: ComparedRow): string[] {
  const named = brief(row?.reference ?? row?.id ?? row?.ours ?? row?.refund ?? '')
  const payment = ours?.reference ?? (named || movement?.reference)
  const there = row && text(row.type === 'refund' ? -row.amount : row.amount, row.currency)
  const has = ours?.amount !== undefined && ours.currency !== undefined
  const here = has ? `${text(ours.amount ?? 0, ours.currency ?? '')} ${ours.status}` : ''
  const booked = movement && `${movement.amount} ${movement.currency} ${movement.kind}`
  const id = ours?.transactionId ?? movement?.transactionId
  const more = why ?? (first === undefined ? id : `as line ${first}`)
  return [line ?? '', NAMES[name], payment ?? '', there ?? '', booked ?? here, more ?? '']
    .map(String)
    .map(printable)
}

const sumCells = ({ kind, currency, there, here }: Sum): string[] => [
  SUMS[kind],
  currency,
  majorText(there, currency),
  here === undefined ? '' : majorText(here, currency),
  here === undefined || here === there ? '' : majorText(there - here, currency),
]

const text = (amount: number, currency: string) => `${majorText(amount, currency)} ${currency}`
