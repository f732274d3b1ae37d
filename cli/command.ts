// What a command is given, and what it must have.

import type { SignalboxFile } from '../worker/payments/define-config.ts'
import type { CommandName } from './commands.ts'
import { type Environment, type Settings, UsageError } from './settings.ts'

export interface Io {
  /** Results only: a token, a report. */
  out(text: string): void
  /** Logs, notices, errors. */
  err(text: string): void
  /** Standard error is a terminal. */
  isTerminal: boolean
  /** Aborted when the process is asked to end; the reason is a word. */
  ended(ending?: Ending): AbortSignal
  /** Tells the parent process, if it listens. */
  tell?(message: object): void
}

export interface Ending {
  /** The end of standard input asks, too. */
  withParent?: boolean
  /** The name under which npm runs us: if it begins with `start`, npm's end asks, too. */
  npmScript?: string | undefined
  /** Absent: a second signal ends the process at once. */
  onSecondSignal?: () => void
  /** Absent: SIGHUP asks, as a terminal does that closes. */
  onHangup?: () => void
}

/** Tells the person at the terminal one sentence. */
export const noticeTo =
  ({ err }: Io) =>
  (sentence: string): void =>
    err(`signalbox: ${sentence}\n`)

export interface Command {
  /** Resolves with the exit code. Throws UsageError for 2. */
  run(settings: Settings, world: World): Promise<number>
}

export type Commands = { readonly [Name in CommandName]?: (() => Promise<Command>) | undefined }

export interface World {
  io: Io
  env: Environment
  /** Where it was typed. */
  cwd: string
  /** Runs signalbox.config.ts, which is the operator's own program and may throw. */
  loadFile(choice: ConfigChoice): Promise<SignalboxFile>
}

export interface ConfigChoice {
  /** Without the file of the folder that the command runs in. */
  skips: boolean
  /** Tells the person one sentence. */
  notice(sentence: string): void
}

/** signalbox.config.ts. Throws UsageError. */
export function loadConfig(
  settings: Settings,
  { loadFile, io }: Pick<World, 'loadFile' | 'io'>,
): Promise<SignalboxFile> {
  return loadFile({ skips: settings.has('no-config'), notice: noticeTo(io) }).catch(
    (error: unknown) => {
      if (error instanceof UsageError) throw error
      throw new UsageError(`signalbox.config.ts cannot be loaded: ${String(error)}`)
    },
  )
}
