// Flags and environment → settings. The only place of the sidecar that reads the environment. Every
// problem is collected, so that one sentence names all that is missing or malformed.

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { messageOf } from '../sidecar/error-message.ts'

export const VERSION = manifest.version

export type Environment = Readonly<Record<string, string | undefined>>
export const environment = (): Environment => process.env

export interface Option {
  /** What stands after the flag; absent: a switch. */
  value?: string
  env?: string
  about: string
}

/** All flags of all commands. A token is none of them: it would show in the list of processes. */
export const OPTIONS = {
  edge: { value: 'URL', env: 'SIGNALBOX_EDGE', about: 'the edge to publish to' },
  repo: { value: 'NAME', env: 'SIGNALBOX_REPO', about: 'the name clients open the board by' },
  'token-file': {
    value: 'FILE',
    env: 'SIGNALBOX_TOKEN_FILE',
    about: 'file that holds the token, read again when the edge refuses it',
  },
  poll: {
    env: 'SIGNALBOX_POLL',
    about: 'look at the files each second: for mounts that report no change (network, WSL)',
  },
  'run-output': {
    value: 'KIND',
    env: 'SIGNALBOX_RUN_OUTPUT',
    about: 'output of runs: masked (without what looks like a secret) or none [masked]',
  },
  healthz: { value: 'PORT', env: 'SIGNALBOX_HEALTHZ', about: 'answer GET /healthz on 127.0.0.1' },
  cache: {
    value: 'DIR',
    env: 'SIGNALBOX_CACHE',
    about: "folder for hashes, which make a restart quick [the user's cache folder]",
  },
  log: {
    value: 'FORMAT',
    env: 'SIGNALBOX_LOG',
    about: 'json or pretty [pretty on a terminal, else json]',
  },
  verbose: { about: 'log every scan too' },
  wait: { about: 'wait for the board when DIR holds none yet' },
  'exit-with-parent': { about: 'end when standard input closes' },
  timeout: { value: 'TIME', env: 'SIGNALBOX_TIMEOUT', about: 'give up after this long [5m]' },
  scope: { value: 'SCOPES', about: 'what it allows, separated by spaces [board:write]' },
  ttl: { value: 'TIME', about: 'how long it is good: 12h, 30d, … [30d]' },
  json: { about: 'one JSON object instead of lines' },
  help: { about: 'this text' },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

/** Exit code 2: what the operator asked for cannot be done so. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
}

export class Settings {
  readonly #values: ReturnType<typeof parseArgs>['values']
  readonly #positionals: string[]
  readonly #env: Environment
  readonly #missing: string[] = []
  readonly #malformed: string[] = []

  /** Throws UsageError for a flag that `names` does not have. */
  constructor(argv: readonly string[], names: readonly OptionName[], env: Environment) {
    const options: ParseArgsOptionsConfig = {}
    for (const name of names) {
      const { value }: Option = OPTIONS[name]
      options[name] = value ? { type: 'string', multiple: true } : { type: 'boolean' }
    }
    try {
      const parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
      this.#values = parsed.values
      this.#positionals = parsed.positionals
    } catch (error) {
      // Its first line says what is wrong; the rest is advice on dashes.
      throw new UsageError(messageOf(error).split('\n')[0])
    }
    this.#env = env
  }

  /** Whether a switch is on; its variable turns it on with `1`. */
  has(name: OptionName): boolean {
    const { env }: Option = OPTIONS[name]
    return this.#values[name] === true || (env !== undefined && this.variable(env) === '1')
  }

  /** The flag, else its variable; an empty one counts as absent. */
  text(name: OptionName): string | undefined {
    const texts = this.texts(name)
    if (texts.length > 1) this.malformed(`--${name} was given more than once`)
    return texts[0]
  }

  /** For a flag that may be given again. */
  texts(name: OptionName): string[] {
    const { env }: Option = OPTIONS[name]
    const given = this.#flags(name)
    const fallback = env ? this.variable(env) : undefined
    return given.length === 0 && fallback !== undefined ? [fallback] : given
  }

  #flags(name: OptionName): string[] {
    const given = this.#values[name]
    if (!Array.isArray(given)) return []
    return given.filter((text): text is string => typeof text === 'string' && text !== '')
  }

  variable(name: string): string | undefined {
    return this.#env[name] || undefined
  }

  required(name: OptionName): string {
    const text = this.text(name)
    if (text === undefined) this.missing(`${nameOf(name)}`)
    return text ?? ''
  }

  /** The one positional. */
  dir(): string {
    const [dir, ...more] = this.#positionals
    if (dir === undefined) this.missing('DIR, the folder of the board')
    if (more.length > 0) this.malformed(`one folder at a time, not also ${more.join(', ')}`)
    return dir ?? ''
  }

  noPositionals(): void {
    if (this.#positionals.length > 0) this.malformed(`unexpected ${this.#positionals.join(', ')}`)
  }

  url(name: OptionName, isRequired = true): URL | undefined {
    const text = isRequired ? this.required(name) : this.text(name)
    if (!text) return undefined
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url && /^https?:$/.test(url.protocol) && !url.username) return url
    this.malformed(`${nameOf(name)} must be an http or https URL`)
    return undefined
  }

  choice<T extends string>(name: OptionName, choices: readonly T[]): T | undefined {
    const text = this.text(name)
    const choice = choices.find((it) => it === text)
    if (text !== undefined && choice === undefined)
      this.malformed(`${nameOf(name)} must be one of ${choices.join(', ')}`)
    return choice
  }

  port(name: OptionName): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
    this.malformed(`${nameOf(name)} must be a port`)
    return undefined
  }

  durationMs(name: OptionName, defaultMs: number): number {
    const text = this.text(name)
    if (text === undefined) return defaultMs
    const [, count, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(text) ?? []
    const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
    if (ms > 0) return ms
    this.malformed(`${nameOf(name)} must be a time like 90s, 5m, 12h or 30d`)
    return defaultMs
  }

  /** A function that reads the token anew each time, as tokens are rotated. */
  token(isRequired = true): (() => Promise<string>) | undefined {
    const variable = this.variable('SIGNALBOX_TOKEN')
    const file = this.text('token-file')
    if (variable && this.#flags('token-file').length === 0) return async () => bearer(variable)
    if (file !== undefined) return async () => bearer(await readFile(file, 'utf8'))
    if (isRequired) this.missing('a token (SIGNALBOX_TOKEN, --token-file or SIGNALBOX_TOKEN_FILE)')
    return undefined
  }

  cacheDir(): string {
    const given = this.text('cache')
    if (given) return given
    const home = homedir()
    if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'signalbox')
    if (process.platform === 'win32') {
      return join(this.variable('LOCALAPPDATA') ?? join(home, 'AppData', 'Local'), 'signalbox')
    }
    return join(this.variable('XDG_CACHE_HOME') ?? join(home, '.cache'), 'signalbox')
  }

  missing(what: string): void {
    this.#missing.push(what)
  }

  malformed(what: string): void {
    this.#malformed.push(what)
  }

  /** Throws one UsageError that names everything. Call it after the last setting was read. */
  check(): void {
    const missing = this.#missing.length > 0 ? [`missing: ${this.#missing.join('; ')}`] : []
    const all = [...missing, ...this.#malformed]
    if (all.length > 0) throw new UsageError(`${all.join('. ')}.`)
  }
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function nameOf(name: OptionName): string {
  const { env }: Option = OPTIONS[name]
  return env ? `--${name} (or ${env})` : `--${name}`
}

function bearer(text: string): string {
  const token = text.trim()
  // Anything else cannot stand in a header, and would be told as a fault of the network.
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Error(token === '' ? 'it is empty' : 'it holds characters that no token has')
}
