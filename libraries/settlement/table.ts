// A settlement file as a table of texts: its encoding, delimiter and quotes are those that it
// shows, unless they are given.

import Papa from 'papaparse'

export const ENCODINGS = ['utf-8', 'windows-1252', 'windows-1256'] as const
export type Encoding = (typeof ENCODINGS)[number]

export interface Line {
  /** The file's line, from 1. */
  line: number
  cells: readonly string[]
  /** Its quotes are wrong, so its cells may be those of several lines. */
  isBroken: boolean
}

const SHOWN_CHARS = 200

/** What a sentence quotes of a file. A cell may be as long as the file, and any rubbish. */
export const brief = (text: string): string =>
  text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS - 1).toWellFormed()}…` : text

const DELIMITERS = [',', ';', '\t', '|']

/** What is read to find the delimiter: titles, the names of the columns, and a few rows. */
const BEGINNING = { chars: 1 << 16, lines: 60 }

/**
 * No line is left out but those without any text. The delimiter is the one by which `columnsOf`
 * finds most columns: decimal commas and titles above would mislead a count of signs.
 */
export function readTable(
  bytes: Uint8Array,
  given: { encoding?: Encoding; delimiter?: string },
  columnsOf: (lines: readonly Line[]) => number,
): Line[] {
  const text = decode(bytes, given.encoding)
  if (given.delimiter !== undefined) return linesOf(text, given.delimiter)
  const beginning = text.slice(0, BEGINNING.chars)
  const found = DELIMITERS.map((sign) => columnsOf(linesOf(beginning, sign, BEGINNING.lines)))
  const most = Math.max(...found)
  return linesOf(text, most > 0 ? (DELIMITERS[found.indexOf(most)] ?? '') : '')
}

/** A spreadsheet writes `="0001"` so that the zeros stay. */
const FORMULA = /^="(.*)"$/s

/** Without a delimiter, the parser guesses it. */
function linesOf(text: string, delimiter: string, preview = 0): Line[] {
  const { data, errors } = Papa.parse<string[]>(text, { delimiter, preview })
  const broken = new Set(errors.flatMap(({ type, row }) => (type === 'Quotes' ? [row] : [])))
  let line = 1
  return data.flatMap((texts, at) => {
    const cells = texts.map((cell) => cell.trim().replace(FORMULA, '$1').trim())
    const read = { line, cells, isBroken: broken.has(at) }
    line += 1 + texts.reduce((sum, text) => sum + (text.match(/\r\n|\r|\n/g)?.length ?? 0), 0)
    return cells.some(Boolean) ? [read] : []
  })
}

function decode(bytes: Uint8Array, encoding?: Encoding): string {
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes)
  const [first = 0, second = 0] = bytes
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  // Excel's "Unicode text".
  if (isWide) return new TextDecoder(first === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes)
  const zeros = zerosIn(bytes)
  // No text of another encoding has a zero.
  if (zeros.even + zeros.odd > 0) {
    return new TextDecoder(zeros.odd >= zeros.even ? 'utf-16le' : 'utf-16be').decode(bytes)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder(isArabic(bytes) ? 'windows-1256' : 'windows-1252').decode(bytes)
  }
}

/** In UTF-16 without a mark, one half of each sign of ASCII. */
function zerosIn(bytes: Uint8Array): { even: number; odd: number } {
  const zeros = { even: 0, odd: 0 }
  for (const [at, byte] of bytes.subarray(0, BEGINNING.chars).entries()) {
    if (byte === 0) zeros[at % 2 === 0 ? 'even' : 'odd']++
  }
  return zeros
}

/** Words of Arabic are made of high bytes only; in those of Latin, such letters stand alone. */
function isArabic(bytes: Uint8Array): boolean {
  let [alone, together] = [0, 0]
  for (const [at, byte] of bytes.entries()) {
    if (byte < 0xc0) continue
    const isBeside = (bytes[at - 1] ?? 0) >= 0xc0 || (bytes[at + 1] ?? 0) >= 0xc0
    if (isBeside) together++
    else alone++
  }
  return together > alone
}
