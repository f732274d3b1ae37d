// Prints a fresh link to the console: the one that a start printed works once.

import { join } from 'node:path'
import { DATA_DIR } from '../../local/data-folder.ts'
import { signInLink } from '../../local/tokens.ts'
import type { Context, Input } from '../command.ts'
import { type RunningOptions, readDataFolder, runningAbove } from '../data-folder.ts'

export async function run(
  { options }: Input<RunningOptions>,
  { io, env, cwd }: Context,
): Promise<number> {
  const dir = options.data ?? runningAbove(cwd) ?? join(cwd, DATA_DIR)
  const { secret, local } = await readDataFolder(dir, options, env)
  io.out(`${await signInLink(secret, local, Date.now())}\n`)
  return 0
}
