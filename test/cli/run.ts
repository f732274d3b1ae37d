// The command line under test, in this process: what it prints, and its exit code.

import { COMMANDS } from '../../cli/commands.ts'
import type { Context, Environment } from '../../cli/context.ts'
import { main } from '../../cli/program.ts'
import type { Input } from '../../cli/usage.ts'
import { defineConfig } from '../../worker/payments/define-config.ts'
import { tempFolder } from '../support/temp-folder.ts'

export interface Run {
  code: number
  out: string
  err: string
}

export async function run(
  argv: readonly string[],
  env: Environment = {},
  context: Partial<Context> = {},
  commands = COMMANDS,
): Promise<Run> {
  const said = { out: '', err: '' }
  const io = {
    out: (text: string) => {
      said.out += text
    },
    err: (text: string) => {
      said.err += text
    },
    isTerminal: false,
    shutdownSignal: () => new AbortController().signal,
  }
  // Neither where a developer's own system may run, nor a machine of folders to look through.
  const cwd = context.cwd ?? tempFolder()
  const loadFile = async () => defineConfig({})
  const whole = { io, env: { HOME: process.env.HOME, ...env }, loadFile, ...context, cwd }
  return { code: await main(argv, whole, commands), ...said }
}

/** Without what `reconcile` says on a machine where it takes more than a second. */
export const quick = ({ err, ...rest }: Run): Run => ({
  ...rest,
  err: err.replace('signalbox: comparing with the books…\n', ''),
})

/** What a command would be given: `watch --repo x`. Throws what is printed of a refusal. */
export async function inputOf<Options = Record<string, unknown>>(
  argv: readonly string[],
  env: Environment = {},
): Promise<Input<Options>> {
  let given: unknown
  const keep = async (input: Input) => {
    given = input
    return 0
  }
  const commands = Object.entries(COMMANDS).map(([name, { load, ...listed }]) => [
    name,
    { ...listed, load: async () => ({ command: { ...(await load?.())?.command, run: keep } }) },
  ])
  const { code, err } = await run(argv, env, {}, Object.fromEntries(commands))
  if (code !== 0) throw new Error(err)
  return given as Input<Options>
}
