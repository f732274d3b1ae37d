// The second column of a settlement file that has money: what was given back of the payment in the
// same row. Left unread, it would hide refunds.

import type { Columns } from './columns.ts'
import { brief } from './table.ts'
import type { Ways } from './typed.ts'

/** Nothing was given back. */
const NOTHING = /^(?:no|non|nein|nee|nie|hayır|لا|false|n\/a|none|null|[^\d\p{L}]*)$/iu
const ZERO = /^(?:[a-z]{3})?[^\d\p{L}]*0+(?:[.,]0*)?[^\d\p{L}]*(?:[a-z]{3})?$/iu

export const isNothing = (text: string): boolean => NOTHING.test(text) || ZERO.test(text)

/** A sentence: which columns it may be. Undefined: there is none with money in it. */
export function refundedColumn(
  { at, maybeRefunded, rows }: Columns,
  ways: Ways,
): { at: number; name: string } | string | undefined {
  if (at.refunded !== undefined) return { at: at.refunded, name: 'of refunded' }
  const filled = maybeRefunded.filter((column) =>
    rows.some(({ cells }) => !isNothing(cells[column.at] ?? '')),
  )
  const [first] = filled
  if (first === undefined || (filled.length === 1 && first.isKnown)) return first
  const names = brief(filled.map(({ name }) => name).join(', '))
  return (
    `There may be refunds in the ${filled.length > 1 ? 'columns' : 'column'} ${names}. ` +
    `Say which ${ways.map('refunded=…')}, or that it has none ${ways.map('refunded=none')}.`
  )
}
