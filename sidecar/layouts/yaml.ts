// YAML from files that anyone may have written, as plain JSON values. What board tools write in
// nearly every file is read here, line by line: ten times as fast as the `yaml` package, which a
// first look at 100,000 tasks needs. The package reads the rest. To that this adds limits (depth,
// aliases), no `__proto__`, and scalars that are never changed by reading. No I/O.

import { isAlias, isMap, isNode, isScalar, isSeq, parseDocument, type Scalar } from 'yaml'

export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain }

/** A number only where the number reads back as the same text: `1.10` and `007` stay text. */
function plainScalar(text: string): null | boolean | number | string {
  if (text === '' || text === '~' || text === 'null') return null
  if (text === 'true') return true
  if (text === 'false') return false
  const number = Number(text)
  return Number.isFinite(number) && String(number) === text ? number : text
}

/** A front matter or YAML file larger than this is refused: parsing it would stall every save. */
export const YAML_BYTES = 256 << 10
/**
 * For what only the package reads: 256 KiB of brackets took it 1.3 s, in which no webhook is taken.
 * No setting, since what a setting allows would block all boards of the process.
 */
const UNUSUAL_BYTES = 32 << 10
const TOO_UNUSUAL = 'it is larger than 32 KiB, and more than plain keys with values and lists'
/**
 * With so many, and of so many bytes, the package takes up to 83 ms. Text of persons has one in
 * twenty characters, dense JSON one in four.
 */
const INDICATORS = 4_096
const TOO_DENSE = `it has more than ${INDICATORS} brackets, commas, colons and the like`
/** Deeper nesting means an attack, and would overflow the stack when it is serialised. */
export const MAX_DEPTH = 64
/** Text may hold some that nothing closes. */
const MAX_OPEN = 4 * MAX_DEPTH
const TOO_DEEP = `it is nested more than ${MAX_DEPTH} deep`

type YamlMap =
  | { ok: true; fields: Map<string, Plain>; problems: string[] }
  | { ok: false; why: string }

// The failsafe schema leaves every scalar as text, which is both lossless and twice as fast. Unique
// keys are checked here, because the package compares each key with every other.
const OPTIONS = {
  schema: 'failsafe',
  resolveKnownTags: false,
  prettyErrors: false,
  uniqueKeys: false,
  logLevel: 'silent',
} as const

/**
 * Reads one YAML mapping. `firstLine` is the line of the file at which `text` begins, for messages.
 * Never throws.
 */
export function readYamlMap(text: string, firstLine = 1): YamlMap {
  if (text.length > YAML_BYTES) return { ok: false, why: 'it is larger than 256 KiB' }
  const fields = readSimpleYaml(text)
  if (fields) return { ok: true, fields, problems: [] }
  const why = text.length > UNUSUAL_BYTES ? TOO_UNUSUAL : whyTooCostly(text)
  return why === undefined ? readAnyYaml(text, firstLine) : { ok: false, why }
}

