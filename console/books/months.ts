// The books of one month as the page shows them: which days it asks for, and the sums of the month.
// Pure.

import type { MovementDay, MovementSum } from '../../libraries/api/types.ts'
import { majorText } from '../../worker/payments/domain/money.ts'

/** `2026-11`, of a date such as `2026-11-27`. */
export const monthOf = (day: string): string => day.slice(0, 7)

export const isMonth = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

/** `by`: months later, or earlier below 0. */
export function monthAfter(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const at = new Date(Date.UTC(year, number - 1 + by, 1))
  return at.toISOString().slice(0, 7)
}

/** The first day, and the one after the last. */
export const spanOf = (month: string) => ({
  after: `${month}-01`,
  before: `${monthAfter(month, 1)}-01`,
})

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}

/** One for each gateway and currency, in their order. */
export function monthSums(days: readonly MovementDay[]): MovementSum[] {
  const all = days.flatMap(({ sums }) => sums)
  const byAccount = Map.groupBy(all, ({ gateway, currency }) => `${gateway} ${currency}`)
  return [...byAccount]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, sums]) => {
      const [first] = sums
      if (!first) return []
      const { gateway, currency } = first
      const textOf = (amountMinor: number) => ({
        amount: majorText(amountMinor, currency),
        amountMinor,
      })
      const total = sums.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
      const kinds: MovementSum['kinds'] = {}
      for (const [name, { count, amountMinor }] of sums.flatMap((sum) => kindsOf(sum))) {
        const before = kinds[name] ?? { count: 0, amountMinor: 0 }
        const amount = textOf(before.amountMinor + amountMinor)
        kinds[name] = { count: before.count + count, ...amount }
      }
      return { gateway, currency, ...textOf(total), kinds }
    })
}

type Kinds = MovementSum['kinds']
type Kind = keyof Kinds
const kindsOf = ({ kinds }: MovementSum) =>
  Object.entries(kinds) as [Kind, NonNullable<Kinds[Kind]>][]
