// What a search for payments finds: any part of what the shop named, however it is written, and the
// beginning or the end of an id. Pure. The database holds texts that `fold` made: with another
// `fold`, they have to be built anew.

import type { TransactionRow } from './rows.ts'
import type { Metadata } from './types.ts'

/** A shorter text is found by its beginning: in the middle of others it would be everywhere. */
const PART_CHARS = 3

/**
 * A text without what people leave out or write in another way: letters and digits only, of one
 * case, digits as 0 to 9. Marks are left out, too, and each character is folded by itself: so a
 * part of a text is always a part of the folded text.
 */
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    // Only so are the two small sigmas one letter, and the sharp s two.
    .toLowerCase()
    .toUpperCase()
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll(FOREIGN_DIGIT, asciiDigit)

const FOREIGN_DIGIT = /[^\P{Nd}0-9]/gu

/** The digits of a script follow each other, from its zero on. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return String((code - zero) % 10)
}

type Named = Pick<TransactionRow, 'reference' | 'description' | 'metadata'>

/**
 * Everything of a payment that is found by any part of it: a line each, the reference first. No
 * folded text has a line break.
 */
export function searchText({ reference, description, metadata }: Named): string {
  const values = Object.values((JSON.parse(metadata ?? '{}') as Metadata | null) ?? {})
  const texts = values.filter((value) => typeof value === 'string' || typeof value === 'number')
  const named = [reference, description ?? '', ...texts.map(String)]
  return `\n${named.map(fold).join('\n')}\n`
}

export interface Search {
  /** Finds a text, by GLOB. Undefined: nothing but separators was typed. */
  pattern?: string
  /** Beginnings of an id: as it was typed, and in one case. */
  beginnings: readonly string[]
  /** The end of an id, in small letters. */
  end?: string
}

/** Undefined: nothing was typed. */
export function searchOf(q: string): Search | undefined {
  const typed = q.normalize('NFKC').replaceAll(FOREIGN_DIGIT, asciiDigit).trim()
  if (typed === '') return undefined
  const folded = fold(q)
  const beginnings = [...new Set([typed, typed.toLowerCase(), typed.toUpperCase()])]
  if (folded === '') return { beginnings }
  // GLOB's own characters are no letters and no digits.
  if ([...folded].length < PART_CHARS) return { beginnings, pattern: `*\n${folded}*` }
  return { beginnings, pattern: `*${folded}*`, end: typed.toLowerCase() }
}
