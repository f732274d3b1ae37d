// Makes an empty database of payments of a backup.

import { resolve } from 'node:path'
import { restore } from '../../local/backup.ts'
import { openDataFolder } from '../../local/data-folder.ts'
import { type Context, type Input, missing, noticeTo } from '../command.ts'
import { type DatabaseOptions, namedDatabase } from '../payments/database.ts'

export async function run(input: Input<DatabaseOptions>, context: Context): Promise<number> {
  const { argument } = input
  const { io, env, cwd } = context
  if (argument === undefined) throw missing({ 'FILE, a file of signalbox backup': argument })
  const place = await namedDatabase(input, context)
  const dataDir = 'file' in place ? place.dataDir : undefined
  // No start may make the database meanwhile.
  const held =
    dataDir === undefined
      ? undefined
      : await openDataFolder({ dataDir, trustsData: false, env }, 'node', noticeTo(io))
  try {
    const { payments, open } = await restore(resolve(cwd, argument), place, Date.now())
    const where = 'file' in place ? place.file : 'the database that LIBSQL_URL names'
    const next = `The next start asks the gateways about the ${open} that are open.`
    io.out(`${payments} payments are in ${where}. ${next}\n`)
    return 0
  } finally {
    await held?.release()
  }
}
