// Prints a fresh link to the console: the one that a start printed works once.

import { resolve } from 'node:path'
import { DATA_DIR } from '../local/options.ts'
import { signInLink } from '../local/sign-in-link.ts'
import type { Command } from './payments/command.ts'
import { readPlaceOf } from './payments/running-system.ts'

export const signIn = {
  name: 'sign-in',
  usage: '[--data DIR]',
  summary: 'prints a link that signs a browser in to a running `npm start`, once',
  about: `\
Without --data the folder is ${DATA_DIR}. The link is good for a day and for one browser, which
stays signed in for 30 days. Whoever has it sees the board and may charge and refund.`,
  options: ['data', 'help'],
  async run(flags, io) {
    const dir = resolve(flags.given('data') ?? DATA_DIR)
    flags.positionals([])
    flags.check()
    const { secret, ...place } = await readPlaceOf(dir)
    io.out(`${await signInLink(secret, place, Date.now())}\n`)
    return 0
  },
} satisfies Command
