// The short way to read YAML: what board tools write in nearly every file, line by line, ten times
// as fast as the `yaml` package, which a first look at 100,000 tasks needs. Whatever is not plainly
// of these few shapes is left to the package, so there is nothing to be wrong about: the same text
// never means two things. No I/O.

export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain }

/** A number only where the number reads back as the same text: `1.10` and `007` stay text. */
export function plainScalar(text: string): null | boolean | number | string {
  if (text === '' || text === '~' || text === 'null') return null
  if (text === 'true') return true
  if (text === 'false') return false
  const number = Number(text)
  return Number.isFinite(number) && String(number) === text ? number : text
}

const WORD = '[A-Za-z][A-Za-z0-9_]*'
const SINGLE = "'([^'\\n]*(?:''[^'\\n]*)*)'"
const DOUBLE = '"([^"\\\\\\n]*(?:\\\\[nrt"\\\\][^"\\\\\\n]*)*)"'
const KEY_LINE = new RegExp(`^(${WORD}):(?: (.*))?$`)
const ITEM_LINE = /^( *)- (.+)$/
const QUOTED = new RegExp(`^(?:${SINGLE}|${DOUBLE})$`)
/** Begins like text, and holds nothing that would end a plain scalar or make it a key. */
const PLAIN = /^[A-Za-z0-9_./(](?:(?!: | #).)*$/
const BAD_END = /[:\s]$/
/** How the cairn tool writes a rank. */
const FLOAT = /^!!float (\d+(?:\.\d+)?)$/
/** A scalar within brackets, where commas, brackets and colons end a plain one. */
const INNER = `(?:${SINGLE}|${DOUBLE}|(\\w(?:[^,[\\]{}#:\\n]*[^,[\\]{}#:\\s])?))`
const FLOW_PAIR = new RegExp(`(${WORD}): ${INNER}(, |\\}$)`, 'y')
const FLOW_ITEM = new RegExp(`${INNER}(, |\\]$)`, 'y')
/** Tabs and carriage returns have rules of their own. */
const SPECIAL = /[\t\r]/

/** Not of the simple shapes: no word about whether it is YAML. */
const OTHER = Symbol('other')
type Parsed<T> = T | typeof OTHER

/** The mapping that `text` is, or undefined when the package must say. */
export function readSimpleYaml(text: string): Map<string, Plain> | undefined {
  if (SPECIAL.test(text)) return undefined
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const fields = new Map<string, Plain>()
  for (let at = 0; at < lines.length; ) {
    const [, key, value] = KEY_LINE.exec(lines[at] ?? '') ?? []
    if (key === undefined || fields.has(key)) return undefined
    at++
    if (value !== undefined) {
      const scalar = readValue(value)
      if (scalar === OTHER) return undefined
      fields.set(key, scalar)
      continue
    }
    const list = readList(lines, at)
    if (list === OTHER) return undefined
    fields.set(key, list.items.length > 0 ? list.items : null)
    at = list.end
  }
  return fields
}

/** The block list that begins at line `at`; without items when there is none. */
function readList(lines: string[], at: number): Parsed<{ items: Plain[]; end: number }> {
  const items: Plain[] = []
  let indent: string | undefined
  let end = at
  for (let line = lines[end]; line !== undefined; line = lines[end]) {
    const [, spaces, content = ''] = ITEM_LINE.exec(line) ?? []
    if (spaces === undefined) break
    indent ??= spaces
    if (spaces !== indent) return OTHER
    end++
    const pair = KEY_LINE.exec(content)
    if (!pair) {
      const item = content.startsWith('{') ? readFlowMap(content) : readValue(content)
      if (item === OTHER) return OTHER
      items.push(item)
      continue
    }
    const entry = new Map<string, Plain>()
    if (!addPair(entry, pair)) return OTHER
    const inner = `${indent}  `
    for (let next = lines[end]; next?.startsWith(inner); next = lines[end]) {
      const more = KEY_LINE.exec(next.slice(inner.length))
      if (!more || !addPair(entry, more)) return OTHER
      end++
    }
    items.push(Object.fromEntries(entry))
  }
  // A line with deeper indentation belongs to something that was not understood here.
  return lines[end]?.startsWith(' ') ? OTHER : { items, end }
}

function addPair(entry: Map<string, Plain>, [, key = '', text]: RegExpExecArray): boolean {
  const value = text === undefined ? OTHER : readValue(text)
  if (value === OTHER || entry.has(key)) return false
  entry.set(key, value)
  return true
}

function readFlowMap(text: string): Parsed<{ [key: string]: Plain }> {
  const entry = new Map<string, Plain>()
  FLOW_PAIR.lastIndex = 1
  for (;;) {
    const [, key = '', single, double, plain = '', after] = FLOW_PAIR.exec(text) ?? []
    if (after === undefined || entry.has(key)) return OTHER
    entry.set(key, quotedText(single, double) ?? plainScalar(plain))
    if (after === '}') return Object.fromEntries(entry)
  }
}

function readFlowList(text: string): Parsed<Plain[]> {
  if (text === '[]') return []
  const items: Plain[] = []
  FLOW_ITEM.lastIndex = 1
  for (;;) {
    const [, single, double, plain = '', after] = FLOW_ITEM.exec(text) ?? []
    if (after === undefined) return OTHER
    items.push(quotedText(single, double) ?? plainScalar(plain))
    if (after === ']') return items
  }
}

function readValue(text: string): Parsed<Plain> {
  if (PLAIN.test(text) && !BAD_END.test(text)) return plainScalar(text)
  if (text.startsWith('[')) return readFlowList(text)
  const [, single, double] = QUOTED.exec(text) ?? []
  const float = FLOAT.exec(text)?.[1]
  return quotedText(single, double) ?? (float === undefined ? OTHER : plainScalar(float))
}

function quotedText(single: string | undefined, double: string | undefined): string | undefined {
  if (single !== undefined) return single.includes("'") ? single.replaceAll("''", "'") : single
  return double?.includes('\\')
    ? double.replace(/\\(.)/g, (_, escaped: string) => ESCAPED[escaped] ?? escaped)
    : double
}

const ESCAPED: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
