// One option of a command: its flag, how its value is read, and its type. A secret is never an
// option: options show in the list of processes.

import { Option } from 'commander'
import { durationMs } from '../worker/shared/duration.ts'
import { pathProblem } from '../worker/shared/repos.ts'
import { UsageError } from './usage.ts'

/** What commander calls it: `--watch-timeout <TIME>` is `watchTimeout`, `--no-board` is `board`. */
type NameOf<Flags extends string> = Flags extends `--no-${infer Name}`
  ? Camel<Name>
  : Flags extends `--${infer Name} ${string}`
    ? Camel<Name>
    : Flags extends `--${infer Name}`
      ? Camel<Name>
      : never

type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/** The value of an option that is read as it is: a text, or a switch, which `--no-` turns off. */
type Plain<Flags extends string> = string extends Flags
  ? unknown
  : Flags extends `--no-${string}`
    ? boolean
    : Flags extends `${string} ${string}`
      ? string | undefined
      : boolean | undefined

/** What a command gets that declares these. */
export type OptionsOf<Settings extends readonly Setting[]> = {
  [One in Settings[number] as undefined extends One['value']
    ? never
    : NameOf<One['flags']>]: One['value']
} & {
  [One in Settings[number] as undefined extends One['value']
    ? NameOf<One['flags']>
    : never]?: Exclude<One['value'], undefined>
}

/** An option that checks its value. An empty one is refused; an empty variable counts as absent. */
export class Setting<const Flags extends string = string, Value = Plain<Flags>> extends Option {
  declare readonly flags: Flags
  /** For its type alone. Undefined: it may be absent. */
  declare readonly value: Value

  constructor(flags: Flags, description: string) {
    super(flags, description)
    if (this.required) this.#reads((text) => text)
  }

  /** Where it is absent. `text`: as the help has it. */
  or<Default extends NonNullable<Value>>(value: Default, text?: string) {
    return this.default(value, text) as unknown as Setting<Flags, NonNullable<Value>>
  }

  /** As a sentence names it: `--edge URL (or SIGNALBOX_EDGE)`. */
  get called(): string {
    const flags = this.flags.replaceAll(/[<>]/g, '')
    return this.envVar === undefined ? flags : `${flags} (or ${this.envVar})`
  }

  /** As a sentence says that it is missing. */
  get meaning(): string {
    return `${this.called}, the ${this.description}`
  }

  /** `bounds` include both ends. */
  whole(least: number, most: number) {
    return this.#reads((text) => {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (number >= least && number <= most) return number
      throw this.#malformed(`a whole number from ${least} to ${most}`, text)
    })
  }

  port() {
    return this.whole(0, 65_535)
  }

  /** In ms. */
  duration() {
    return this.#reads((text) => {
      const ms = durationMs(text)
      if (ms !== undefined) return ms
      throw this.#malformed('a time like 90s, 5m, 12h or 30d', text)
    })
  }

  /** In ms. */
  date() {
    return this.#reads((text) => {
      const ms = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
      if (!Number.isNaN(ms)) return ms
      throw this.#malformed('a date like 2026-01-31, or a time like 2026-01-31T12:00:00Z', text)
    })
  }

  oneOf<const Choice extends string>(choices: readonly Choice[]) {
    this.argChoices = [...choices]
    return this.#reads((text) => {
      const choice = choices.find((it) => it === text)
      if (choice !== undefined) return choice
      throw this.#malformed(`one of ${choices.join(', ')}`, text)
    })
  }

  /** It may be given several times: all of them, as a list. */
  someOf<const Choice extends string>(choices: readonly Choice[]) {
    this.argChoices = [...choices]
    return this.#reads((text, before: readonly Choice[] = []) => {
      const choice = choices.find((it) => it === text)
      if (choice !== undefined) return [...before, choice]
      throw this.#malformed(`one of ${choices.join(', ')}`, text)
    })
  }

  url() {
    return this.#reads((text) => {
      const url = URL.parse(text)
      if (url && /^https?:$/.test(url.protocol) && !url.username) return url
      // The text may hold a password.
      throw new UsageError(`${this.called} must be an http or https URL without a user name.`)
    })
  }

  repository() {
    return this.#reads((text) => {
      const problem = pathProblem(text)
      if (problem === undefined) return text
      throw new UsageError(`${this.long} is not the name of a repository: ${problem}`)
    })
  }

  /** It may be given several times: all of them, as a list. */
  several() {
    return this.#reads((text, before: readonly string[] = []) => [...before, text])
  }

  #reads<Read>(parse: (text: string, before?: Read) => Read) {
    const reading = this.argParser<Read | ''>((text, before) => {
      // `--edge --repo NAME`: the value of the first was forgotten.
      if (text.startsWith('--')) throw new UsageError(`option '${this.flags}' needs a value.`)
      return text.trim() === '' ? '' : parse(text.trim(), before === '' ? undefined : before)
    })
    return reading as unknown as Setting<Flags, Read | undefined>
  }

  #malformed(must: string, text: string): UsageError {
    return new UsageError(`${this.called} must be ${must}, not "${text}".`)
  }
}
