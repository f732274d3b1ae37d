// Prints a fresh link to the console, or a code for a phone: those that a start printed work once.

import { join } from 'node:path'
import { DATA_DIR } from '../../system/data-folder.ts'
import { phoneLink, signInLink } from '../../system/tokens.ts'
import { type Context, type Input, UsageError } from '../command.ts'
import { type RunningOptions, readDataFolder, runningAbove } from '../data-folder.ts'
import { phoneText } from '../greeting.ts'

export async function run(
  { options }: Input<RunningOptions & { phone?: boolean }>,
  { io, env, cwd }: Context,
): Promise<number> {
  const dir = options.data ?? (await runningAbove(cwd)) ?? join(cwd, DATA_DIR)
  const { secret, local } = await readDataFolder(dir, options, env)
  if (options.phone) {
    const { shared } = local
    if (!shared) throw new UsageError('No phone can reach it: start Signalbox with --share.')
    io.out(phoneText(shared, phoneLink(secret, shared.urls[0], Date.now()), io.isTerminal))
    return 0
  }
  io.out(`${await signInLink(secret, local, Date.now())}\n`)
  return 0
}
