// Makes an empty database of payments of a backup.

import { resolve } from 'node:path'
import { restore } from '../../system/backup.ts'
import { openDataFolder } from '../../system/data-folder.ts'
import { type Context, type Input, missing, noticeTo } from '../command.ts'
import { countOf, type DatabaseOptions, onDatabase } from '../payments/database.ts'

export async function run(
  input: Input<DatabaseOptions & { asCopy?: boolean }>,
  context: Context,
): Promise<number> {
  const [argument] = input.arguments
  const { asCopy = false } = input.options
  const { io, env, cwd } = context
  if (argument === undefined) throw missing({ 'FILE, a file of signalbox backup': argument })
  return await onDatabase(input, context, async (place) => {
    const dataDir = 'file' in place ? place.dataDir : undefined
    const folder = dataDir === undefined ? undefined : { dataDir, trustsData: false, env }
    // No start may make the database meanwhile.
    const held = folder && (await openDataFolder(folder, 'node', noticeTo(io)))
    try {
      const { payments, open } = await restore(resolve(cwd, argument), place, Date.now(), {
        asCopy,
      })
      const where = 'file' in place ? place.file : 'the database that LIBSQL_URL names'
      const next = asCopy
        ? `It is a copy: what is open stays with the other installation: ${countOf(open)}.`
        : `The next start asks the gateways about what is open: ${countOf(open)}.`
      return `Restored ${countOf(payments)} to ${where}. ${next}`
    } finally {
      await held?.release()
    }
  })
}
