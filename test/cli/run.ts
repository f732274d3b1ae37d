// The command line under test, in this process: what it prints, and its exit code.

import type { Commands, World } from '../../cli/command.ts'
import { COMMANDS, main } from '../../cli/program.ts'
import { type Environment, Settings } from '../../cli/settings.ts'
import { defineConfig } from '../../worker/payments/define-config.ts'

export interface Run {
  code: number
  out: string
  err: string
}

export async function run(
  argv: readonly string[],
  env: Environment = {},
  world: Partial<World> = {},
  commands: Commands = COMMANDS,
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
  const whole = { io, env: { HOME: process.env.HOME, ...env }, cwd, loadFile, ...world }
  const code = await main(argv, whole, commands)
  return { code, ...said }
}

/** What a command would be given: `watch --repo x`. Throws as it does. */
export async function settingsOf(
  argv: readonly string[],
  env: Environment = {},
): Promise<Settings> {
  let given = new Settings({}, [], {})
  const command = {
    run: async (settings: Settings) => {
      given = settings
      return 0
    },
  }
  const names = Object.keys(COMMANDS)
  const commands = Object.fromEntries(names.map((name) => [name, async () => command]))
  const { code, err } = await run(argv, env, {}, commands)
  if (code !== 0) throw new Error(err)
  return given
}
