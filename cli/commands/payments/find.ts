// Finds payments by what somebody has of one, as the console's page does.

import * as z from 'zod'
import { majorText, toMinor } from '../../../worker/payments/domain/money.ts'
import { PAYMENT_STATUSES } from '../../../worker/payments/domain/status.ts'
import { jsonText, printable } from '../../../worker/shared/printable.ts'
import { define } from '../../command.ts'
import { edgeOf, PAYMENTS_TARGET } from '../../payments/target.ts'
import { askEdge, failureIn } from '../../request.ts'
import { type OptionsOf, Setting } from '../../setting.ts'
import { JSON_OUTPUT } from '../../settings.ts'
import { noticeTo } from '../../terminal.ts'
import { UsageError } from '../../usage.ts'

const OPTIONS = [
  ...PAYMENTS_TARGET,
  new Setting('--amount <AMOUNT>', 'requested or paid, such as 12.50; with --currency'),
  new Setting('--currency <CUR>', 'requested or paid, such as IQD'),
  new Setting('--status <STATUS>', 'as it is now').oneOf(PAYMENT_STATUSES),
  new Setting('--gateway <KEY>', 'its key in signalbox.config.ts'),
  new Setting('--after <TIME>', 'made then or later: a date (UTC) or a time of ISO 8601'),
  new Setting('--before <TIME>', 'made earlier'),
  JSON_OUTPUT,
] as const

type FindOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['TEXT', 'a part of what the shop named, or the beginning or end of an id'],
  usage: '[TEXT] [options]',
  description: `\
Prints the payments that are found, the newest 50: by three letters or digits of the reference, the
description or the metadata, however they are written, by an id, an amount, a time. Exits with 1 if
there is none. Needs a token with payments:read.`,
  options: OPTIONS,
  async run(input, context) {
    const { io } = context
    const [q] = input.arguments
    const route = `/payments/transactions?${queryOf(q, input.options)}`
    const edge = await edgeOf(input, context)
    const found = await askEdge(edge, route, {}, answered.parse).catch(failureIn)
    if ('failure' in found) {
      noticeTo(io, 'error')(printable(found.failure))
      return 2
    }
    const { transactions, cursor } = found
    if (input.options.json) io.out(`${jsonText(found)}\n`)
    else if (transactions.length === 0) io.out('No payment matches.\n')
    else io.out(`${transactions.map(lineOf).join('\n')}\n${cursor === undefined ? '' : '…\n'}`)
    return transactions.length === 0 ? 1 : 0
  },
})

const answered = z.object({
  transactions: z.array(
    z.looseObject({
      id: z.string(),
      createdAt: z.string(),
      status: z.string(),
      gateway: z.string(),
      reference: z.string(),
      amount: z.int(),
      currency: z.string(),
    }),
  ),
  cursor: z.string().optional(),
})

function queryOf(q: string | undefined, options: FindOptions): URLSearchParams {
  const { amount: typed, currency, status, gateway, after, before } = options
  const amount = typed === undefined ? undefined : toMinor(typed, currency ?? '')
  if (typed !== undefined && (currency === undefined || amount === undefined)) {
    throw new UsageError('--amount is a number such as 12.50, with its --currency.')
  }
  const given = Object.entries({ q, amount, currency, status, gateway, after, before })
  const named = given.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return new URLSearchParams(named)
}

type Row = z.infer<typeof answered>['transactions'][number]

const lineOf = ({ createdAt, status, amount, currency, gateway, reference, id }: Row): string =>
  [
    createdAt,
    status.padEnd(9),
    `${majorText(amount, currency)} ${currency}`,
    gateway,
    reference,
    id,
  ]
    .map(printable)
    .join('  ')
