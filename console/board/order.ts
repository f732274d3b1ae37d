// The order of a column. Pure.

import type { CardData } from './cards.ts'

/**
 * By rank, what has none behind; among equals by id as people count: LAMP-2 stands before LAMP-10.
 * For 20,000 cards with every change, so nothing here asks for the reader's alphabet.
 */
export function compareCards(one: CardData, other: CardData): number {
  const byRank = rankOf(one) - rankOf(other)
  return Number.isNaN(byRank) || byRank === 0 ? compareIds(one.task.id, other.task.id) : byRank
}

/** Two without a rank differ by NaN, which is no difference. */
const rankOf = ({ task }: CardData): number => task.rank ?? Infinity

function compareIds(one: string, other: string): number {
  const [a, b] = [split(one), split(other)]
  if (a.text !== b.text) return a.text < b.text ? -1 : 1
  return a.number - b.number || (one < other ? -1 : Number(one > other))
}

/** `LAMP-10` is LAMP- and 10; `3.2` is `3.` and 2, so that a subtask stands among its like. */
function split(id: string): { text: string; number: number } {
  let start = id.length
  while (start > 0 && isDigit(id.charCodeAt(start - 1))) start--
  const number = start === id.length ? -1 : Number(id.slice(start))
  return { text: id.slice(0, start), number }
}

const isDigit = (code: number) => code >= 48 && code <= 57
