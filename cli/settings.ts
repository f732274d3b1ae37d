// Options and environment → values. Every problem is collected, so that one sentence names all that
// is missing or malformed.

import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { messageOf } from '../sidecar/log.ts'
import { cacheFolder } from '../sidecar/user-folders.ts'
import { pathProblem } from '../worker/shared/repos.ts'
import { nameOf, OPTIONS, type Option, type OptionName } from './options.ts'

export const VERSION = manifest.version

export type Environment = Readonly<Record<string, string | undefined>>

/** Exit code 2: what was asked for cannot be done so. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
}

/** Switches are true; all other options have one text each time they were given. */
export type OptionValues = Readonly<Partial<Record<OptionName, true | readonly string[]>>>

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export class Settings {
  readonly #values: OptionValues
  readonly #positionals: readonly string[]
  readonly env: Environment
  readonly #missing = new Set<string>()
  readonly #malformed = new Set<string>()

  constructor(values: OptionValues, positionals: readonly string[], env: Environment) {
    this.#values = values
    this.#positionals = positionals
    this.env = env
  }

  /** Whether a switch is on; its variable turns it on with `1`. */
  has(name: OptionName): boolean {
    const { env }: Option = OPTIONS[name]
    return this.#values[name] === true || (env !== undefined && this.variable(env) === '1')
  }

  /** Texts of the option alone. */
  givenAll(name: OptionName): readonly string[] {
    const texts = this.#values[name]
    return texts === undefined || texts === true ? [] : texts
  }

  /**
   * The option alone; an empty one counts as absent. The last one counts: npm scripts put theirs in
   * front of what a person adds.
   */
  given(name: OptionName): string | undefined {
    return this.givenAll(name).at(-1) || undefined
  }

  /** The option, else its variable. */
  text(name: OptionName): string | undefined {
    const { env }: Option = OPTIONS[name]
    return this.given(name) ?? (env === undefined ? undefined : this.variable(env))
  }

  /** For an option that may be given several times. */
  texts(name: OptionName): readonly string[] {
    const given = this.givenAll(name).filter((text) => text !== '')
    const { env }: Option = OPTIONS[name]
    const fallback = env === undefined ? undefined : this.variable(env)
    return given.length === 0 && fallback !== undefined ? [fallback] : given
  }

  /** An empty variable counts as absent. */
  variable(name: string): string | undefined {
    return this.env[name]?.trim() || undefined
  }

  /** Empty when it is missing. */
  required(name: OptionName): string {
    const text = this.text(name)
    if (text === undefined) this.missing(`${nameOf(name)}, the ${OPTIONS[name].help}`)
    return text ?? ''
  }

  /** The one argument that is no option. `what`: its name, and what it means. */
  positional(what: string): string {
    const [first, ...more] = this.#positionals
    if (first === undefined) this.missing(what)
    if (more.length > 0) this.malformed(`unexpected ${more.join(', ')}`)
    return first ?? ''
  }

  /** The folder that `command` may be given. */
  optionalPositional(command: string): string | undefined {
    const [first, ...more] = this.#positionals
    if (more.length > 0) {
      this.malformed(`${command} takes one folder; '${more.join(' ')}' is too much`)
    }
    return first
  }

  noPositionals(): void {
    if (this.#positionals.length > 0) this.malformed(`unexpected ${this.#positionals.join(', ')}`)
  }

  /** Of --repo. */
  checkRepo(repo: string | undefined): void {
    const problem = repo === undefined ? undefined : pathProblem(repo)
    if (problem === undefined) return
    this.malformed(`--repo is not the name of a repository: ${problem.replace(/\.$/, '')}`)
  }

  url(name: OptionName, isRequired: boolean): URL | undefined {
    const text = isRequired ? this.required(name) : this.text(name)
    if (!text) return undefined
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url && /^https?:$/.test(url.protocol) && !url.username) return url
    this.malformed(`${nameOf(name)} must be an http or https URL without a user name`)
    return undefined
  }

  choice<T extends string>(name: OptionName, choices: readonly T[]): T | undefined {
    const text = this.text(name)
    const choice = choices.find((it) => it === text)
    if (text !== undefined && choice === undefined) {
      this.malformed(`${nameOf(name)} must be one of ${choices.join(', ')}, not "${text}"`)
    }
    return choice
  }

  /** `bounds` include both ends. */
  whole(name: OptionName, [least, most]: readonly [number, number]): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    this.malformed(`${nameOf(name)} must be a whole number from ${least} to ${most}, not "${text}"`)
    return undefined
  }

  port(name: OptionName): number | undefined {
    return this.whole(name, [0, 65_535])
  }

  durationMs(name: OptionName, defaultMs: number): number {
    const text = this.text(name)
    if (text === undefined) return defaultMs
    const [, count, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(text) ?? []
    const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
    if (ms > 0) return ms
    this.malformed(`${nameOf(name)} must be a time like 90s, 5m, 12h or 30d, not "${text}"`)
    return defaultMs
  }

  /** Reads the token again each time, because tokens are rotated. Undefined: none was given. */
  token(): (() => Promise<string>) | undefined {
    const variable = this.variable('SIGNALBOX_TOKEN')
    if (variable !== undefined && this.given('token-file') === undefined) {
      return async () => bearer(variable)
    }
    const file = this.text('token-file')
    return file === undefined ? undefined : async () => bearer(await readFile(file, 'utf8'))
  }

  /** The variables of --env, else the environment. Throws UsageError. */
  async variables(): Promise<Environment> {
    const file = this.given('env')
    if (file === undefined) return this.env
    try {
      return parseEnv(await readFile(file, 'utf8'))
    } catch (error) {
      throw new UsageError(`--env ${file} cannot be read (${messageOf(error)}).`)
    }
  }

  /** Undefined: the user has no cache folder. */
  cacheDir(): string | undefined {
    return this.text('cache') ?? cacheFolder(this.env)
  }

  /**
   * Refuses options that would have no effect here: whoever types one expects something of it.
   * Their variables are not meant: these may be set for other commands.
   */
  needless(names: readonly OptionName[], when: string): void {
    for (const name of names) {
      if (this.#values[name] !== undefined) this.malformed(`--${name} has no effect ${when}`)
    }
  }

  missing(what: string): void {
    this.#missing.add(what)
  }

  malformed(what: string): void {
    this.#malformed.add(what)
  }

  /** Throws one UsageError that names everything. Call it after the last value was read. */
  check(): void {
    const missing = this.#missing.size > 0 ? [`missing: ${[...this.#missing].join('; ')}`] : []
    const all = [...missing, ...this.#malformed]
    if (all.length > 0) throw new UsageError(`${all.join('; ')}.`)
  }
}

function bearer(text: string): string {
  const token = text.trim()
  // Other characters are not possible in a header, and would look like a failure of the network.
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Error(token === '' ? 'it is empty' : 'it holds characters that no token has')
}
