// What a search for payments finds: any part of what the shop named, however it is written, and the
// beginning or the end of an id. Pure.

import { asciiDigits, fold } from './fold.ts'
import { isAmount, toMinor } from './money.ts'

/** A shorter text is found by its beginning: in the middle of others it would be everywhere. */
const PART_CHARS = 3

/** An amount that was typed: in minor units of currencies with so many decimals. */
type TypedAmount = Readonly<Partial<Record<number, number>>>

export interface Search {
  /** A text has all of them, by GLOB, the longest first. Empty: only separators were typed. */
  patterns: readonly string[]
  /** Beginnings of an id: as it was typed, and in one case. */
  beginnings: readonly string[]
  /** The end of an id, in small letters. */
  end?: string
  /** A text of digits may be an amount, and `25,000` two of them. */
  amounts: readonly TypedAmount[]
}

/** Undefined: nothing was typed. */
export function searchOf(q: string): Search | undefined {
  const typed = asciiDigits(q.normalize('NFKC')).trim()
  if (typed === '') return undefined
  const folded = fold(q)
  const beginnings = [...new Set([typed, typed.toLowerCase(), typed.toUpperCase()])]
  const amounts = amountsIn(typed)
  if (folded === '') return { beginnings, patterns: [], amounts }
  // GLOB's own characters are no letters and no digits.
  if (lengthOf(folded) < PART_CHARS) return { beginnings, patterns: [`*\n${folded}*`], amounts }
  const patterns = wordsIn(q).map((word) => `*${word}*`)
  return { beginnings, patterns, end: typed.toLowerCase(), amounts }
}

/** `typed`: with the digits 0 to 9. Separators are a comma, a point or a space, or Arabic ones. */
function amountsIn(typed: string): TypedAmount[] {
  const text = typed.replaceAll('٫', ',').replaceAll('٬', '.')
  if (!/^\d+(?:[.,’' ]\d+)*$/.test(text) || text.length > MAX_AMOUNT_CHARS) return []
  const parts = text.split(/[.,’' ]/)
  const isGrouped = parts.slice(1).every((part) => part.length === 3)
  const [fraction = ''] = parts.slice(1).slice(-1)
  const readings = [
    ...(isGrouped ? [parts.join('')] : []),
    ...(parts.length > 1 && fraction.length <= 3
      ? [`${parts.slice(0, -1).join('')}.${fraction}`]
      : []),
  ]
  return [...new Set(readings)].map((reading) =>
    Object.fromEntries(
      Object.entries(CURRENCY_OF).flatMap(([decimals, currency]) => {
        const amount = toMinor(reading, currency)
        return isAmount(amount) ? [[decimals, amount]] : []
      }),
    ),
  )
}

/** 15 digits and their separators. */
const MAX_AMOUNT_CHARS = 24
/** One with so many decimals. */
const CURRENCY_OF = { 0: 'JPY', 2: 'EUR', 3: 'KWD' } as const

/** More would only take longer. */
const MAX_WORDS = 8

/**
 * Each word is found by itself, in any order: a reference may have a year between two of them. A
 * text that has the whole has each word, too. Of short words alone only the whole is a part.
 */
function wordsIn(q: string): string[] {
  const folded = q.split(/\s+/).map(fold)
  const words = [...new Set(folded)].toSorted((a, b) => lengthOf(b) - lengthOf(a))
  const [longest = ''] = words
  if (lengthOf(longest) < PART_CHARS) return [fold(q)]
  return words.filter((word) => word !== '').slice(0, MAX_WORDS)
}

const lengthOf = (text: string): number => [...text].length
