// Copies the database of payments, while it is used, to one file.

import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { backUp, type DatabaseLocation, noteBackup } from '../../system/database/backup/backup.ts'
import { checkCopy } from '../../system/database/backup/backup-copy.ts'
import { backUpInto } from '../../system/database/backup/backup-folder.ts'
import { messageOf } from '../../worker/shared/log.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { countOf, DATABASE, onUsedDatabase } from '../payments/database.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { noticeTo } from '../terminal.ts'
import { missing, refuseNeedless } from '../usage.ts'

const FORCE = new Setting('--force', 'overwrite FILE')
const SHRINK = new Setting('--shrink', 'with --force: also a FILE that has more payments')
const KEEP = new Setting('--keep <DAYS>', 'in a folder: one of each day, for so many days').whole(
  1,
  3_650,
)

const OPTIONS = [
  ...DATABASE,
  FORCE,
  SHRINK,
  KEEP,
  new Setting('--check', 'copy nothing: say whether FILE is a copy that can be restored'),
] as const

type Options = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['FILE', 'the file to write, or a folder, where it gets a name of its own'],
  usage: 'FILE|FOLDER [--keep DAYS] [--data DIR] [--env FILE] [--force]',
  description: `\
Copies the database of what runs with the data folder, or ran last, or the one that LIBSQL_URL
names, as of one moment, also while Signalbox runs. FILE has its name once it is whole and on the
disk, and only its owner can read it. It holds all payments, and no secret, no board and no log.

A copy of another shop is never replaced, and one with more payments only with --shrink: a database
that was made anew does not take the place of the last good copy. In a FOLDER each copy has a name
of its own. --keep 14 removes old ones: the newest of each of 14 days stays, all of the last two
hours, the one with the most payments, and all of other shops. --check FILE reads its pages, tables
and counts.`,
  options: OPTIONS,
  async run(input, context) {
    const { options } = input
    const { cwd } = context
    const [argument] = input.arguments
    if (argument === undefined) throw missing({ 'FILE, the file to write': argument })
    const target = resolve(cwd, argument)
    if (options.check) {
      refuseNeedless(input, [...DATABASE, FORCE, SHRINK, KEEP], 'with --check')
      const { payments, schema, installation } = await checkCopy(target)
      const of = installation === undefined ? '' : ` of the shop ${installation}`
      context.io.out(`${target} can be restored: ${countOf(payments)}${of}, schema ${schema}.\n`)
      return 0
    }
    const isFolder = statSync(target, { throwIfNoEntry: false })?.isDirectory() ?? false
    if (isFolder) refuseNeedless(input, [FORCE, SHRINK], 'with a folder')
    else refuseNeedless(input, [KEEP], 'with a file')
    return await onUsedDatabase(input, context, async (location) => {
      const said = isFolder
        ? await intoFolder(location, target, options, context)
        : await toFile(location, target, options)
      if (location.dataDir !== undefined) {
        // The copy is there all the same.
        await noteBackup(location.dataDir).catch((error: unknown) =>
          noticeTo(context.io)(`The metrics do not show this backup: ${messageOf(error)}.`),
        )
      }
      return said
    })
  },
})

async function toFile(location: DatabaseLocation, file: string, options: Options): Promise<string> {
  const { force: overwrites = false, shrink: shrinks = false } = options
  const { payments } = await backUp(location, file, { overwrites, shrinks })
  return `Copied ${countOf(payments)} to ${file}.`
}

async function intoFolder(
  location: DatabaseLocation,
  folder: string,
  { keep: days }: Options,
  { io, cwd }: Context,
): Promise<string> {
  const made = await backUpInto(location, folder, { days, now: Date.now() })
  const { payments, path, larger, removed } = made
  if (larger) {
    const had = `${relative(cwd, larger.path)} has ${countOf(larger.payments)}, and it stays`
    noticeTo(io)(`${had}. If they are lost, signalbox restore brings them back.`)
  }
  const went = removed > 0 ? ` ${removed} old ones were removed.` : ''
  return `Copied ${countOf(payments)} to ${path}.${went}`
}
