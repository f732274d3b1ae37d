// Prints a fresh link to the console, or a code for a phone: those that a start printed work once.

import { join } from 'node:path'
import { DATA_DIR } from '../../system/data/data-folder.ts'
import { OF_LEAD, phoneLink, signInLink } from '../../system/local/tokens.ts'
import type { Scope } from '../../worker/shared/access.ts'
import { define } from '../command.ts'
import { phoneText } from '../greeting.ts'
import { readDataFolder, runningAbove } from '../running-system.ts'
import { Setting } from '../setting.ts'
import { TRUST_DATA } from '../settings.ts'
import { refuseNeedless, UsageError } from '../usage.ts'

const OPTIONS = [
  new Setting('--phone', 'print a code for the camera of a phone; Signalbox runs with --share'),
  new Setting('--work', 'the session may end claims of agents, and pause the board'),
  new Setting('--boards', 'the session may remove boards that are gone from the list'),
  new Setting('--subject <NAME>', 'who gets the link, for the audit trail of payments'),
  new Setting(
    '--data <DIR>',
    'its data folder (or DATA_DIR) [.signalbox here or in a folder above]',
  ),
  TRUST_DATA,
] as const

export const command = define({
  usage: '[--phone] [--work] [--boards] [--subject NAME] [--data DIR]',
  description: `\
The link works once, within a day, and that of --phone within ten minutes. The browser then stays
signed in for a day. Everyone who has the link can see the board, charge and refund.`,
  options: OPTIONS,
  async run(input, { io, env, cwd }) {
    const { options } = input
    const data = options.data ?? (env.DATA_DIR || undefined)
    const dir = data ?? (await runningAbove(cwd)) ?? join(cwd, DATA_DIR)
    const { secret, local } = await readDataFolder(
      dir,
      data === undefined ? options : { ...options, data },
      env,
    )
    if (options.phone) {
      refuseNeedless(input, ['--work', '--boards', '--subject'], 'with --phone')
      const { shared } = local
      if (!shared) throw new UsageError('No phone can reach it: start Signalbox with --share.')
      io.out(phoneText(shared, phoneLink(secret, shared.urls[0], Date.now()), io.isTerminal))
      return 0
    }
    const { work, boards, subject } = options
    const also = new Set<Scope>()
    if (work) for (const scope of OF_LEAD) also.add(scope)
    if (boards) also.add('board:write')
    io.out(`${await signInLink(secret, { ...local, also: [...also], subject }, Date.now())}\n`)
    return 0
  },
})
