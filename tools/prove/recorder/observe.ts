// Records what the gateways and the shop see: the answers to webhooks, the lines that the shop's
// listeners write into the edge's log, and the events that reach its endpoint.

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReceivedEvent } from '../../harness/event-receiver.ts'
import type { Seeded } from '../../harness/seeded.ts'
import { followLines } from '../../start/follow-events.ts'
import type { Answered } from './proxy.ts'
import type { Recorder } from './recorder.ts'
import { contentOf, gatewayIn, type SentWebhook } from './sign-again.ts'
import type { System } from './system.ts'

const POLL_MS = 50
/** The share of events that the shop's endpoint refuses: such a program fails at times. */
const REFUSED = 0.05
/** And of those that it works on for so long. */
const SLOW = 0.1
const SLOW_MS = 1_500

export function observe(
  system: System,
  recorder: Recorder,
  { random, onEvent }: { random: Seeded; onEvent: (event: ReceivedEvent) => void },
): { sent: ReadonlyMap<string, SentWebhook>; end(): Promise<void> } {
  const sent = new Map<string, SentWebhook>()
  system.proxies.webhooks.onAnswer = (answered) => {
    const { url, body } = answered.passed
    sent.set(body, { url: system.proxies.webhooks.url + url, body })
    recorder.write(webhookOf(answered))
  }
  system.proxies.gateways.onAnswer = (answered) => recordCall(answered, recorder)
  system.receiver.refuse(async (event) => {
    const startedAt = performance.now()
    if (random.next() < SLOW) await sleep(SLOW_MS)
    const tookMs = Math.floor(performance.now() - startedAt)
    const status = event.forged === undefined && random.next() >= REFUSED ? 204 : 500
    const { id, type, data, forged } = event
    const { transaction, alert, previousRefundedAmount } = data
    const about = { transaction, previousRefundedAmount, ...(alert && { alert }) }
    const contents = transaction ? about : { data }
    recorder.write({
      kind: 'endpoint',
      id,
      type,
      tookMs,
      status,
      ...(forged && { forged }),
      ...contents,
    })
    if (status === 204) onEvent(event)
    return status
  })
  const over = new AbortController()
  const listen = (logFile: string) => {
    // The second edge has not been started yet.
    appendFileSync(logFile, '')
    const of = { end: over.signal, everyMs: POLL_MS }
    return followLines(logFile, (line) => recordListener(line, recorder), of)
  }
  const { edge, secondEdge } = system.processes
  const following = Promise.all([listen(edge.logFile), listen(secondEdge.logFile)])
  // It is awaited at the end. Where the run breaks before that, its logs are gone.
  following.catch(() => undefined)
  return {
    sent,
    async end() {
      over.abort()
      await following
    },
  }
}

/** What the gateway sent, as far as it identifies the event. */
function webhookOf({ passed: { url, body }, status, answer }: Answered) {
  const line = { kind: 'webhook', gateway: gatewayIn(url), status, answer }
  const sent = contentOf(body) as Callback
  const { object, transactionId: payment, ...data } = sent.data ?? {}
  if (object) return { ...line, ...ofStripe(object), eventId: sent.id, says: sent.type }
  if (payment === undefined) return { ...line, payment: sent.id, says: sent.status }
  const { merchantReferenceId: externalReference, currentStatus: says } = data
  return { ...line, payment, externalReference, eventId: sent.eventId, says }
}

/** Of any gateway. */
interface Callback extends Partial<Record<'id' | 'status' | 'eventId' | 'type', string>> {
  data?: { object?: StripeObject } & Partial<
    Record<'transactionId' | 'merchantReferenceId' | 'currentStatus', string>
  >
}

interface StripeObject {
  id: string
  object: string
  payment_intent?: string
}

/** The simulator's ids of a session and of its intent differ in their prefix. */
const sessionIdOf = (intent: string): string => intent.replace(/^pi_/, 'cs_test_')

const ofStripe = ({ id, object, payment_intent: intent = '' }: StripeObject) => ({
  payment: object === 'checkout.session' ? id : sessionIdOf(intent),
})

/**
 * A refund by the payment's id, which is in the request of two gateways, and in the URL of the
 * others. A charge of the bank by our reference of the attempt, in the address for its callbacks.
 */
function recordCall({ passed, status, tookMs }: Answered, recorder: Recorder): void {
  const { url, body } = passed
  if (url.endsWith('/protected/v1/payments')) {
    const { statusCallbackUrl } = JSON.parse(body) as { statusCallbackUrl: string }
    const attempt = new URL(statusCallbackUrl).searchParams.get('reference')
    recorder.write({ kind: 'charge-call', attempt, tookMs: Math.floor(tookMs), status })
    return
  }
  const payment = refundedIn(url, body)
  if (payment === undefined) return
  recorder.write({ kind: 'refund-call', payment, tookMs: Math.floor(tookMs), status })
}

function refundedIn(url: string, body: string): string | undefined {
  if (url.endsWith('/transaction/reverse')) {
    return (JSON.parse(body) as { transactionId: string }).transactionId
  }
  if (url !== '/v1/refunds') return /\/payments\/([^/]+)\/refunds?$/.exec(url)?.[1]
  return sessionIdOf(new URLSearchParams(body).get('payment_intent') ?? '')
}

function recordListener(line: string, recorder: Recorder): void {
  if (!line.startsWith('{"listener"')) return
  const { listener: type, ...payload } = JSON.parse(line) as { listener: string }
  recorder.write({ kind: 'listener', type, status: 200, ...payload })
}
