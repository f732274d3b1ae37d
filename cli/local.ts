#!/usr/bin/env node
// The command line of this checkout: picks the command and turns what it throws into an exit code.
// (The sidecar's own, which is installed beside boards, is cli/signalbox.ts.)

import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../local/environment.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import type { Command, Io } from './payments/command.ts'
import { doctor } from './payments/doctor.ts'
import { Flags, UsageError } from './payments/flags.ts'
import { helpOf, helpOfAll } from './payments/help.ts'
import { simulate } from './payments/simulate.ts'
import { signIn } from './sign-in.ts'

export const COMMANDS: readonly Command[] = [doctor, simulate, signIn]

export interface World {
  env: Environment
  /** signalbox.config.ts, which is a program of the operator's and may throw. */
  loadFile(): Promise<SignalboxFile>
}

/** Runs one command line to its exit code; `argv` without the program. */
export async function main(argv: readonly string[], io: Io, world: World): Promise<number> {
  const command = COMMANDS.find((it) => wordsOf(it).every((word, at) => argv[at] === word))
  if (!command) {
    if (argv.some((word) => ['--help', '-h', 'help'].includes(word))) {
      io.out(helpOfAll(COMMANDS))
      return 0
    }
    const asked = argv.slice(0, 2).join(' ')
    io.err(argv.length === 0 ? helpOfAll(COMMANDS) : `There is no ${asked}; try --help.\n`)
    return 2
  }
  const rest = argv.slice(wordsOf(command).length)
  if (rest.includes('--help') || rest.includes('-h')) {
    io.out(helpOf(command))
    return 0
  }
  try {
    const flags = new Flags(rest, command.options, world.env)
    return await command.run(flags, io, { env: world.env, file: await load(world) })
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`signalbox ${command.name}: ${error.message}\n`)
    return 2
  }
}

const wordsOf = ({ name }: Command): string[] => name.split(' ')

async function load(world: World): Promise<SignalboxFile> {
  try {
    return await world.loadFile()
  } catch (error) {
    throw new UsageError(`signalbox.config.ts cannot be loaded: ${String(error)}`)
  }
}

function isMain(): boolean {
  const script = process.argv[1]
  // npx may run a link to it.
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url)
}

if (isMain()) {
  const io = {
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
  }
  process.exitCode = await main(process.argv.slice(2), io, {
    env: process.env,
    loadFile: async () => (await import('../signalbox.config.ts')).default,
  })
}