/** A count, not a parse: brackets within text count, too, and are closed there as a rule. */
function whyTooCostly(text: string): string | undefined {
  let count = 0
  let open = 0
  for (const [indicator] of text.matchAll(/[[\]{},:?&*!|>@`%]/g)) {
    if (++count > INDICATORS) return TOO_DENSE
    if (indicator === '[' || indicator === '{') open++
    else if (open > 0 && (indicator === ']' || indicator === '}')) open--
    if (open > MAX_OPEN) return TOO_DEEP
  }
  return undefined
}

/** The same without the short way: what the short way is tested against. */
export function readAnyYaml(text: string, firstLine = 1): YamlMap {
  try {
    const doc = withoutStacks(() => parseDocument(text, OPTIONS))
    const error = doc.errors.find((e) => !isPlainAt(e.code, text.charAt(e.pos[0])))
    if (error?.code === 'RESOURCE_EXHAUSTION') return { ok: false, why: TOO_DEEP }
    if (error) {
      const line = firstLine + text.slice(0, error.pos[0]).split('\n').length - 1
      const message = error.message.replace(/\s+/g, ' ').slice(0, 160)
      return { ok: false, why: `line ${line}: ${message}` }
    }
    if (doc.contents === null || (isScalar(doc.contents) && doc.contents.value === '')) {
      return { ok: true, fields: new Map(), problems: [] }
    }
    if (!isMap(doc.contents)) return { ok: false, why: 'it is not a mapping of keys to values' }
    const reader = new Reader()
    return { ok: true, fields: reader.map(doc.contents.items, 0), problems: reader.problems }
  } catch (error) {
    if (error instanceof LimitError) return { ok: false, why: error.message }
    // The package recurses: thousands of open brackets can end in its own RangeError.
    if (error instanceof RangeError) return { ok: false, why: TOO_DEEP }
    return { ok: false, why: error instanceof Error ? error.message.slice(0, 160) : 'it is broken' }
  }
}

/**
 * The package makes an Error for every complaint and never stops at the first: in a file of commas
 * the stack traces alone took two seconds, in which no save reaches anyone.
 */
function withoutStacks<T>(parse: () => T): T {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return parse()
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** YAML reserves a leading `@` and forbids it; board tools write `@name` all the same. */
const isPlainAt = (code: string, at: string): boolean => code === 'BAD_SCALAR_START' && at === '@'

class LimitError extends Error {}

class Reader {
  readonly problems: string[] = []
  // The package finds an anchor by walking the whole document, once for each alias.
  readonly #anchors = new Map<string, unknown>()
  #aliasedChars = 0
  #insideAlias = 0

  map(items: readonly { key: unknown; value: unknown }[], depth: number): Map<string, Plain> {
    const fields = new Map<string, Plain>()
    for (const { key: keyNode, value } of items) {
      if (!isScalar(keyNode)) {
        this.problems.push('a key is not plain text')
        continue
      }
      const key = String(keyNode.value)
      // Which of two values is meant is not known; the first is what stood there before.
      if (fields.has(key)) this.problems.push(`the key "${key.slice(0, 40)}" stands there twice`)
      else fields.set(key, this.#plain(value, depth + 1))
    }
    return fields
  }

  #plain(node: unknown, depth: number): Plain {
    if (depth > MAX_DEPTH) throw new LimitError(TOO_DEEP)
    if (isAlias(node)) return this.#alias(this.#anchors.get(node.source), depth)
    if (isNode(node) && 'anchor' in node && node.anchor) this.#anchors.set(node.anchor, node)
    if (this.#insideAlias > 0) this.#pay(isScalar(node) ? String(node.value).length : 0)
    if (isScalar(node)) return scalarValue(node)
    if (isSeq(node)) return node.items.map((item) => this.#plain(item, depth + 1))
    if (!isMap(node)) return null
    const fields = this.map(node.items, depth)
    fields.delete('__proto__')
    return Object.fromEntries(fields)
  }

  #alias(target: unknown, depth: number): Plain {
    if (target === undefined) throw new LimitError('it uses an alias that is defined nowhere')
    this.#insideAlias++
    const value = this.#plain(target, depth + 1)
    this.#insideAlias--
    return value
  }

  // Aliases may add as much as a whole file may hold, and no more: a few lines that refer to each
  // other would otherwise become gigabytes.
  #pay(chars: number): void {
    this.#aliasedChars += chars + 1
    if (this.#aliasedChars > YAML_BYTES) throw new LimitError('its aliases expand to too much')
  }
}

function scalarValue(node: Scalar): Plain {
  const text = String(node.value)
  return node.type !== 'PLAIN' || node.tag === 'tag:yaml.org,2002:str' ? text : plainScalar(text)
}

// The short way. Whatever is not plainly of these few shapes is left to the package, so there is
// nothing to be wrong about: the same text never means two things.

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
