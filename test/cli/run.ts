// The command line under test, in this process: what it prints, and its exit code.

import type { Context, Environment, Input } from '../../cli/command.ts'
import { COMMANDS } from '../../cli/commands.ts'
import { main } from '../../cli/program.ts'
import { defineConfig } from '../../worker/payments/define-config.ts'

const OURS = process.env

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
    ended: () => new AbortController().signal,
  }
  // Not where a developer's own system may run.
  const cwd = '/'
  const loadFile = async () => defineConfig({})
  const whole = { io, env: { HOME: process.env.HOME, ...env }, cwd, loadFile, ...context }
  // Commander reads the variables of options there, before anything else happens.
  process.env = whole.env
  const ending = main(argv, whole, commands)
  process.env = OURS
  return { code: await ending, ...said }
}

/** What a command would be given: `watch --repo x`. Throws what is printed of a refusal. */
export async function inputOf<Options = Record<string, unknown>>(
  argv: readonly string[],
  env: Environment = {},
): Promise<Input<Options>> {
  let given: unknown
  const command = {
    run: async (input: Input) => {
      given = input
      return 0
    },
  }
  const names = Object.entries(COMMANDS)
  const commands = names.map(([name, it]) => [name, { ...it, load: async () => command }])
  const { code, err } = await run(argv, env, {}, Object.fromEntries(commands))
  if (code !== 0) throw new Error(err)
  return given as Input<Options>
}
