// The port of one command of the command line, and what a command may touch of its process.

import type { Environment } from '../../local/environment.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import type { Flags, OptionName } from './flags.ts'

export interface Io {
  /** Results only. */
  out(text: string): void
  /** Notices and errors. */
  err(text: string): void
}

/** What a command works on. */
export interface Surroundings {
  env: Environment
  /** signalbox.config.ts */
  file: SignalboxFile
}

export interface Command {
  /** The words after the program's own name. */
  name: string
  /** What stands after the name. */
  usage: string
  /** One line. */
  summary: string
  /** Further lines for --help. */
  about: string
  options: readonly OptionName[]
  /** Answers the exit code. Throws UsageError for 2. */
  run(flags: Flags, io: Io, surroundings: Surroundings): Promise<number>
}
