// Whose a payment is, and why the search found it. Pure.

import type { Transaction, Unreadable } from '../../libraries/api/types.ts'
import { fold } from '../../worker/payments/domain/fold.ts'
import { decimalsOf } from '../../worker/payments/domain/money.ts'
import { searchOf } from '../../worker/payments/domain/search.ts'
import { isUnreadable } from './story.ts'

/** Where shops write who pays, the best first. */
const CUSTOMER = ['name', 'customer_name', 'email', 'customer_email'] as const

/** As the shop gave it. */
export function customerOf({ metadata = {} }: Pick<Transaction, 'metadata'>): string | undefined {
  const given = CUSTOMER.map((name) => metadata[name])
  return given.find((value) => typeof value === 'string' && value.trim() !== '')?.toString()
}

const AMOUNT = 'Amount'
const PAID_AMOUNT = 'Paid amount'
const AMOUNTS: ReadonlySet<string | undefined> = new Set([AMOUNT, PAID_AMOUNT])

/** What of it the search found: `Number`, `Customer`, `Amount`. Undefined: nothing was typed. */
export function whyFound(row: Transaction, q: string): string | undefined {
  const search = searchOf(q)
  if (!search) return undefined
  const words = search.patterns.map((pattern) => pattern.replaceAll('*', ''))
  const texts = [
    ['Number', row.reference],
    ['Description', row.description ?? ''],
    ...Object.entries(row.metadata ?? {}).map(
      ([name, value]) => [nameOf(name), String(value)] as const,
    ),
  ] as const
  const has = (text: string, word: string) => `\n${fold(text)}\n`.includes(word)
  const isWhole = ([, text]: readonly [string, string]) => words.every((word) => has(text, word))
  const whole = words.length > 0 ? texts.find(isWhole) : undefined
  if (whole) return whole[0]
  const found = words.map((word) => texts.find(([, text]) => has(text, word))?.[0])
  if (found.length > 0 && found.every(Boolean)) return [...new Set(found)].join(', ')
  const isOf = (amount: number | undefined, currency: string) =>
    search.amounts.some((typed) => typed[decimalsOf(currency)] === amount)
  if (isOf(row.amount, row.currency)) return AMOUNT
  if (row.paid && isOf(row.paid.amount, row.paid.currency)) return PAID_AMOUNT
  const ids = [row.id, row.gatewayTransactionId, row.externalReferenceId]
  const { beginnings, end = '\n' } = search
  const isId = (id = '') =>
    beginnings.some((text) => id.startsWith(text)) || id.toLowerCase().endsWith(end)
  return ids.some(isId) ? 'Id' : 'Note'
}

/**
 * The only find; or the only one in which what was typed is no amount, if it is its number: that of
 * an order is the amount of others. A part of a longer number, or of a note, is found by chance.
 */
export function singleFind(
  rows: readonly (Transaction | Unreadable)[],
  q: string,
): Transaction | Unreadable | undefined {
  const [first, ...others] = rows
  if (others.length === 0) return first
  const [only, ...more] = rows.filter((row) => isUnreadable(row) || !AMOUNTS.has(whyFound(row, q)))
  return only && more.length === 0 && !isUnreadable(only) && isNumber(only, q) ? only : undefined
}

/** The last digits of its reference. With separators an amount was typed. */
const isNumber = ({ reference }: Transaction, q: string): boolean => {
  const number = reference.split(/\P{Nd}+/u).findLast((digits) => digits !== '') ?? ''
  return /^\p{Nd}+$/u.test(q.trim()) && fold(number) === fold(q)
}

const nameOf = (name: string): string =>
  CUSTOMER.some((known) => known === name) ? 'Customer' : name
