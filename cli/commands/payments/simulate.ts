// Sends one webhook to a running system. The gateway simulator writes and signs it, about a payment
// that only this command knows: so it needs no simulator that runs, and the edge may be any.

import { ulid } from 'ulid'
import * as z from 'zod'
import {
  type SimulatedStatus,
  simulationOf,
  type Traits,
  webhookOf,
} from '../../../simulator/one-webhook.ts'
import { configuredGateways } from '../../../worker/payments/config/gateway-settings.ts'
import { fromMinor, isCurrency } from '../../../worker/payments/domain/money.ts'
import { routePath, routePrefixOf } from '../../../worker/payments/webhooks/route-names.ts'
import { jsonIn } from '../../../worker/shared/json.ts'
import { define } from '../../command.ts'
import type { Context } from '../../context.ts'
import {
  hiding,
  PAYMENTS_TARGET,
  type PaymentsTarget,
  readTarget,
  secretValues,
  signingSecret,
} from '../../payments/target.ts'
import { ask, firstLineOf } from '../../request.ts'
import { type OptionsOf, Setting } from '../../setting.ts'
import { EDGE } from '../../settings.ts'
import type { Io } from '../../terminal.ts'
import { type Input, missing, refuseNeedless, UsageError } from '../../usage.ts'

const STATUSES = [
  'Paid',
  'Failed',
  'Expired',
  'Cancelled',
  'Refunded',
] as const satisfies SimulatedStatus[]

const OPTIONS = [
  ...PAYMENTS_TARGET,
  new Setting('--reference <R>', "the shop's name for the payment"),
  new Setting('--amount <N>', 'what the gateway says was paid, in minor units').whole(
    1,
    Number.MAX_SAFE_INTEGER,
  ),
  new Setting('--currency <CUR>', 'three capital letters'),
  new Setting('--status <STATUS>', 'what the gateway says of the payment')
    .oneOf(STATUSES)
    .or('Paid'),
  new Setting('--transaction <ID>', "the gateway's name for the payment"),
  new Setting('--event-id <ID>', 'id of the event; a repeated id is a duplicate [a new id]'),
  new Setting('--times <N>', 'send the same webhook N times at once').whole(1, 1_000).or(1),
] as const

type SimulateOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['GATEWAY', 'key of the gateway in signalbox.config.ts'],
  usage: 'GATEWAY --reference R --amount N --currency CUR [options]',
  description: `\
Sends it to --edge URL, or to the running signalbox that --data names. The signing secret is taken
from the environment, from --env or from --data. Without --transaction, and with a token, it looks
for the newest payment of this reference and sends a webhook about that payment. If there is none,
the edge keeps the webhook as parked until the payment appears. A gateway that signs nothing needs
--transaction or a reference that is found, and the edge asks it for the real status. Not every
gateway reports each status. Prints the status and the body of each answer.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<SimulateOptions>, context: Context): Promise<number> {
  const { io } = context
  const { times } = input.options
  const target = await readTarget(input, context)
  const { simulation, secret, url, event } = await readRequest(input, io, target)
  const { headers, body } = await callbackOf(event, simulation, secret)
  const hide = hiding(secretValues({ ...target.env, secret }))
  const answers = await Promise.all(
    Array.from({ length: times }, () => ask(url, { method: 'POST', headers, body })),
  )
  for (const answer of answers) {
    if (answer.ok) io.out(hide(`${answer.status} ${firstLineOf(answer.text)}\n`))
    else io.err(hide(`No answer from ${new URL(url).origin}: ${answer.why}.\n`))
  }
  return answers.every((answer) => answer.ok && answer.status === 200) ? 0 : 1
}

function callbackOf(event: SimulatedEvent, { gateway, traits }: Simulated, secret: string) {
  const { transactionId, reference, externalReference, currency, eventId } = event
  // Without our external reference, Stripe's would be ignored as a payment of others.
  const metadata = { external_reference_id: externalReference ?? transactionId, reference }
  const order = {
    gateway,
    reference,
    currency,
    metadata,
    description: '',
    expiresInMs: 0,
    ...(externalReference !== undefined && { externalReference }),
    amount: traits.inMinorUnits ? event.amount : fromMinor(event.amount, currency),
    paymentMetadata: metadata,
  }
  const terms = { id: transactionId, eventId, secret, now: Date.now() }
  return webhookOf(order, traits.simulate.ways[event.status] ?? [], terms)
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

/** A gateway, by its name in the simulator. */
interface Simulated {
  gateway: string
  traits: Traits
}

interface Request {
  simulation: Simulated
  /** Empty if the gateway does not sign. */
  secret: string
  url: string
  event: SimulatedEvent
}

const NEEDED = {
  reference: "--reference R, the shop's name for the payment",
  amount: '--amount N, what the gateway says was paid, in minor units',
  currency: '--currency CUR, three capital letters',
  transaction: "--transaction ID, the gateway's name for the payment",
}

async function readRequest(
  input: Input<SimulateOptions>,
  io: Io,
  { file, edge, token, env }: PaymentsTarget,
): Promise<Request> {
  const { options } = input
  const [key] = input.arguments
  const { reference = '', amount = 0, currency = '', status, transaction } = options
  const gateways = configuredGateways(file, env)
  const keys = gateways.map((it) => it.key).join(', ')
  const gateway = gateways.find((it) => it.key === key)
  if (key !== undefined && !gateway) {
    throw new UsageError(`There is no gateway ${key}; signalbox.config.ts has: ${keys}.`)
  }
  const traits = gateway && simulationOf(gateway.driver)
  if (gateway && !traits) {
    throw new UsageError(`The driver ${gateway.driver} has no simulated webhook.`)
  }
  if (currency !== '' && !isCurrency(currency)) {
    throw new UsageError('--currency must be three capital letters.')
  }
  const known = STATUSES.filter((it) => traits?.simulate.ways[it])
  if (traits && !known.includes(status)) {
    throw new UsageError(`--status must be one of ${known.join(', ')}, not ${status}.`)
  }
  const needs = traits?.simulate.needs ?? ['reference', 'amount', 'currency']
  const { signsWith } = traits?.webhooks ?? {}
  const secret =
    signsWith === undefined ? '' : gateway && signingSecret(gateway.settings, signsWith)
  const all = {
    [`GATEWAY, one of ${keys}`]: key,
    [`${EDGE.called} or --data DIR`]: edge,
    // Without --transaction the payment is looked up by its reference.
    ...Object.fromEntries(
      needs.map((name) => [
        NEEDED[name],
        options[name] ?? (name === 'transaction' ? options.reference : undefined),
      ]),
    ),
    [gateway?.variables[signsWith ?? ''] ?? 'a secret']: secret,
  }
  if (Object.values(all).includes(undefined) || !gateway || !traits || edge === undefined) {
    throw missing(all)
  }
  refuseNeedless(input, traits.simulate.ignores ?? [], `for ${gateway.key}`)
  if (transaction !== undefined) refuseNeedless(input, ['--token-file'], 'with --transaction')

  const found = transaction === undefined ? await lookUp(edge, token, gateway.key, reference) : {}
  if (found.notice !== undefined) io.err(`${found.notice}\n`)
  const transactionId = transaction ?? found.transactionId
  if (transactionId === undefined && needs.includes('transaction')) {
    throw missing({ [NEEDED.transaction]: undefined })
  }
  const event = {
    reference,
    amount,
    currency,
    status,
    transactionId: transactionId ?? `simulated-${ulid()}`,
    externalReference: found.externalReference,
    eventId: options.eventId ?? `evt_simulated_${ulid()}`,
  }
  const url = `${edge}${routePath('payments.webhook', routePrefixOf(file), gateway.key)}`
  return { simulation: { gateway: gateway.driver, traits }, secret: secret ?? '', url, event }
}

interface Found {
  transactionId?: string
  externalReference?: string
  /** Shown to the user. */
  notice?: string
}

const listed = z.object({
  transactions: z.array(
    z.union([
      z.object({ id: z.string(), invalid: z.string() }),
      z.object({
        id: z.string(),
        status: z.string(),
        gatewayTransactionId: z.string().exactOptional(),
        externalReferenceId: z.string(),
      }),
    ]),
  ),
})

/** The newest payment with this reference. Without a token the edge is not asked. */
async function lookUp(
  edge: string,
  token: string | undefined,
  gateway: string,
  reference: string,
): Promise<Found> {
  if (token === undefined || reference === '') return {}
  const query = new URLSearchParams({ gateway, reference, limit: '1' })
  const headers = { authorization: `Bearer ${token}` }
  const answer = await ask(`${edge}/api/payments/transactions?${query}`, { headers })
  if (!answer.ok || answer.status !== 200) {
    const why = answer.ok ? `the edge answered ${answer.status}` : answer.why
    return { notice: `The payment of ${reference} could not be looked up: ${why}.` }
  }
  // What is not the answer of an edge is treated as no payment.
  const [payment] = listed.safeParse(jsonIn(answer.text)).data?.transactions ?? []
  if (!payment) {
    return { notice: `There is no payment of ${reference} yet: its webhook will be parked.` }
  }
  if ('invalid' in payment) {
    return { notice: `The payment of ${reference} is ${payment.id}. ${payment.invalid}` }
  }
  const { id, status, gatewayTransactionId, externalReferenceId } = payment
  return {
    ...(gatewayTransactionId !== undefined && { transactionId: gatewayTransactionId }),
    externalReference: externalReferenceId,
    notice: `The payment of ${reference} is ${id}, ${status}.`,
  }
}
