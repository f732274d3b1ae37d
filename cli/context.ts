// What a command is given, and what commands have in common.

import { parseEnv } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import { type Clock, hostClock, STOP_WITHIN_MS } from '../worker/shared/clock.ts'
import type { Fields, Level } from '../worker/shared/log.ts'
import { createLog, messageOf } from '../worker/shared/log.ts'
import { readPlain } from '../worker/shared/plain-file-node.ts'
import { printable } from '../worker/shared/printable.ts'
import { readPrivate, withSecretFiles } from '../worker/shared/secret-files-node.ts'

export const VERSION = manifest.version

export type Environment = Readonly<Record<string, string | undefined>>

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

export interface Context {
  io: Io
  env: Environment
  /** Where it was typed. */
  cwd: string
  /** Runs signalbox.config.ts, which is the operator's own program and may throw. */
  loadFile(choice: ConfigChoice): Promise<SignalboxFile>
}

export interface Io {
  /** Results only: a token, a report. */
  out(text: string): void
  /** Logs, notices, errors. */
  err(text: string): void
  /** Standard error is a terminal. */
  isTerminal: boolean
  /** Resolves with the line that is typed. Absent: nobody is at the terminal. */
  ask?(question: string): Promise<string>
  /** `--log json`: sentences are lines of the log, too. */
  logsJson?: boolean
  /** Aborted when the process is asked to end; the reason is a word. */
  shutdownSignal(options?: ShutdownOptions): AbortSignal
  /** Sends to the parent process, if it has a channel to this one. */
  sendToParent?(message: object): void
  /** The same, and resolves with the answer. */
  askParent?(about: object): Promise<{ why?: string }>
}

const SAID_AFTER_MS = 1_000

/** Says after a second of silence what is done: it would look as if it hung. */
export async function saying<Result>(
  sentence: string,
  { io, clock = hostClock }: { io: Io; clock?: Pick<Clock, 'after'> },
  work: () => Promise<Result>,
): Promise<Result> {
  const done = clock.after(SAID_AFTER_MS, () => noticeTo(io)(sentence))
  try {
    return await work()
  } finally {
    done()
  }
}

export interface ShutdownOptions {
  /** The end of standard input asks, too. */
  withParent?: boolean | undefined
  /** The name under which npm runs us: if it begins with `start`, npm's end asks, too. */
  npmScript?: string | undefined
  /** Absent: a second signal ends the process at once. */
  onSecondSignal?: () => void
  /** Absent: SIGHUP asks, as a terminal does that closes. */
  onHangup?: () => void
}

export interface ConfigChoice {
  /** Without the file of the folder that the command runs in. */
  skips: boolean
  /** Tells the person one sentence. */
  notice(sentence: string): void
}

/** Tells the person at the terminal one sentence. */
export const noticeTo =
  (io: Io, level: Level = 'info') =>
  (sentence: string): void => {
    if (io.logsJson) createLog('json', io.err)(level, 'signalbox.notice', { message: sentence })
    else io.err(`signalbox: ${printable(sentence)}\n`)
  }

/** Prints a result: the text, or under `--log json` the event. */
export function announce(io: Io, text: string, event: string, fields: Fields = {}): void {
  if (io.logsJson) createLog('json', io.out)('info', event, fields)
  else io.out(text)
}

/** signalbox.config.ts; `config` is false for --no-config. Throws UsageError. */
export function loadConfig(
  { config }: { config: boolean },
  { loadFile, io }: Pick<Context, 'loadFile' | 'io'>,
): Promise<SignalboxFile> {
  return loadFile({ skips: !config, notice: noticeTo(io) }).catch((error: unknown) => {
    if (error instanceof UsageError) throw error
    throw new UsageError(`signalbox.config.ts cannot be loaded: ${String(error)}`)
  })
}

/** From the first signal until the process is gone, whatever hangs. In ms. Throws UsageError. */
export function stopWithinMs({ SIGNALBOX_STOP_TIMEOUT: text }: Environment): number {
  if (!text) return STOP_WITHIN_MS
  const [, seconds] = /^([1-9]\d{0,3})s$/.exec(text) ?? []
  if (seconds !== undefined) return Number(seconds) * 1_000
  throw new UsageError(`SIGNALBOX_STOP_TIMEOUT must be a time like 10s or 40s, not "${text}".`)
}

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

/**
 * The variables of the file of --env, else of the environment, with the secrets that are in files.
 * `prefixes`: of the variables of gateways. Throws SecretFileError.
 */
export const variablesIn = async (
  file: string | undefined,
  env: Environment,
  prefixes: readonly string[] = [],
): Promise<Environment> =>
  await withSecretFiles(file === undefined ? env : await readEnvFile(file), prefixes)

/** The variables in the file of --env. Throws SecretFileError. */
export const readEnvFile = async (file: string): Promise<Environment> =>
  parseEnv(await readPrivate('--env', file))

/**
 * Reads the access token again each time, because tokens are rotated. Undefined: none was given. A
 * file that was typed beats SIGNALBOX_TOKEN, which beats SIGNALBOX_TOKEN_FILE.
 */
export function tokenSource(
  { options: { tokenFile }, typed }: Input<{ tokenFile?: string | undefined }>,
  { SIGNALBOX_TOKEN }: Environment,
): (() => Promise<string>) | undefined {
  const variable = SIGNALBOX_TOKEN?.trim()
  if (variable && !typed.has('--token-file')) return async () => bearer(variable)
  return tokenFile === undefined
    ? undefined
    : async () => bearer((await readPlain(tokenFile, { followsLinks: true })).text)
}

/** The access token as it is now. Throws UsageError. */
export async function readToken(source: () => Promise<string>): Promise<string> {
  try {
    return await source()
  } catch (error) {
    throw new UsageError(`The access token cannot be read: ${messageOf(error)}.`)
  }
}

function bearer(text: string): string {
  const token = text.trim()
  // Other characters are not possible in a header, and would look like a failure of the network.
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Error(token === '' ? 'it is empty' : 'it holds characters that no token has')
}
