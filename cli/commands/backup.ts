// Copies the database of payments, while it is used, to one file.

import { resolve } from 'node:path'
import { messageOf } from '../../sidecar/log.ts'
import { backUp, noteBackup } from '../../system/backup.ts'
import { type Context, type Input, missing, noticeTo } from '../command.ts'
import { countOf, type DatabaseOptions, onDatabase } from '../payments/database.ts'

export async function run(
  input: Input<DatabaseOptions & { force?: boolean }>,
  context: Context,
): Promise<number> {
  const { options } = input
  const [argument] = input.arguments
  if (argument === undefined) throw missing({ 'FILE, the file to write': argument })
  const file = resolve(context.cwd, argument)
  return await onDatabase(input, context, async (place) => {
    const payments = await backUp(place, file, { overwrites: options.force ?? false })
    if (place.dataDir !== undefined) {
      // The copy is there all the same.
      await noteBackup(place.dataDir).catch((error: unknown) =>
        noticeTo(context.io)(`The metrics do not show this backup: ${messageOf(error)}.`),
      )
    }
    return `Copied ${countOf(payments)} to ${file}.`
  })
}
