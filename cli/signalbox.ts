#!/usr/bin/env node
// The command line: picks the command and turns what it throws into an exit code.

import './heap.ts'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command, Io } from './commands/command.ts'
import { doctor } from './commands/doctor.ts'
import { sync } from './commands/sync.ts'
import { token } from './commands/token.ts'
import { watch } from './commands/watch.ts'
import { helpOf, helpOfAll } from './help.ts'
import { processIo } from './process-io.ts'
import { type Environment, environment, Settings, UsageError, VERSION } from './settings.ts'

export const COMMANDS: readonly Command[] = [watch, sync, token, doctor]

/** Runs one command line to its exit code; `argv` without the program. */
export async function main(
  argv: readonly string[],
  io: Io,
  env: Environment = environment(),
): Promise<number> {
  const [name, ...rest] = argv
  if (name === '--version' || name === '-v') {
    io.out(`${VERSION}\n`)
    return 0
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    io.out(helpOfAll(COMMANDS))
    return 0
  }
  const command = COMMANDS.find((it) => it.name === name)
  if (!command) {
    io.err(name === undefined ? helpOfAll(COMMANDS) : `There is no command ${name}; try --help.\n`)
    return 2
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    io.out(helpOf(command))
    return 0
  }
  try {
    return await command.run(new Settings(rest, command.options, env), io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`signalbox-sidecar ${command.name}: ${error.message}\n`)
    return 2
  }
}

function isMain(): boolean {
  const script = process.argv[1]
  // npx runs a link in node_modules/.bin.
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url)
}

if (isMain()) {
  const code = await main(process.argv.slice(2), processIo())
  // Only once a pipe took all that was written; a watcher's leftover handle cannot hold the end up.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}
