// The command line under test, in this process: what it prints, and its exit code.

import { CHECKOUT } from '../../cli/checkout.ts'
import type { World } from '../../cli/command.ts'
import { main } from '../../cli/program.ts'
import { type Environment, Settings } from '../../cli/settings.ts'
import { checkoutHome } from '../../local/checkout-home.ts'
import { defineConfig } from '../../worker/payments/define-config.ts'

export interface Run {
  code: number
  out: string
  err: string
}

/** The commands of a checkout, unless `world` says otherwise. */
export async function run(
  argv: readonly string[],
  env: Environment = {},
  world: Partial<World> = {},
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
    ended: () => new Promise<never>(() => undefined),
  }
  // Not where a developer's own system may run.
  const cwd = '/'
  const loadFile = async () => defineConfig({})
  const loadHome = async () => checkoutHome
  const code = await main(argv, {
    ...{ io, env: { HOME: process.env.HOME, ...env }, cwd, commands: CHECKOUT, loadFile, loadHome },
    ...world,
  })
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
  const names = Object.keys(CHECKOUT)
  const commands = Object.fromEntries(names.map((name) => [name, async () => command]))
  const { code, err } = await run(argv, env, { commands })
  if (code !== 0) throw new Error(err)
  return given
}
