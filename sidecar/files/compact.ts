// Strings that take no more memory than they show: what is kept of 100,000 files must not keep the
// texts alive that it was cut from.

import { hash } from 'node:crypto'

/** Where short strings are copied; making a buffer for each would be most of the garbage. */
const scratch = Buffer.alloc(1024)

/** SHA-256, cut to 32 hex digits. Not by `slice`: the cut string would keep the long one alive. */
export function digest(text: string): string {
  scratch.write(hash('sha256', text, 'hex'), 0, 32, 'latin1')
  return scratch.toString('latin1', 0, 32)
}

/**
 * A copy that shares nothing: what a parser returns is often a slice of the file's text, and would
 * keep the whole text in memory for as long as a status lives.
 */
export function compact(text: string): string {
  const isShort = text.length * 3 <= scratch.length
  const copy = isShort
    ? scratch.toString('utf8', 0, scratch.write(text, 'utf8'))
    : Buffer.from(text, 'utf8').toString('utf8')
  // Half a surrogate pair, which an escape in JSON can make, has no UTF-8.
  return copy === text ? copy : text
}

/**
 * One copy for all that ask for the same text. It remembers so many at most, since a broken
 * board could hold another one in every file.
 */
export function interning(most: number): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    if (known.size >= most) known.clear()
    const made = compact(text)
    known.set(made, made)
    return made
  }
}

/** Few statuses, many tasks. */
export const interned = interning(4096)
