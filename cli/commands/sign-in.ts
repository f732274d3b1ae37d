// Prints a fresh link to the console: the one that a start printed works once.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DATA_DIR } from '../../local/data-folder.ts'
import { signInLink } from '../../local/tokens.ts'
import type { Context, Input } from '../command.ts'
import { type RunningOptions, readDataFolder } from '../data-folder.ts'

export async function run(
  { options }: Input<RunningOptions>,
  { io, env, cwd }: Context,
): Promise<number> {
  const dir = options.data ?? nearestDataFolder(cwd)
  const { secret, local } = await readDataFolder(dir, options, env)
  io.out(`${await signInLink(secret, local, Date.now())}\n`)
  return 0
}

/** The data folder of the project that `cwd` is in, at any depth; else the one in `cwd`. */
function nearestDataFolder(cwd: string): string {
  for (let at = cwd; ; at = dirname(at)) {
    const dir = join(at, DATA_DIR)
    if (existsSync(join(dir, 'local.json'))) return dir
    if (at === dirname(at)) return join(cwd, DATA_DIR)
  }
}
