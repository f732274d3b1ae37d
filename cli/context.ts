// What a command is given: what was typed, where, and the operator's configuration.

import manifest from '../package.json' with { type: 'json' }
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import { type Io, noticeTo } from './terminal.ts'
import { UsageError } from './usage.ts'

export const VERSION = manifest.version

export type Environment = Readonly<Record<string, string | undefined>>

export interface Context {
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
  /** Prints one sentence for the person at the terminal. */
  notice(sentence: string): void
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
