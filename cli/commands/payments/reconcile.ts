// Compares a gateway's settlement file with the books of an edge. It changes nothing, but for what
// it keeps of how the file is read, once that worked.

import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { BoardError } from '../../../libraries/client/types.ts'
import { DECIMAL_SIGNS } from '../../../libraries/settlement/amounts.ts'
import { FIELDS } from '../../../libraries/settlement/columns.ts'
import {
  type Comparison,
  compare,
  hasMoney,
  isDifference,
} from '../../../libraries/settlement/compare.ts'
import { DATE_ORDERS } from '../../../libraries/settlement/dates.ts'
import { readSettlement } from '../../../libraries/settlement/read-settlement.ts'
import { ENCODINGS } from '../../../libraries/settlement/table.ts'
import { TAUGHT } from '../../../libraries/settlement/words.ts'
import { isZone } from '../../../worker/payments/domain/days.ts'
import { messageOf } from '../../../worker/shared/log.ts'
import { jsonText, printable } from '../../../worker/shared/printable.ts'
import { define } from '../../command.ts'
import { booksAtEdge } from '../../payments/books-at-edge.ts'
import { comparisonText } from '../../payments/comparison-text.ts'
import { openKeptReading } from '../../payments/kept-reading.ts'
import { edgeOf, PAYMENTS_TARGET } from '../../payments/target.ts'
import { Setting } from '../../setting.ts'
import { JSON_OUTPUT } from '../../settings.ts'
import { noticeTo, saying } from '../../terminal.ts'
import { UsageError } from '../../usage.ts'

const MAX_BYTES = 200 << 20

const OPTIONS = [
  ...PAYMENTS_TARGET,
  new Setting('--gateway <KEY>', 'whose file it is: its key in signalbox.config.ts'),
  new Setting(
    '--map <COLUMNS>',
    'which column is what, such as id=Bank No,amount=Net; kept for the gateway; none forgets',
  ),
  new Setting(
    '--words <WORDS>',
    "what words of type or state mean, such as 'Sale=payment,Vrac=none'; kept; none forgets",
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

export const command = define({
  argument: ['FILE', 'settlement file of the gateway: CSV, or another separated text'],
  usage: 'FILE --gateway KEY [options]',
  description: `\
Compares each row with the payments of --edge URL, or of the running signalbox: by the gateway's id,
then ours, then the reference with the amount. Prints what differs, what is here and not in the
file, for the file's days, and the sums of both. Exits with 1 if there is a difference or no money
in the file, with 2 if it could not compare. Where the file can be read in two ways, it says so and
stops. The columns of --map are ${FIELDS.join(', ')};
each word of --words is ${TAUGHT.join(', ')}. What is given of how the file is read is kept for this
gateway in the data folder, once it worked. Nothing else is written, here or at the edge.`,
  options: OPTIONS,
  async run(input, context) {
    const { io, cwd } = context
    const { gateway = '', ask, json, zone } = input.options
    const [file = ''] = input.arguments
    if (!isZone(zone)) throw new UsageError(`--zone ${zone} is no time zone.`)
    const { here, ...edge } = await edgeOf(input, context, {
      FILE: file || undefined,
      '--gateway KEY, whose file it is': gateway || undefined,
    })
    const kept = await openKeptReading(here && join(here.dir, 'reconcile.json'), gateway)
    const reading = await kept.reading(input.options)
    const bytes = await readFile(resolve(cwd, file)).catch((error: unknown) => {
      throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`)
    })
    if (bytes.length > MAX_BYTES) throw new UsageError(`${file} is larger than 200 MiB.`)
    const read = readSettlement(bytes, reading)
    if (!read.ok) {
      const sentences = [read.message, kept.names() ?? []].flat()
      throw new UsageError(printable(sentences.join(' ')))
    }
    const { check, ...books } = booksAtEdge(edge, gateway)
    try {
      const work = () => compare(read.settlement, ask ? { ...books, check } : books, zone)
      const comparison = await saying('comparing with the books…', { io }, work)
      if (hasMoney(comparison)) await kept.keep(reading)
      io.out(json ? `${jsonText(comparison)}\n` : comparisonText(comparison))
      const names = kept.names()
      if (names !== undefined) noticeTo(io)(names)
      return isAgreed(comparison) ? 0 : 1
    } catch (error) {
      if (!(error instanceof BoardError)) throw error
      noticeTo(io, 'error')(error.message)
      return 2
    }
  },
})

/** A file without money was compared with nothing. */
const isAgreed = (comparison: Comparison): boolean =>
  hasMoney(comparison) && !comparison.rows.some(isDifference)
