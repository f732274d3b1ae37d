// Sends one webhook to a running system. The gateway simulator writes and signs it, about a payment
// that only this command knows: so it needs no simulator that runs, and the edge may be any.

import { ulid } from 'ulid'
import { webhookOf } from '../../local/simulator/one-webhook.ts'
import { fromMinor, isAmount, isCurrency } from '../../worker/payments/domain/money.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import type { Io, World } from '../command.ts'
import { nameOf, OPTIONS, type OptionName } from '../options.ts'
import { type Settings, UsageError } from '../settings.ts'
import { ask, firstLineOf } from './ask.ts'
import { configuredGateways } from './configured.ts'
import { type Callbacks, SIMULATED_STATUSES, type SimulatedStatus } from './drivers/driver-tools.ts'
import { DRIVER_TOOLS } from './drivers/registry.ts'
import { hiding, secretValues } from './hide.ts'
import { lookUp } from './look-up.ts'
import { type Place, readPlace } from './place.ts'

const MAX_TIMES = 1_000

export async function run(settings: Settings, world: World): Promise<number> {
  const { io } = world
  const place = await readPlace(settings, world)
  const { callbacks, secret, url, event, times } = await readRequest(settings, io, place)
  const { headers, body } = await callbackOf(event, callbacks, secret)
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

function callbackOf(event: SimulatedEvent, { gateway, ways }: Callbacks, secret: string) {
  const { transactionId, reference, externalReference, currency, eventId } = event
  // Without our external reference, Stripe's would be ignored as a payment of others.
  const metadata = { external_reference_id: externalReference ?? transactionId, reference }
  const order = {
    ...{ gateway, reference, currency, metadata, description: '', expiresInMs: 0 },
    ...(externalReference !== undefined && { externalReference }),
    amount: gateway === 'stripe' ? event.amount : fromMinor(event.amount, currency),
    paymentMetadata: metadata,
  }
  const terms = { id: transactionId, eventId, secret, now: Date.now() }
  return webhookOf(order, ways[event.status] ?? [], terms)
}

interface SimulatedEvent {
  status: SimulatedStatus
  /** The gateway's id of the payment. */
  transactionId: string
  /** Our external reference at the gateway; undefined when it is not known here. */
  externalReference: string | undefined
  reference: string
  /** Minor units. */
  amount: number
  currency: string
  eventId: string
}

interface Request {
  callbacks: Callbacks
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
  const callbacks = gateway && DRIVER_TOOLS[gateway.driver]?.callbacks
  if (gateway && !callbacks) {
    throw new UsageError(`The driver ${gateway.driver} has no simulated webhook.`)
  }
  if (edge === undefined) settings.missing(`${nameOf('edge')} or --data DIR`)
  const given = readEvent(settings, callbacks)
  const times = settings.whole('times', [1, MAX_TIMES]) ?? 1
  const secret = callbacks?.signsWith && gateway ? gateway.settings[callbacks.signsWith] : ''
  if (secret === undefined)
    settings.missing(gateway?.variables[callbacks?.signsWith ?? ''] ?? 'a secret')
  settings.needless(callbacks?.ignores ?? [], `for ${key}`)
  const transaction = settings.text('transaction')
  if (transaction !== undefined) settings.needless(['token-file'], 'with --transaction')
  // Without --transaction the payment is looked up by its reference.
  const canBeFound = transaction !== undefined || given.reference !== ''
  if (callbacks?.needs.includes('transaction') && !canBeFound) {
    settings.missing(describe('transaction'))
  }
  settings.check()
  if (!callbacks || edge === undefined) throw new UsageError('There is nothing to send.')

  const found = transaction === undefined ? await lookUp(edge, token, key, given.reference) : {}
  if (found.notice !== undefined) io.err(`${found.notice}\n`)
  const transactionId = transaction ?? found.transactionId
  if (transactionId === undefined && callbacks.needs.includes('transaction')) {
    throw new UsageError(`missing: ${describe('transaction')}.`)
  }
  const event = {
    ...given,
    transactionId: transactionId ?? `simulated-${ulid()}`,
    externalReference: found.externalReference,
    eventId: settings.text('event-id') ?? `evt_simulated_${ulid()}`,
  }
  const url = `${edge}${routePath('payments.webhook', routePrefixOf(file), key)}`
  return { callbacks, secret: secret ?? '', url, event, times }
}

function readEvent(settings: Settings, callbacks: Callbacks | undefined) {
  const needs = callbacks?.needs ?? ['reference', 'amount', 'currency']
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
  const known = SIMULATED_STATUSES.filter((it) => callbacks?.ways[it] ?? !callbacks)
  const status = known.find((it) => it === given)
  if (!status) settings.malformed(`--status must be one of ${known.join(', ')}, not ${given}`)
  return { reference, amount: Number(amount), currency, status: status ?? 'Paid' }
}

const describe = (name: OptionName): string => `${nameOf(name)}, ${OPTIONS[name].help}`
