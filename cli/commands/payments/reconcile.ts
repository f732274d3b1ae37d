// Compares a gateway's settlement file with the books of an edge. It changes nothing, but for what
// it keeps of how the file is read.

import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DECIMAL_SIGNS } from '../../../libraries/settlement/amounts.ts'
import { type ColumnMap, FIELDS } from '../../../libraries/settlement/columns.ts'
import {
  CLASSES,
  type Compared,
  type Comparison,
  compare,
  isDifference,
} from '../../../libraries/settlement/compare.ts'
import { DATE_ORDERS } from '../../../libraries/settlement/dates.ts'
import { type Reading, readSettlement } from '../../../libraries/settlement/read-settlement.ts'
import { ENCODINGS } from '../../../libraries/settlement/table.ts'
import { jsonText, messageOf, printable } from '../../../sidecar/log.ts'
import { replacePrivateFile } from '../../../sidecar/private-file.ts'
import { isZone } from '../../../worker/payments/domain/day.ts'
import { majorText } from '../../../worker/payments/domain/money.ts'
import { define } from '../../command.ts'
import { type Context, type Input, missing, noticeTo, saying, UsageError } from '../../context.ts'
import { BooksError, booksAtEdge } from '../../payments/books-at-edge.ts'
import { readTarget, TARGET } from '../../payments/target.ts'
import { runningStart, systemIn } from '../../running-system.ts'
import { type OptionsOf, Setting } from '../../setting.ts'
import { EDGE, JSON_OUTPUT } from '../../settings.ts'

const MAX_BYTES = 200 << 20

const OPTIONS = [
  ...TARGET,
  new Setting('--gateway <KEY>', 'whose file it is: its key in signalbox.config.ts'),
  new Setting(
    '--map <COLUMNS>',
    'which column is what, such as id=Bank No,amount=Net; kept for the gateway',
  ),
  new Setting('--decimal <SIGN>', 'what begins the decimals: . or , [as the amounts show]').oneOf(
    DECIMAL_SIGNS,
  ),
  new Setting('--dates <ORDER>', 'how dates are written [as they show]').oneOf(DATE_ORDERS),
  new Setting('--currency <CUR>', 'of all rows, for a file that has no column of it'),
  new Setting('--delimiter <SIGN>', 'between columns; tab for a tab [as the file shows]'),
  new Setting('--encoding <NAME>', 'of the file [as it shows]').oneOf(ENCODINGS),
  new Setting('--zone <ZONE>', "the time zone of the file's days, such as Asia/Baghdad").or('UTC'),
  new Setting('--ask', 'first ask the gateway about each payment that differs'),
  JSON_OUTPUT,
] as const

type ReconcileOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['FILE', 'settlement file of the gateway: CSV, or another separated text'],
  usage: 'FILE --gateway KEY [options]',
  description: `\
Compares each row with the payments of --edge URL, or of the running signalbox: by the gateway's id,
then ours, then the reference with the amount. Prints what differs, and what is here and not in the
file, for the file's days. Exits with 1 if there is a difference, with 2 if it could not compare.
Where the file can be read in two ways, it says so and stops. The columns of --map are
${FIELDS.join(', ')}; what is given of how the file is read is kept for this gateway in the data
folder. Nothing else is written, here or at the edge.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<ReconcileOptions>, context: Context): Promise<number> {
  const { io, env, cwd } = context
  const { gateway, ask, json, zone } = input.options
  const [file] = input.arguments
  if (!isZone(zone)) throw new UsageError(`--zone ${zone} is no time zone.`)
  const here = (await runningStart(input, env)) ?? (await systemIn(cwd, input, env))
  const { edge, token } = await readTarget(input, context, here)
  const needed = {
    FILE: file,
    '--gateway KEY, whose file it is': gateway,
    [`${EDGE.called} or --data DIR`]: edge,
    '--token-file FILE, which holds the access token': token,
  }
  if (!file || !gateway || !edge || !token) throw missing(needed)
  const kept = here && join(here.dir, 'reconcile.json')
  const reading = await readingOf(input.options, gateway, kept)
  const bytes = await readFile(resolve(cwd, file)).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`)
  })
  if (bytes.length > MAX_BYTES) throw new UsageError(`${file} is larger than 200 MiB.`)
  const read = readSettlement(bytes, reading)
  if (!read.ok) throw new UsageError(printable(read.message))
  const { check, ...books } = booksAtEdge({ edge, token, gateway })
  try {
    const work = () => compare(read.settlement, ask ? { ...books, check } : books, zone)
    const comparison = await saying('comparing with the books…', { io }, work)
    const different = comparison.rows.filter(isDifference)
    if (json) io.out(`${jsonText(comparison)}\n`)
    else io.out(tableOf(comparison, different))
    return different.length > 0 ? 1 : 0
  } catch (error) {
    if (!(error instanceof BooksError)) throw error
    noticeTo(io, 'error')(error.message)
    return 2
  }
}

