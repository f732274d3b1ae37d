// The text of a file: how much of it is published, and the YAML front matter between `---` fences
// that two of the layouts begin a markdown file with. No I/O.

import { TEXT_BYTES } from '../../worker/board/wire.ts'
import { Fields } from './fields.ts'
import { readYamlMap, YAML_BYTES } from './yaml.ts'

interface FrontMatter {
  /** Empty when the front matter cannot be read. */
  fields: Fields
  /** What follows the front matter; cut. Undefined when the file is not text. */
  body?: string
  /** Why there are no fields, in one sentence. */
  invalid?: string
}

const OPENING = /^\ufeff?---[ \t]*\r?\n/
const CLOSING = /^---[ \t]*\r?$/gm

/**
 * Reads the file's text; tolerates a byte order mark and CRLF. Never throws. `mend`: what a tool
 * changes in the YAML before it reads it; no line may come or go.
 */
export function readFrontMatter(text: string, mend = (yaml: string): string => yaml): FrontMatter {
  const why = whyNoText(text)
  if (why !== undefined) return unread(why)
  const opening = OPENING.exec(text)
  if (!opening) return unread('The file does not begin with a "---" line of front matter.', text)
  const start = opening[0].length
  CLOSING.lastIndex = start
  const closing = CLOSING.exec(text)
  if (!closing) return unread('The front matter has no closing "---" line.', text)

  const body = text.slice(CLOSING.lastIndex).replace(/^\n/, '')
  if (closing.index - start > YAML_BYTES) {
    return unread('The front matter is larger than 256 KiB.', body)
  }
  const yaml = readYamlMap(mend(text.slice(start, closing.index)), 2)
  if (!yaml.ok) return unread(`The front matter is not valid YAML: ${yaml.why}.`, body)
  return { fields: new Fields(yaml.fields, yaml.problems), body: limitText(body) }
}

/** Why a file holds nothing to read, in one sentence; undefined when it may. */
export function whyNoText(text: string): string | undefined {
  if (text.trim() === '') return 'The file is empty.'
  return text.includes('\0') ? 'The file is not text: it holds NUL bytes.' : undefined
}

function unread(invalid: string, body?: string): FrontMatter {
  const fields = new Fields(new Map())
  return body === undefined ? { fields, invalid } : { fields, invalid, body: limitText(body) }
}

/** The lines that git puts around two versions; `=======` alone underlines a heading. */
const MARKER_OR_FENCE = /^(?:[ \t]*(?:```|~~~)|(?:<{7}|>{7})(?: .*)?$)/gm

/** The line of the first marker of a merge conflict. In Markdown a code fence may show one. */
export function conflictLine(text: string, has: { hasFences: boolean }): number | undefined {
  if (!text.includes('<<<<<<<') && !text.includes('>>>>>>>')) return undefined
  let isFenced = false
  for (const { 0: found, index } of text.matchAll(MARKER_OR_FENCE)) {
    const isMarker = found.startsWith('<') || found.startsWith('>')
    if (isMarker && !isFenced) return lineAt(text, index)
    if (!isMarker && has.hasFences) isFenced = !isFenced
  }
  return undefined
}

/** Counted, not split: of 32 MiB of line breaks the list of lines alone took two seconds. */
function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = 0; at < index; at++) if (text.charCodeAt(at) === LINE_FEED) line++
  return line
}
const LINE_FEED = 0x0a

const encoder = new TextEncoder()

/**
 * Text of at most TEXT_BYTES of UTF-8. A longer one is cut, with a last line that says so. `clean`
 * changes what is kept, and may make it longer again.
 */
export function limitText(text: string, clean = (kept: string): string => kept): string {
  const bytes = Buffer.byteLength(text)
  const cleaned = clean(beginningOf(text))
  const kept = beginningOf(cleaned)
  if (bytes <= TEXT_BYTES && kept === cleaned) return kept
  return `${kept}\n[signalbox: cut at ${sizeText(TEXT_BYTES)} of ${sizeText(bytes)}]`
}

/** Its first TEXT_BYTES. encodeInto stops at a character's end, so none is cut in half. */
function beginningOf(text: string): string {
  if (Buffer.byteLength(text) <= TEXT_BYTES) return text
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(TEXT_BYTES)).read)
}

/** Whether a text was cut: what limitText leaves of a longer one is longer than any that fits. */
export const isCut = (text: string | undefined): boolean =>
  text !== undefined && Buffer.byteLength(text) > TEXT_BYTES

/** Bytes for people: `512 KiB`, `20.0 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1 << 20) return `${Math.round(bytes / 1024)} KiB`
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`
}
