// Makes an empty database of payments of a backup.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { openDataFolder } from '../../system/data/data-folder.ts'
import { restore } from '../../system/database/backup/backup.ts'
import { usableIn } from '../../system/database/backup/backup-folder.ts'
import { keptInstallation } from '../../system/database/installation.ts'
import { define } from '../command.ts'
import { countOf, DATABASE, onDatabase } from '../payments/database.ts'
import { Setting } from '../setting.ts'
import { noticeTo } from '../terminal.ts'
import { missing, UsageError } from '../usage.ts'

const OPTIONS = [
  ...DATABASE,
  new Setting('--as-copy', 'the database that was backed up goes on: share no payment with it'),
] as const

export const command = define({
  argument: ['FILE', 'a file of signalbox backup, or a folder of them: the newest with payments'],
  usage: 'FILE [--as-copy] [--data DIR] [--env FILE]',
  description: `\
Fills an empty data folder, or an empty database that LIBSQL_URL names. Then start Signalbox there:
its sweeper asks the gateways about every payment and refund that was open, 50 a minute, and applies
their answers. No save of the time before is accepted, should an old process still send one. Events
that were delivered after the backup are delivered again. Charges that began after it are not in it;
the same charge, sent again, finds its payment at a gateway whose charges can be repeated (redirect,
stripe). End every process of the lost database first. --as-copy is for a second installation,
such as staging, beside the first: it draws an id of its own, so no charge finds a payment of the
other one, and what was open there is never sent, checked, cancelled or refunded here. A backup
of an older version is upgraded by the next start, one in LIBSQL_URL by signalbox migrate.`,
  options: OPTIONS,
  async run(input, context) {
    const [argument] = input.arguments
    const { asCopy = false } = input.options
    const { io, env, cwd } = context
    if (argument === undefined) throw missing({ 'FILE, a file of signalbox backup': argument })
    return await onDatabase(input, context, async (location) => {
      const dataDir = 'file' in location ? location.dataDir : undefined
      const folder = dataDir === undefined ? undefined : { dataDir, trustsData: false, env }
      // No start may make the database meanwhile.
      const held = folder && (await openDataFolder(folder, 'node', noticeTo(io)))
      try {
        const file = await copyNamed(resolve(cwd, argument))
        const restored = await restore(file, location, Date.now(), { asCopy })
        const { payments, open, installation } = restored
        // A start there takes no other database for this one.
        const { dataDir } = location
        const kept = dataDir && keptInstallation({ dataDir, trustsData: false, env })
        if (kept && installation !== undefined) await kept.write(installation)
        const from = file === resolve(cwd, argument) ? '' : ` of ${file}`
        const where = 'file' in location ? location.file : 'the database that LIBSQL_URL names'
        const next = asCopy
          ? `It is a copy: what is open stays with the other installation: ${countOf(open)}.`
          : `The next start asks the gateways about what is open: ${countOf(open)}.`
        return `Restored ${countOf(payments)}${from} to ${where}. ${next}`
      } finally {
        await held?.release()
      }
    })
  },
})

/** An empty copy is never meant. Throws UsageError where a folder has no other. */
async function copyNamed(path: string): Promise<string> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  const copy = await usableIn(path)
  if (!copy) throw new UsageError(`${path} has no copy of payments.`)
  return copy.path
}
