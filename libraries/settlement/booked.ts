// What was booked here on the days of a settlement, and which of it has no row there.

import { dayOf } from '../../worker/payments/domain/days.ts'
import { SETTLED_KINDS } from '../../worker/payments/domain/settlement.ts'
import { DAY_MS } from '../../worker/payments/domain/time.ts'
import type { Movement } from '../api/types.ts'
import { type Books, movementsOf, type Pair, ROWS_AT_ONCE } from './ask-edge.ts'

export interface Booked {
  /** What has no row. */
  missing: Movement[]
  /** What happened on the file's days, or has a row. */
  here: { kind: string; amount: number; currency: string }[]
}

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/**
 * A webhook that came a day late is booked a day late, so the books are read further. Without days,
 * only what has a row is here.
 */
export async function booked(
  days: { first: string; last: string; zone: string } | undefined,
  settled: readonly Pair[],
  books: Books,
): Promise<Booked> {
  const taken = new Set(settled.flatMap(movementsOf))
  const seen = new Set<string>()
  const here: Booked['here'] = []
  const untaken: { movement: Movement; isOnDay: boolean }[] = []
  if (days) {
    const { first, last, zone } = days
    for await (const movement of books.movements(dayAfter(first, -1), dayAfter(last, 3))) {
      const { id, kind, amountMinor: amount, currency, occurredAt } = movement
      const day = dayOf(Date.parse(occurredAt), zone)
      const isOnDay = day >= first && day <= last
      if (taken.has(id)) seen.add(id)
      else untaken.push({ movement, isOnDay })
      if (isOnDay || taken.has(id)) here.push({ kind, amount, currency })
    }
  }
  for (const pair of settled) {
    const ids = movementsOf(pair)
    const { amount = 0, currency = '' } = pair.ours
    if (pair.ours.as === 'twice' || ids.every((id) => seen.has(id))) continue
    const isBack = pair.row.type === 'refund'
    here.push({ kind: KIND_OF[pair.row.type], amount: isBack ? -amount : amount, currency })
  }
  const lone = withoutPairs(untaken).filter(({ isOnDay }) => isOnDay)
  const missing = lone
    .map(({ movement }) => movement)
    .filter(({ kind }) => SETTLED_KINDS.includes(kind))
  return { missing: await withoutFailedSince(missing, taken, books), here }
}

export const KIND_OF = {
  payment: 'paid',
  refund: 'refunded',
  refund_failed: 'refund_failed',
} as const

type Untaken = readonly { movement: Movement; isOnDay: boolean }[]

/**
 * A refund of the file's days that failed, and refused money that was taken back: where neither has
 * a row, nothing is missing. What was before the first day may have a row in an earlier file.
 */
function withoutPairs(untaken: Untaken): Untaken {
  const keyOf = ({ transactionId, refundId, kind }: Movement, amount: number) =>
    [transactionId, refundId, kind === 'refused_paid', amount].join(' ')
  const open = new Map<string, { movement: Movement; isOnDay: boolean }[]>()
  const gone = new Set<object>()
  for (const each of untaken) {
    const { movement, isOnDay } = each
    if (!PAIRED.includes(movement.kind)) continue
    const key = keyOf(movement, movement.amountMinor)
    const earlier = open.get(keyOf(movement, -movement.amountMinor))?.pop()
    if (earlier) for (const one of [earlier, each]) gone.add(one)
    else if (isOnDay) open.set(key, [...(open.get(key) ?? []), each])
  }
  return untaken.filter((each) => !gone.has(each))
}

const PAIRED: readonly string[] = ['refunded', 'refund_failed', 'refused_paid']

/** A refund may have failed after the days that were read: its failure is asked for. */
async function withoutFailedSince(
  missing: readonly Movement[],
  taken: ReadonlySet<string>,
  books: Books,
): Promise<Movement[]> {
  const failed = new Set<Movement>()
  const refunds = missing.filter(({ kind }) => kind === 'refunded')
  for (let at = 0; at < refunds.length; at += ROWS_AT_ONCE) {
    const part = refunds.slice(at, at + ROWS_AT_ONCE)
    const answers = await books.settle(part.map(failureOf))
    for (const [n, { as, movementId = '' }] of answers.entries()) {
      const movement = part[n]
      if (movement && as === 'same' && !taken.has(movementId)) failed.add(movement)
    }
  }
  return missing.filter((movement) => !failed.has(movement))
}

const failureOf = ({ transactionId, refundId, amountMinor, currency }: Movement) => ({
  type: 'refund_failed' as const,
  ours: transactionId,
  ...(refundId !== undefined && { refund: refundId }),
  amount: -amountMinor,
  currency,
})
