// Hides what looks like a secret in a text that a program printed. It would rather hide a word too
// many: what was published cannot be taken back. Pure, and one pass for each shape.

import { hideJwts, REDACTED as MASK } from '../../worker/shared/secrets.ts'

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
  let masked = hideJwts(maskPrivateKeys(text))
  for (const shape of SHAPES) masked = masked.replace(shape, MASK)
  masked = masked.replace(AI_KEY, (found) => (/\d/.test(found) ? MASK : found))
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
  // stands close to its sign. A value with = or @ may hold a name and value itself: it is masked.
  const isClose = sign === '='
  return isClose || (bare.length >= 6 && /[\d=@]/.test(bare)) ? `${name}${sign}${MASK}` : all
}

/** YAML's sign for it: see BLOCK. */
const ON_NEXT_LINES = /^[|>][-+\d]{0,2}$/

const maskLine = (all: string, name: string, value: string): string =>
  EMPTY.test(value) || ON_NEXT_LINES.test(value) || value.includes(MASK) ? all : `${name}${MASK}`

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

/**
 * What keys and tokens look like, by the mark that their makers put in front of them. The marks and
 * lengths are those of gitleaks' rules (github.com/gitleaks/gitleaks, config/gitleaks.toml) and of
 * the makers' own pages. No shape may need more than one pass: a log may be made to be slow.
 */
const SHAPES: readonly RegExp[] = [
  // AWS: the id of an access key. Its secret has no mark, but its name precedes it.
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g,
  // GitHub: classic and fine-grained.
  /\bgh[pousr]_[A-Za-z0-9]{36,}/g,
  /\bgithub_pat_\w{22,}/g,
  // GitLab: personal, deploy, runner, CI and the others.
  /\bgl(?:pat|ptt|rt|dt|soat|cbt|ft|imt|agent|oas|ffct)-[\w.-]{20,}/g,
  // Slack: tokens, and the addresses that post by themselves.
  /\b(?:xox[a-z]|xapp|xwfp)-[\w-]{10,}/g,
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/+-]{20,}/g,
  // Stripe: secret and restricted keys, secrets of webhooks (ours have that mark too).
  /\b(?:sk|rk)_(?:live|test|prod)_\w{10,}/g,
  /\bwhsec_[A-Za-z0-9+/=_-]{16,}/g,
  // Google: API keys, OAuth tokens, OAuth client secrets.
  /\bAIza[\w-]{35}/g,
  /\bya29\.[\w-]{20,}/g,
  /\bGOCSPX-[\w-]{20,}/g,
  // Package registries: npm, PyPI, RubyGems, Docker Hub.
  /\bnpm_[A-Za-z0-9]{36,}/g,
  /\bpypi-[\w-]{50,}/g,
  /\brubygems_[a-f0-9]{48}/g,
  /\bdckr_[a-z]{3}_[\w-]{20,}/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
  // SendGrid, Telegram bots, DigitalOcean, Shopify, Databricks, Vault, Atlassian.
  /\bSG\.[\w-]{16,64}\.[\w-]{16,}/g,
  /\b\d{8,10}:AA[\w-]{33}/g,
  /\bdo[opr]_v1_[a-f0-9]{64}/g,
  /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/g,
  /\bdapi[a-f0-9]{32}/g,
  /\bhv[sb]\.[\w-]{24,}/g,
  /\bATATT3[\w=-]{50,}/g,
  // age
  /\bAGE-SECRET-KEY-1[0-9A-Z]{58}/g,
]

/** OpenAI, Anthropic and those who copied their mark. A digit: `sk-` begins names of styles too. */
const AI_KEY = /\bsk-[\w-]{20,}/g

/**
 * Names of what is secret in the output of programs. Three places know such names, each for its own
 * text: `worker/shared/secrets.ts` for names of fields, taken apart into words (logs, JSON), where
 * short words like `key` and `pin` are safe to list; `worker/payments/mask.ts` adds what a
 * gateway's driver names as the payer's own. Here a name stands in free text, in which `key` and
 * `pin` are words like any other, so only longer ones count.
 */
const SECRET_NAME =
  '(?:secret|token|passw(?:or)?d|passphrase|credential|_auth|(?:api|access|account|auth|client' +
  '|encryption|master|private|secret|service|shared|signing|storage)[_-]?key)' +
  '(?:s|_base|_?\\d{1,2})?'
/** To the same quote again, which is not part of it. */
const QUOTED = (group: number) => `(?:(?!\\${group})[^\\r\\n])+`

/** Several of them have a name in the plural, and so has what is counted: `MAX_TOKENS=4096`. */
const NO_COUNT = '(?![\\d.,_]+(?:[\\s"\'`;,)]|$))'

/**
 * `NAME_TOKEN=value` as a shell and `env` write it: all up to the next space is the value, which an
 * `&` does not end. In capitals, any `…_KEY` is one.
 */
