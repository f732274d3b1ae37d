// Copies the database of payments, while it is used, to one file.

import { resolve } from 'node:path'
import { messageOf } from '../../sidecar/log.ts'
import { backUp, noteBackup } from '../../system/backup.ts'
import { define } from '../command.ts'
import { type Context, type Input, missing, noticeTo } from '../context.ts'
import { countOf, DATABASE, onDatabase } from '../payments/database.ts'
import { type OptionsOf, Setting } from '../setting.ts'

const OPTIONS = [...DATABASE, new Setting('--force', 'overwrite FILE')] as const

export const command = define({
  argument: ['FILE', 'the file to write'],
  usage: 'FILE [--data DIR] [--env FILE] [--force]',
  description: `\
Copies the database in the data folder, or the one that LIBSQL_URL names, as of one moment, also
while Signalbox runs. FILE has its name once it is whole and on the disk, and only its owner can
read it. It holds all payments, and no secret, no board and no log. From cron, run it as the user of
Signalbox, with a new name each time. Try a copy out: signalbox restore fills an empty folder with
it. npm start keeps its payments in a server: for LIBSQL_URL and LIBSQL_AUTH_TOKEN take database and
databaseToken of its local.json.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const { options } = input
  const [argument] = input.arguments
  if (argument === undefined) throw missing({ 'FILE, the file to write': argument })
  const file = resolve(context.cwd, argument)
  return await onDatabase(input, context, async (location) => {
    const payments = await backUp(location, file, { overwrites: options.force ?? false })
    if (location.dataDir !== undefined) {
      // The copy is there all the same.
      await noteBackup(location.dataDir).catch((error: unknown) =>
        noticeTo(context.io)(`The metrics do not show this backup: ${messageOf(error)}.`),
      )
    }
    return `Copied ${countOf(payments)} to ${file}.`
  })
}
