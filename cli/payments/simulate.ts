// Sends one webhook to a running system, signed as its gateway would sign it.

import { ulid } from 'ulid'
import { isAmount, isCurrency } from '../../worker/payments/domain/money.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import { ask, wordOf } from './ask.ts'
import { type CallbackMaker, TOLD_STATUSES, type Told } from './callbacks/callback.ts'
import { CALLBACKS } from './callbacks/registry.ts'
import type { Command, Io, Surroundings } from './command.ts'
import { configuredGateways } from './configured.ts'
import { described, type Flags, UsageError } from './flags.ts'
import { hidingIo, secretValues } from './hide.ts'
import { lookUp } from './look-up.ts'
import { type Place, readPlace } from './place.ts'

const MOST_TIMES = 1_000

export const simulate = {
  name: 'payments simulate',
  usage: 'GATEWAY (--edge URL | --data DIR) --reference R --amount N --currency CUR [options]',
  summary: 'sends one webhook to a running system, signed as its gateway would',
  about: `\
GATEWAY is a key of payments.gateways in signalbox.config.ts; what its webhooks are signed with is
taken from the environment, from --env-file, or from --data.
Without --transaction, and with a token, the newest payment of that reference is looked up and
meant; where there is none, the webhook is kept as parked until its payment appears.
fib signs nothing: it needs no more than --transaction, or a reference that is found, and the edge
asks the bank what has really happened. redirect and stripe have no word for Cancelled.
Prints the status and the word of each answer.`,
  options: [
    ...(['edge', 'data', 'env-file', 'token-file'] as const),
    ...(['reference', 'amount', 'currency', 'status', 'transaction', 'event-id', 'times'] as const),
    'help',
  ],
  async run(flags, io, surroundings) {
    const place = await readPlace(flags, surroundings)
    const { maker, secret, url, told, times } = await readRequest(flags, io, surroundings, place)
    const { headers, body } = await maker.make(told, secret)
    const quiet = hidingIo(io, secretValues({ ...place.env, secret }))
    const answers = await Promise.all(
      Array.from({ length: times }, () => ask(url, { method: 'POST', headers, body })),
    )
    for (const answer of answers) {
      if (answer.ok) quiet.out(`${answer.status} ${wordOf(answer.text)}\n`)
      else quiet.err(`No answer from ${new URL(url).origin}: ${answer.why}.\n`)
    }
    return answers.every((answer) => answer.ok && answer.status === 200) ? 0 : 1
  },
} satisfies Command

interface Request {
  maker: CallbackMaker
  /** Empty where nothing is signed. */
  secret: string
  url: string
  told: Told
  times: number
}

async function readRequest(
  flags: Flags,
  io: Io,
  { file }: Surroundings,
  place: Place,
): Promise<Request> {
  const gateways = configuredGateways(file, place.env)
  const keys = gateways.map(({ key }) => key).join(', ')
  const [key = ''] = flags.positionals([`GATEWAY, one of ${keys}`])
  const gateway = gateways.find((it) => it.key === key)
  if (key !== '' && !gateway) {
    throw new UsageError(`signalbox.config.ts has no gateway ${key}; it has ${keys}.`)
  }
  const maker = gateway && CALLBACKS[gateway.driver]
  if (gateway && !maker) throw new UsageError(`Nobody can sign for the driver ${gateway.driver}.`)
  const { edge, token } = place
  if (edge === undefined) flags.missing(`${described('edge')} or --data DIR`)
  const given = readTold(flags, maker)
  const times = whole(flags, 'times', 1, MOST_TIMES)
  const secret = maker?.signsWith && gateway ? gateway.settings[maker.signsWith] : ''
  if (secret === undefined) flags.missing(gateway?.variables[maker?.signsWith ?? ''] ?? 'a secret')
  const transaction = flags.text('transaction')
  // Also the one that is looked up needs a name to be found by.
  const isFound = transaction !== undefined || given.reference !== ''
  if (maker?.needs.includes('transaction') && !isFound) flags.missing(described('transaction'))
  flags.check()
  if (!maker || edge === undefined) throw new UsageError('There is nothing to send.')

  const found = transaction === undefined ? await lookUp(edge, token, key, given.reference) : {}
  if (found.notice !== undefined) io.err(`${found.notice}\n`)
  const transactionId = transaction ?? found.transactionId
  if (transactionId === undefined && maker.needs.includes('transaction')) {
    throw new UsageError(`missing: ${described('transaction')}.`)
  }
  const now = Date.now()
  const told = {
    ...given,
    transactionId: transactionId ?? `simulated-${ulid(now)}`,
    externalReference: found.externalReference,
    eventId: flags.text('event-id') ?? `evt_simulated_${ulid(now)}`,
    now,
  }
  return {
    maker,
    secret: secret ?? '',
    url: `${edge}${routePath('payments.webhook', routePrefixOf(file), key)}`,
    told,
    times,
  }
}

function readTold(flags: Flags, maker: CallbackMaker | undefined) {
  const needs = maker?.needs ?? ['reference', 'amount', 'currency']
  const read = (name: 'reference' | 'amount' | 'currency') =>
    needs.includes(name) ? flags.required(name) : (flags.text(name) ?? '')
  const reference = read('reference')
  const amount = read('amount')
  const currency = read('currency')
  if (amount !== '' && !(/^\d+$/.test(amount) && isAmount(Number(amount)))) {
    flags.malformed('--amount must be a whole number above 0')
  }
  if (currency !== '' && !isCurrency(currency)) {
    flags.malformed('--currency must be three capital letters')
  }
  const word = flags.text('status') ?? 'Paid'
  const status = TOLD_STATUSES.find((it) => it === word)
  const known = maker?.statuses ?? TOLD_STATUSES
  if (!status || !known.includes(status)) {
    flags.malformed(`--status must be one of ${known.join(', ')}, not ${word}`)
  }
  return { reference, amount: Number(amount), currency, status: status ?? 'Paid' }
}

function whole(flags: Flags, name: 'times', otherwise: number, most: number): number {
  const text = flags.text(name)
  if (text === undefined) return otherwise
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most) {
    flags.malformed(`--${name} must be a whole number from 1 to ${most}`)
  }
  return number
}
