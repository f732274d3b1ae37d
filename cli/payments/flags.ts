// Arguments → values. Every problem is collected, so that one sentence names all that is missing or
// malformed.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Environment } from '../../local/environment.ts'

export interface Option {
  /** What stands after the flag; absent: a switch. */
  value?: string
  env?: string
  about: string
}

/** All flags of all commands. A secret is none of them: it would show in the list of processes. */
export const OPTIONS = {
  edge: { value: 'URL', env: 'SIGNALBOX_EDGE', about: 'the running system' },
  'token-file': {
    value: 'FILE',
    env: 'SIGNALBOX_TOKEN_FILE',
    about: 'holds a token of the scope payments:read for the edge',
  },
  data: {
    value: 'DIR',
    about: 'data folder of a running `npm start`',
  },
  'env-file': {
    value: 'FILE',
    about: 'variables in place of those of the environment, such as .dev.vars',
  },
  reference: { value: 'R', about: 'what the payment is called by whoever charged' },
  amount: { value: 'N', about: 'what the gateway says was paid, in minor units' },
  currency: { value: 'CUR', about: 'three capital letters' },
  status: { value: 'STATUS', about: 'Paid, Failed, Expired, Cancelled or Refunded [Paid]' },
  transaction: { value: 'ID', about: "the gateway's name for the payment" },
  'event-id': { value: 'ID', about: 'the same once more is a duplicate [a new one]' },
  times: { value: 'N', about: 'send the same so often at once, at most 1000 [1]' },
  json: { about: 'one JSON object instead of lines' },
  help: { about: 'this text' },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

/** Exit code 2: what was asked for cannot be done so. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
}

export class Flags {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #positionals: string[]
  readonly #env: Environment
  readonly #missing: string[] = []
  readonly #malformed: string[] = []

  /** Throws UsageError for a flag that `names` does not have. */
  constructor(argv: readonly string[], names: readonly OptionName[], env: Environment) {
    const options: ParseArgsOptionsConfig = {}
    for (const name of names) {
      const { value }: Option = OPTIONS[name]
      options[name] = { type: value === undefined ? 'boolean' : 'string' }
    }
    try {
      const parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
      this.#values = parsed.values
      this.#positionals = parsed.positionals
    } catch (error) {
      // Its first line says what is wrong; the rest is advice on dashes.
      throw new UsageError(error instanceof Error ? error.message.split('\n')[0] : String(error))
    }
    this.#env = env
  }

  has(name: OptionName): boolean {
    return this.#values[name] === true
  }

  /** The flag alone; an empty one counts as absent. */
  given(name: OptionName): string | undefined {
    const value = this.#values[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  /** The flag, else its variable. */
  text(name: OptionName): string | undefined {
    const { env }: Option = OPTIONS[name]
    return this.given(name) ?? (env === undefined ? undefined : this.variable(env))
  }

  /** Empty when it is missing. */
  required(name: OptionName): string {
    const text = this.text(name)
    if (text === undefined) this.missing(described(name))
    return text ?? ''
  }

  variable(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined
  }

  /** As many as there are, or a complaint. */
  positionals(what: readonly string[]): string[] {
    for (const absent of what.slice(this.#positionals.length)) this.missing(absent)
    const more = this.#positionals.slice(what.length)
    if (more.length > 0) this.malformed(`unexpected ${more.join(', ')}`)
    return what.map((_, at) => this.#positionals[at] ?? '')
  }

  missing(what: string): void {
    this.#missing.push(what)
  }

  malformed(what: string): void {
    this.#malformed.push(what)
  }

  /** Throws one UsageError that names everything. Call it after the last value was read. */
  check(): void {
    const missing = this.#missing.length > 0 ? [`missing: ${this.#missing.join('; ')}`] : []
    const all = [...missing, ...this.#malformed]
    if (all.length > 0) throw new UsageError(`${all.join('. ')}.`)
  }
}

export function described(name: OptionName): string {
  const { value, env, about }: Option = OPTIONS[name]
  const flag = `--${name}${value === undefined ? '' : ` ${value}`}`
  return `${flag}${env === undefined ? '' : ` or ${env}`} (${about})`
}
