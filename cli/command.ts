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
  loadFile(): Promise<SignalboxFile>
  /** The files that are not code. */
  loadHome(): Promise<Home>
}

/** signalbox.config.ts. Throws UsageError. */
export function loadConfig({ loadFile }: Pick<World, 'loadFile'>): Promise<SignalboxFile> {
  return loadFile().catch((error: unknown) => {
    throw new UsageError(`signalbox.config.ts cannot be loaded: ${String(error)}`)
  })
}
