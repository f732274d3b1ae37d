// One command: how it is called, what it takes, and what runs. Each has it in a file of its own.

import type { Context } from './context.ts'
import type { OptionsOf, Setting } from './setting.ts'
import type { Input } from './usage.ts'

export interface Definition {
  /** The argument before the options; with dots, it may be several. Absent: none. */
  argument?: readonly [name: string, help: string]
  /** The text after the name in the first line of the help. */
  usage: string
  /** For the command's own help. */
  description: string
  options: readonly Setting[]
  /** Resolves with the exit code. Throws UsageError for 2. A method: `define` has its real type. */
  run(input: Input, context: Context): Promise<number>
}

/** A command in the list of all: loaded when it is named. */
export interface Listed {
  /** One line, for the list of commands. */
  summary: string
  /** Absent: it needs a checkout. */
  load: (() => Promise<{ command: Definition }>) | undefined
}

/** `run` gets what `options` declare, and nothing else. */
export const define = <const Options extends readonly Setting[]>(
  definition: Omit<Definition, 'options' | 'run'> & {
    options: Options
    run: (input: Input<OptionsOf<Options>>, context: Context) => Promise<number>
  },
): Definition => definition
