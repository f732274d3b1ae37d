// Records what the gateways, the shop and people see: the answers to webhooks, the lines that the
// shop's listeners write into the edge's log, the events that reach its endpoint, and notices.

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { followLines } from '../../start/follow-events.ts'
import type { LoadPlan } from './loads/load.ts'
import type { Answered } from './proxy.ts'
import { contentOf, gatewayIn, type SentWebhook } from './sign-again.ts'
import type { ShopEvent } from './system.ts'

const POLL_MS = 50
/** The share of events that the shop's endpoint refuses: such a program fails at times. */
const REFUSED = 0.05
/** And of those that it works on for so long. */
const SLOW = 0.1
const SLOW_MS = 1_500
/** What becomes of a notice while there is a load; afterwards each is taken. */
const HOWS = [
  [6, 'takes'],
  [2, 'refuses'],
  [1, 'hangs'],
  [1, 'loses'],
] as const
const STATUSES = { takes: 204, refuses: 500, loses: undefined }

export function observe(
  { system, recorder, random, ending }: LoadPlan,
  onEvent: (event: ShopEvent) => void,
): { sent: ReadonlyMap<string, SentWebhook>; end(): Promise<void> } {
  const sent = new Map<string, SentWebhook>()
  const { gateways, webhooks } = system.proxies
  webhooks.onAnswer = (answered) => {
    const { url, body } = answered.passed
    sent.set(body, { url: webhooks.url + url, body })
    recorder.write(webhookOf(answered))
  }
  gateways.onAnswer = (answered) => {
    const call = callOf(answered)
    if (call) recorder.write(call)
  }
  system.receiver.receive = async ({ id, body: event, forged }) => {
    const startedAt = performance.now()
    if (random.next() < SLOW) await sleep(SLOW_MS)
    const tookMs = Math.floor(performance.now() - startedAt)
    const status = forged === undefined && random.next() >= REFUSED ? 204 : 500
    const { type, data } = event
    const { transaction, alert, previousRefundedAmount } = data
    const contents = transaction ? { transaction, alert, previousRefundedAmount } : { data }
    recorder.write({ kind: 'endpoint', id, type, tookMs, status, forged, ...contents })
    if (status === 204) onEvent(event)
    return status
  }
  system.people.receive = ({ body: { timestamp, data }, ...of }) => {
    const how = ending.isOver ? 'takes' : random.weighted(HOWS)
    recorder.write({ kind: 'notice', how, ...of, timestamp, causes: data.causes })
    return how === 'hangs' ? new Promise(() => undefined) : STATUSES[how]
  }
  const over = new AbortController()
  const listen = (logFile: string) => {
    // The second edge has not been started yet.
    appendFileSync(logFile, '')
    const onLine = (line: string) => {
      if (!line.startsWith('{"listener"')) return
      const { listener: type, ...payload } = JSON.parse(line) as { listener: string }
      recorder.write({ kind: 'listener', type, status: 200, ...payload })
    }
    return followLines(logFile, onLine, { end: over.signal, everyMs: POLL_MS })
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

/** Of any gateway. */
interface Callback extends Partial<Record<'id' | 'status' | 'eventId' | 'type', string>> {
  data?: { object?: { id: string; object: string; payment_intent?: string } } & Partial<
    Record<'transactionId' | 'merchantReferenceId' | 'currentStatus', string>
  >
}

/** What the gateway sent, as far as it identifies the event. */
function webhookOf({ passed: { url, body }, status, answer }: Answered) {
  const line = { kind: 'webhook', gateway: gatewayIn(url), status, answer }
  const sent = contentOf(body) as Callback
  const { object, transactionId: payment, ...data } = sent.data ?? {}
  if (object) {
    const { id, object: what, payment_intent: intent = '' } = object
    const session = what === 'checkout.session' ? id : sessionIdOf(intent)
    return { ...line, payment: session, eventId: sent.id, says: sent.type }
  }
  if (payment === undefined) return { ...line, payment: sent.id, says: sent.status }
  const { merchantReferenceId: externalReference, currentStatus: says } = data
  return { ...line, payment, externalReference, eventId: sent.eventId, says }
}

/** The simulator's ids of a Stripe session and of its intent differ in their prefix. */
const sessionIdOf = (intent: string): string => intent.replace(/^pi_/, 'cs_test_')

/** A charge of the bank by our reference of the attempt, in the address for its callbacks. */
function callOf({ passed: { url, body }, status, tookMs: exact }: Answered) {
  const tookMs = Math.floor(exact)
  if (url.endsWith('/protected/v1/payments')) {
    const { statusCallbackUrl } = JSON.parse(body) as { statusCallbackUrl: string }
    const attempt = new URL(statusCallbackUrl).searchParams.get('reference')
    return { kind: 'charge-call', attempt, tookMs, status }
  }
  const payment = refundedIn(url, body)
  return payment === undefined ? undefined : { kind: 'refund-call', payment, tookMs, status }
}

/** The payment's id, which is in the request of two gateways, and in the URL of the others. */
function refundedIn(url: string, body: string): string | undefined {
  if (url.endsWith('/transaction/reverse')) return JSON.parse(body).transactionId
  if (url !== '/v1/refunds') return /\/payments\/([^/]+)\/refunds?$/.exec(url)?.[1]
  return sessionIdOf(new URLSearchParams(body).get('payment_intent') ?? '')
}
