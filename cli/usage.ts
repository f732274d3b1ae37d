// What was typed, and what a command refuses of it: its exit code is 2.

/** What was typed after the command. */
export interface Input<Options = object> {
  /** The words that are no options. */
  arguments: readonly string[]
  /** The last of them, which followed `--`. */
  behindDashes: readonly string[]
  /** Values, of variables too, by their names in camel case. */
  options: Options
  /** The options that were typed, such as `--repo`; without those of variables. */
  typed: ReadonlySet<string>
}

/** Exit code 2: what was asked for cannot be done so. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
}

/** An option as it is typed: `--token-file` is `tokenFile`, `--no-board` is `board`. */
export type FlagOf<Options> = `--${'' | 'no-'}${Kebab<keyof Options & string>}`

type Kebab<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Kebab<Rest>}`
  : Name

/** Names all that is undefined: `values` by their names in the sentence. */
export function missing(values: Readonly<Record<string, unknown>>): UsageError {
  const names = Object.keys(values).filter((name) => values[name] === undefined)
  return new UsageError(`missing: ${names.join('; ')}.`)
}

/**
 * Refuses options that would have no effect here: somebody who types one expects an effect. Not
 * their variables: these may be set for other commands.
 */
export function refuseNeedless<Options>(
  { typed }: Input<Options>,
  needless: readonly (FlagOf<Options> | { long?: string | undefined })[],
  when: string,
): void {
  const names = needless.map((one) => (typeof one === 'string' ? one : (one.long ?? '')))
  const given = names.filter((name) => typed.has(name))
  if (given.length === 0) return
  throw new UsageError(`${given.map((name) => `${name} has no effect ${when}`).join('; ')}.`)
}
