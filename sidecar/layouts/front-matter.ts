// A markdown file with YAML front matter between `---` fences, as two of the layouts use it.
// No I/O.

import { Fields } from './fields.ts'
import { limitText } from './text-limit.ts'
import { readYamlMap, YAML_BYTES } from './yaml-map.ts'

export interface FrontMatter {
  /** Empty when the front matter cannot be read. */
  fields: Fields
  /** What follows the front matter; cut. Undefined when the file is not text. */
  body?: string
  /** Why there are no fields, in one sentence. */
  invalid?: string
}

const OPENING = /^\ufeff?---[ \t]*\r?\n/
const CLOSING = /^---[ \t]*\r?$/gm

/** Reads the file's text; tolerates a byte order mark and CRLF. Never throws. */
export function readFrontMatter(text: string): FrontMatter {
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
  const yaml = readYamlMap(text.slice(start, closing.index), 2)
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
