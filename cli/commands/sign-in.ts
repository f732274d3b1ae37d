// Prints a fresh link to the console: the one that a start printed works once.

import { DATA_DIR } from '../../local/options.ts'
import { signInLink } from '../../local/tokens.ts'
import type { World } from '../command.ts'
import { readDataFolder } from '../data-folder.ts'
import type { Settings } from '../settings.ts'

export async function run(settings: Settings, { io }: World): Promise<number> {
  const dir = settings.given('data') ?? DATA_DIR
  settings.noPositionals()
  settings.check()
  const { secret, local } = await readDataFolder(dir)
  io.out(`${await signInLink(secret, local, Date.now())}\n`)
  return 0
}