type Kept = Record<string, Reading>

/** As given, else as it was given before for this gateway. */
export async function readingOf(
  options: Partial<ReconcileOptions>,
  gateway: string,
  file: string | undefined,
): Promise<Reading> {
  const { map, decimal, dates, currency, encoding, delimiter } = options
  const given: Reading = {
    ...(map !== undefined && { map: mapOf(map) }),
    ...(decimal !== undefined && { decimal }),
    ...(dates !== undefined && { dates }),
    ...(currency !== undefined && { currency }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
  }
  if (file === undefined) return given
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const kept = JSON.parse(text) as Kept
  const reading = { ...kept[gateway], ...given }
  if (Object.keys(given).length > 0) {
    await replacePrivateFile(file, `${JSON.stringify({ ...kept, [gateway]: reading }, null, 2)}\n`)
  }
  return reading
}

function mapOf(text: string): ColumnMap {
  const entries = text.split(',').map((part) => {
    const [name = '', ...column] = part.split('=')
    const field = FIELDS.find((known) => known === name.trim())
    const value = column.join('=').trim()
    if (field !== undefined && value !== '') return [field, value] as const
    throw new UsageError(`--map has ${FIELDS.join('=, ')}=, and not "${part}".`)
  })
  return Object.fromEntries(entries)
}

const NAMES: Record<Compared['class'], string> = {
  unreadable: 'unreadable',
  twice: 'twice in the file',
  not_ours: 'not ours',
  other_currency: 'other currency',
  other_amount: 'other amount',
  paid_there: 'paid there and not here',
  refunded_there: 'refunded there and not here',
  late: 'late: paid after it had ended',
  same: 'the same',
  here_only: 'here and not there',
}

function tableOf({ counts, skipped, days }: Comparison, different: readonly Compared[]): string {
  const rows = different.map(cellsOf)
  const head = ['line', 'difference', 'payment', 'there', 'here', '']
  const widths = head.map((name, at) =>
    Math.max(name.length, ...rows.map((cells) => cells[at]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  const table = rows.length > 0 ? `${[head, ...rows].map(line).join('\n')}\n\n` : ''
  const sums = CLASSES.filter((name) => counts[name] > 0).map(
    (name) => `${counts[name]} ${NAMES[name]}`,
  )
  const undated = 'without dates (--map date=…) what it lacks is not known'
  const span = days ? `${days.first} to ${days.last}` : undated
  const left = skipped > 0 ? `; left out: ${skipped} of sums, fees and payouts` : ''
  return `${table}${sums.join(', ') || 'no rows'} (${span}${left})\n`
}

function cellsOf({ class: name, line, first, why, row, ours, movement }: Compared): string[] {
  const payment = ours?.reference ?? row?.reference ?? row?.id ?? row?.ours ?? movement?.reference
  const there = row && `${row.type === 'refund' ? '-' : ''}${text(row.amount, row.currency)}`
  const has = ours?.amount !== undefined && ours.currency !== undefined
  const here = has ? `${text(ours.amount ?? 0, ours.currency ?? '')} ${ours.status}` : ''
  const booked = movement && `${movement.amount} ${movement.currency} ${movement.kind}`
  const id = ours?.transactionId ?? movement?.transactionId
  const more = why ?? (first === undefined ? id : `as line ${first}`)
  return [line ?? '', NAMES[name], payment ?? '', there ?? '', booked ?? here, more ?? '']
    .map(String)
    .map(printable)
}

const text = (amount: number, currency: string) => `${majorText(amount, currency)} ${currency}`
