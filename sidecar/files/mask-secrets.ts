// Hides what looks like a secret in a text that a program printed. It would rather hide a word too
// many: what was published cannot be taken back. Pure, and one pass for each shape.

import {
  BLOCK,
  ELEMENT,
  ESCAPES,
  FIELD,
  FLAG,
  HEADER,
  LINE,
  SCHEME,
  SHAPES,
  SHORT_NAMES,
  URL_NAME,
  URL_PASSWORD,
  USER,
  VARIABLE,
} from './secret-shapes.ts'

const MASK = '[redacted]'

/** Without its colours if something is masked, since they may be between a name and its value. */
export function maskSecrets(text: string): string {
  if (!text.includes('\u001b')) return maskPlain(text)
  const plain = text.replace(ESCAPES, '')
  const masked = maskPlain(plain)
  // What only the escapes hold (the address of a link) is looked at too.
  return masked === plain ? maskPlain(text) : masked
}

/**
 * The order matters in three places; all other patterns may come in any order:
 * - SCHEME before VARIABLE and FIELD: of `TOKEN=Bearer abc` they would take the word `Bearer` for
 *   the value, and the token would stay.
 * - VARIABLE before FIELD: a shell's value may hold the other quote, as in `PASSWORD="it's me"`.
 * - FIELD before LINE: it leaves the quotes around a value, which then still reads as YAML.
 */
function maskPlain(text: string): string {
  let masked = maskTokens(maskPrivateKeys(text))
  for (const shape of SHAPES) masked = masked.replace(shape, MASK)
  for (const name of SHORT_NAMES) masked = masked.replace(name, `$1${MASK}`)
  return masked
    .replace(BLOCK, `$1$2$1  ${MASK}\n`)
    .replace(ELEMENT, `$1${MASK}`)
    .replace(URL_PASSWORD, `$1${MASK}`)
    .replace(URL_NAME, `$1${MASK}`)
    .replace(HEADER, `$1${MASK}`)
    .replace(SCHEME, `$1${MASK}`)
    .replace(VARIABLE, `$1$2${MASK}`)
    .replace(FIELD, (all, ...groups) => maskField(all, groups.at(-1)))
    .replace(LINE, maskLine)
    .replace(FLAG, `$1$2${MASK}`)
    .replace(USER, `$1${MASK}`)
}

/** No value, or the name of a type. */
const EMPTY =
  /^(?:undefined|null|nil|none|true|false|string|number|boolean|unknown|any|str|bytes)[,;)\]}]*$/i

const COUNT = /^[\d.,_]+[;)\]}]*$/

/** What FIELD captures: `name`, `sign`, and a value in quotes or a bare one. */
interface Field {
  name: string
  sign: string
  /** The quote, with what may precede it: `b"`, `\\"`. */
  open?: string
  quoted?: string
  bare?: string
}

function maskField(all: string, { name, sign, open, quoted, bare }: Field): string {
  // In the plural: a number of them.
  if (/s["'`]?$/i.test(name) && COUNT.test(quoted ?? bare ?? '')) return all
  if (quoted !== undefined) return `${name}${sign}${open}${MASK}`
  if (bare === undefined || EMPTY.test(bare)) return all
  // Code and prose say `token = next()` and `Unexpected token: word`; a secret holds a digit, or
  // stands close to its sign. What may hold another name and value is no word either.
  const isClose = sign === '='
  return isClose || (bare.length >= 6 && /[\d=@]/.test(bare)) ? `${name}${sign}${MASK}` : all
}

/** YAML's sign for it: see BLOCK. */
const ON_NEXT_LINES = /^[|>][-+\d]{0,2}$/

const maskLine = (all: string, name: string, value: string): string =>
  EMPTY.test(value) || ON_NEXT_LINES.test(value) || value.includes(MASK) ? all : `${name}${MASK}`

const RUN = /[\w.-]{16,}/g

/** JSON Web Tokens: three parts or more. The first begins like every JSON object. */
function maskTokens(text: string): string {
  if (!text.includes('eyJ')) return text
  // Run by run, since a pattern would begin again at each `eyJ` of a long one.
  return text.replace(RUN, (run) => {
    const start = run.indexOf('eyJ')
    if (start < 0 || run.slice(start).split('.', 3).length < 3) return run
    return run.slice(0, start) + MASK
  })
}

const MARK = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_LINES =
  /(?:(?:\s|\\[rn])*[A-Za-z0-9+/=]{32,})+(?:(?:\s|\\[rn])*[A-Za-z0-9+/]{2,}={0,2})?/y

/** From BEGIN to END; where a log was cut off in between, the lines that look like a key. */
function maskPrivateKeys(text: string): string {
  let masked = ''
  let at = 0
  const hide = (from: number, to: number) => {
    if (to <= from) return
    masked += `${text.slice(at, from)}\n${MASK}\n`
    at = to
  }
  const marks = [...text.matchAll(MARK)]
  for (const [n, { index, 0: mark, 1: kind }] of marks.entries()) {
    const [last, next] = [marks[n - 1], marks[n + 1]]
    if (kind === 'BEGIN') {
      const end = index + mark.length
      hide(end, next?.[1] === 'END' ? next.index : keyAfter(text, end))
    } else if (last?.[1] !== 'BEGIN') {
      hide(keyBefore(text, last ? last.index + last[0].length : 0, index), index)
    }
  }
  return masked + text.slice(at)
}

function keyAfter(text: string, from: number): number {
  KEY_LINES.lastIndex = from
  return KEY_LINES.test(text) ? KEY_LINES.lastIndex : from
}

function keyBefore(text: string, from: number, to: number): number {
  // Only this part: a search backwards would go to the beginning of the text for each match.
  const part = text.slice(from, to)
  let start = part.length
  // Only a key's last line may be short.
  for (let isLine = LAST_LINE; start > 0; isLine = FULL_LINE) {
    const line = part.lastIndexOf('\n', start - 2) + 1
    if (!isLine.test(part.slice(line, start))) break
    start = line
  }
  return from + start
}

const LAST_LINE = /^[A-Za-z0-9+/]{2,}={0,2}\s*$/
const FULL_LINE = /^[A-Za-z0-9+/]{16,}\s*$/
