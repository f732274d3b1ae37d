// What was paid, beside what was asked for. Pure.

import type { Transaction } from '../../worker/payments/domain/transaction.ts'

/** Paid, and with another amount or currency than was asked for. */
export const isOther = ({ amount, currency, paid }: Transaction): boolean =>
  paid !== undefined && (paid.amount !== amount || paid.currency !== currency)