const VARIABLE = new RegExp(
  '((?:(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|_KEY|_PWD|_PASS|_PAT)' +
    `(?:_BASE|_?\\d{1,2})?=|(?:(?:SECRET|TOKEN|PASSWORD|CREDENTIAL|_KEY)S|\\bPASS)=${NO_COUNT}))` +
    `(?:(["'])${QUOTED(2)}|[^\\s"'\`]+)`,
  'g',
)

/** A name, then `=` or `:`, then a value in quotes or not: code, JSON, YAML, queries. */
const FIELD = new RegExp(
  `(?<name>${SECRET_NAME}\\\\{0,3}["'\`]?)(?<sign>[ \\t]{0,4}(?:=>|:=|[:=])[ \\t]{0,4})` +
    `(?:(?<open>(?:[bru]|\\\\{0,3})(["']))(?<quoted>${QUOTED(4)})` +
    `|(?<bare>[^\\s"'\`=>&\\\\][^\\s"'\`&]*))`,
  'gi',
)

/** The same alone on its line, as YAML and many programs print it. */
const LINE = new RegExp(`^([ \\t>-]{0,40}[\\w.-]{0,64}${SECRET_NAME}:[ \\t]+)(\\S+)[ \\t]*$`, 'gim')

/** A value of YAML that begins on the next line: `token: |`. */
const BLOCK = new RegExp(
  `^([ \\t]{0,40})((?:- )?[\\w.-]{0,64}${SECRET_NAME}:[ \\t]+[|>][-+\\d]{0,2}[ \\t]*\\r?\\n)` +
    '(?:\\1[ \\t]+\\S[^\\n]*(?:\\n|$))+',
  'gim',
)

/** XML: `<password>value</password>` */
const ELEMENT = new RegExp(`(<[\\w:.-]{0,40}${SECRET_NAME}>)[^<\\r\\n]+(?=<)`, 'gi')

/** Short names that mean something else too, where their value can only be a secret. */
const SHORT_NAMES: readonly RegExp[] = [
  // `pass: 12` is how many tests passed.
  /(\bpass\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["'])[^\s"'\\][^\r\n"'\\]*/gi,
  // `PWD=/home/ann` is the current folder of a shell.
  /(;[ \t]{0,4}pwd[ \t]{0,4}=)[^\s;"']+/gi,
  // Docker's logins.
  /("auth"[ \t]{0,4}:[ \t]{0,4}")[A-Za-z0-9+/]{8,}=*(?=")/g,
  // Signed addresses, which give access to everybody who has them: Azure, AWS, Google.
  /([?&](?:sig|x-amz-signature|x-goog-signature)=)[^\s&"'`]+/gi,
  // Go's addresses of databases: `user:password@tcp(host)`.
  /([\w.-]:)[^\s@:"'`]+(?=@(?:tcp|unix)\()/g,
]

/** A terminal's codes for colours and moves, which it does not show. They may be inside words. */
const ESCAPES = new RegExp(
  [
    '\\x1b\\[[0-9:;<=>?]{0,64}[ -/]{0,4}[@-~]', // CSI: colours
    '\\x1b\\][^\\x07\\x1b]{0,256}(?:\\x07|\\x1b\\\\)', // OSC: titles, links
    '\\x1b[()][0-9A-Z]', // which characters there are
  ].join('|'),
  'g',
)

/** `--token value` */
const FLAG = new RegExp(
  '((?:^|\\s)--?[\\w-]{0,40}(?:secret|token|passw(?:or)?d|passphrase|api-?key)[ \\t]+)(?!-)' +
    `(?:(["'])${QUOTED(2)}|[^\\s"']+)`,
  'gim',
)

/** `curl -u name:password`; two numbers are a user and a group. */
const USER = /(\s(?:-u|--user)[ =]["']?[^\s:"']{1,64}:)(?!\d{1,6}(?:\s|$))[^\s"']+/g

/** `Authorization: Bearer …`, with any scheme, and cookies, to the end of their line. */
const HEADER = new RegExp(
  '((?:authorization|cookie)\\\\{0,3}["\']?[ \\t]{0,4}[:=][ \\t]{0,4}\\\\{0,3}["\'`]?' +
    '(?:(?:bearer|basic|digest|negotiate|token)[ \\t]+)?)[^\\s"\'`\\\\][^\\r\\n"\'`\\\\]*',
  'gi',
)

/** A scheme and its value on their own. Words of prose are shorter, or hold no digit. */
const SCHEME = /(\b(?:bearer|basic)[ \t]+)(?=[\w.~+/-]{0,80}[\d=])[\w.~+/-]{8,}=*/gi

/** The password in a URL, or all of a long name without one. */
const URL_PASSWORD = /(:\/\/[^\s/:@"'`]*:)[^\s/"'`]+(?=@)/g
const URL_NAME = /(:\/\/)[^\s/:@"'`]{20,}(?=@)/g
