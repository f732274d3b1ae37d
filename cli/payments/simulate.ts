// Sends one webhook to a running system, with a signature like its gateway's.

import { ulid } from 'ulid'
import { isAmount, isCurrency } from '../../worker/payments/domain/money.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import type { Io, World } from '../command.ts'
import { nameOf, OPTIONS, type OptionName } from '../options.ts'
import { type Settings, UsageError } from '../settings.ts'
import { ask, firstLineOf } from './ask.ts'
import { configuredGateways } from './configured.ts'
import {
  type CallbackMaker,
  SIMULATED_STATUSES,
  type SimulatedEvent,
} from './drivers/driver-tools.ts'
import { DRIVER_TOOLS } from './drivers/registry.ts'
import { hiding, secretValues } from './hide.ts'
import { lookUp } from './look-up.ts'
import { type Place, readPlace } from './place.ts'

const MAX_TIMES = 1_000

export async function run(settings: Settings, world: World): Promise<number> {
  const { io } = world
  const place = await readPlace(settings, world)
  const { maker, secret, url, event, times } = await readRequest(settings, io, place)
  const { headers, body } = await maker.make(event, secret)
  const hide = hiding(secretValues({ ...place.env, secret }))
  const answers = await Promise.all(
    Array.from({ length: times }, () => ask(url, { method: 'POST', headers, body })),
  )
  for (const answer of answers) {
    if (answer.ok) io.out(hide(`${answer.status} ${firstLineOf(answer.text)}\n`))
    else io.err(hide(`No answer from ${new URL(url).origin}: ${answer.why}.\n`))
  }
  return answers.every((answer) => answer.ok && answer.status === 200) ? 0 : 1
}

interface Request {
  maker: CallbackMaker
  /** Empty if the gateway does not sign. */
  secret: string
  url: string
  event: SimulatedEvent
  times: number
}

async function readRequest(settings: Settings, io: Io, place: Place): Promise<Request> {
  const { file, edge, token } = place
  const gateways = configuredGateways(file, place.env)
  const keys = gateways.map(({ key }) => key).join(', ')
  const key = settings.positional(`GATEWAY, one of ${keys}`)
  const gateway = gateways.find((it) => it.key === key)
  if (key !== '' && !gateway) {
    throw new UsageError(`signalbox.config.ts has no gateway ${key}; it has ${keys}.`)
  }
  const maker = gateway && DRIVER_TOOLS[gateway.driver]?.callbacks
  if (gateway && !maker) {
    throw new UsageError(`The driver ${gateway.driver} has no simulated webhook.`)
  }
  if (edge === undefined) settings.missing(`${nameOf('edge')} or --data DIR`)
  const given = readEvent(settings, maker)
  const times = settings.whole('times', [1, MAX_TIMES]) ?? 1
  const secret = maker?.signsWith && gateway ? gateway.settings[maker.signsWith] : ''
  if (secret === undefined)
    settings.missing(gateway?.variables[maker?.signsWith ?? ''] ?? 'a secret')
  settings.needless(maker?.ignores ?? [], `for ${key}`)
  const transaction = settings.text('transaction')
  if (transaction !== undefined) settings.needless(['token-file'], 'with --transaction')
  // Without --transaction the payment is looked up by its reference.
  const canBeFound = transaction !== undefined || given.reference !== ''
  if (maker?.needs.includes('transaction') && !canBeFound) settings.missing(describe('transaction'))
  settings.check()
  if (!maker || edge === undefined) throw new UsageError('There is nothing to send.')

  const found = transaction === undefined ? await lookUp(edge, token, key, given.reference) : {}
  if (found.notice !== undefined) io.err(`${found.notice}\n`)
  const transactionId = transaction ?? found.transactionId
  if (transactionId === undefined && maker.needs.includes('transaction')) {
    throw new UsageError(`missing: ${describe('transaction')}.`)
  }
  const now = Date.now()
  const event = {
    ...given,
    transactionId: transactionId ?? `simulated-${ulid(now)}`,
    externalReference: found.externalReference,
    eventId: settings.text('event-id') ?? `evt_simulated_${ulid(now)}`,
    now,
  }
  return {
    maker,
    secret: secret ?? '',
    url: `${edge}${routePath('payments.webhook', routePrefixOf(file), key)}`,
    event,
    times,
  }
}

function readEvent(settings: Settings, maker: CallbackMaker | undefined) {
  const needs = maker?.needs ?? ['reference', 'amount', 'currency']
  const read = (name: 'reference' | 'amount' | 'currency') =>
    needs.includes(name) ? settings.required(name) : (settings.text(name) ?? '')
  const reference = read('reference')
  const amount = read('amount')
  const currency = read('currency')
  if (amount !== '' && !(/^\d+$/.test(amount) && isAmount(Number(amount)))) {
    settings.malformed('--amount must be a whole number above 0')
  }
  if (currency !== '' && !isCurrency(currency)) {
    settings.malformed('--currency must be three capital letters')
  }
  const given = settings.text('status') ?? 'Paid'
  const status = SIMULATED_STATUSES.find((it) => it === given)
  const known = maker?.statuses ?? SIMULATED_STATUSES
  if (!status || !known.includes(status)) {
    settings.malformed(`--status must be one of ${known.join(', ')}, not ${given}`)
  }
  return { reference, amount: Number(amount), currency, status: status ?? 'Paid' }
}

const describe = (name: OptionName): string => `${nameOf(name)}, ${OPTIONS[name].help}`
