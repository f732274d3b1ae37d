// The port of one command of the command line, and what a command may touch of its process.

import type { OptionName, Settings } from '../settings.ts'

export interface Io {
  /** Results only: a token, a report. */
  out(text: string): void
  /** Logs, progress, errors. */
  err(text: string): void
  /** Standard error is a terminal, with somebody before it. */
  isTerminal: boolean
  /** Resolves with the reason when the process is asked to end. */
  ended(withParent: boolean): Promise<string>
}

export interface Command {
  name: string
  /** What stands after the name. */
  usage: string
  /** One line. */
  summary: string
  /** Further lines for --help. */
  about: string
  options: readonly OptionName[]
  /** Answers the exit code. Throws UsageError for 2. */
  run(settings: Settings, io: Io): Promise<number>
}
