// YAML from files that anyone may have written, as plain JSON values: the short way, or the `yaml`
// package. To that this adds limits (depth, aliases), no `__proto__`, and scalars that are never
// changed by reading. No I/O.

import { isAlias, isMap, isNode, isScalar, isSeq, parseDocument, type Scalar } from 'yaml'
import { type Plain, plainScalar, readSimpleYaml } from './plain-yaml.ts'

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

/**
 * The same without the short way: what the short way is tested against.
 * @forTests The short way is held to it.
 */
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
