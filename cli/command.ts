// What a command is given, and what it must have.

import type { Home } from '../local/home.ts'
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
  /** Resolves with the reason when the process is asked to end. */
  ended(withParent: boolean): Promise<string>
}

export interface Command {
  /** Resolves with the exit code. Throws UsageError for 2. */
  run(settings: Settings, world: World): Promise<number>
}

/** Loaded when it is needed: `watch` must not wait for what `start` imports. */
export type Commands = { readonly [Name in CommandName]?: () => Promise<Command> }

export interface World {
  io: Io
  env: Environment
  /** Where it was typed. */
  cwd: string
  /** The installed package has only some of them. */
  commands: Commands
  /** Runs signalbox.config.ts, which is the operator's own program and may throw. */
  loadFile(choice: ConfigChoice): Promise<SignalboxFile>
  /** The files that are not code. */
  loadHome(): Promise<Home>
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
  const notice = (sentence: string) => io.err(`signalbox: ${sentence}\n`)
  return loadFile({ skips: settings.has('no-config'), notice }).catch((error: unknown) => {
    if (error instanceof UsageError) throw error
    throw new UsageError(`signalbox.config.ts cannot be loaded: ${String(error)}`)
  })
}
