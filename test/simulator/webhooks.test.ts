import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { fib } from '../../simulator/fib.ts'
import type { Payment, Transition } from '../../simulator/payments.ts'
import { redirect } from '../../simulator/redirect.ts'
import { batchesOf, cancellable, WebhookSender } from '../../simulator/webhooks.ts'

const BEFORE: Payment = {
  id: 'p1',
  gateway: 'redirect',
  reference: 'order-1',
  externalReference: 'ext-1',
  amount: 25_000,
  currency: 'IQD',
  description: '',
  callbackUrl: 'http://shop/callback',
  state: 'open',
  createdAt: 0,
  updatedAt: 0,
  expiresAt: 60_000,
}
const AFTER: Payment = { ...BEFORE, state: 'paid', updatedAt: 10_000, paidAt: 10_000 }
const PAID: Transition = { before: BEFORE, after: AFTER, refundFailed: false, now: 10_000 }
const FIB: Transition = {
  ...PAID,
  before: { ...BEFORE, gateway: 'fib' },
  after: { ...AFTER, gateway: 'fib' },
}

const plan = (faults = {}, transition = PAID) =>
  batchesOf(
    ...([transition, 'event-1', faults, () => 'event-2'] as const),
    { redirect, fib }[transition.after.gateway as 'redirect' | 'fib'].webhooks.content,
  )

describe('the webhooks of a transition', () => {
  it('are a single one, without delay, with every claim of the gateway', () => {
    expect(plan()).toEqual([
      {
        afterMs: 0,
        webhooks: [
          {
            eventId: 'event-1',
            paymentId: 'p1',
            gateway: 'redirect',
            url: 'http://shop/callback',
            content: {
              eventType: 'STATUS_CHANGED',
              eventId: 'event-1',
              timestamp: '1970-01-01T00:00:10.000Z',
              data: {
                transactionId: 'p1',
                merchantReferenceId: 'ext-1',
                orderId: 'order-1',
                customerMsisdn: null,
                errorMessage: null,
                previousStatus: 'PENDING',
                currentStatus: 'SUCCESS',
                amount: { currency: 'IQD', value: 25_000 },
              },
            },
          },
        ],
      },
    ])
  })

  it('of FIB have only id and status', () => {
    expect(plan({}, FIB)[0]?.webhooks[0]?.content).toEqual({ id: 'p1', status: 'PAID' })
  })

  it('are none without a callback URL', () => {
    const { callbackUrl: _, ...deaf } = AFTER
    expect(plan({}, { ...PAID, after: deaf })).toEqual([])
  })

  it('are late with the true time, or have an earlier time', () => {
    const [late] = plan({ lateMs: 400 })
    expect(late).toMatchObject({
      afterMs: 400,
      webhooks: [{ content: { timestamp: '1970-01-01T00:00:10.000Z' } }],
    })
    expect(plan({ ageMs: 9_000 })[0]?.webhooks[0]?.content.timestamp).toBe(
      '1970-01-01T00:00:01.000Z',
    )
  })

  it('are out of order: the previous state follows, as a separate event', () => {
    const [first, second] = plan({ outOfOrder: true })
    expect(first?.webhooks[0]?.content).toMatchObject({ data: { currentStatus: 'SUCCESS' } })
    expect(second?.webhooks).toMatchObject([
      {
        eventId: 'event-2',
        content: { timestamp: '1970-01-01T00:00:00.000Z', data: { currentStatus: 'PENDING' } },
      },
    ])
  })

  it('of a refund have their own event types', () => {
    const paid = { before: AFTER, now: 0 }
    const refunded: Payment = { ...AFTER, state: 'refunded' }
    const types = [
      plan({}, { ...paid, after: refunded, refundFailed: false }),
      plan({}, { ...paid, after: AFTER, refundFailed: true }),
    ].map(([wave]) => wave?.webhooks[0]?.content.eventType)
    expect(types).toEqual(['REFUND_COMPLETED', 'REFUND_FAILED'])
  })

  it('that are tampered with have an unknown id, for a gateway that does not sign', async () => {
    const [forged] = plan({ tampered: true }, FIB)[0]?.webhooks ?? []
    const { body } = await fib.webhooks.encode(forged ?? expect.fail('There is none.'))
    expect(JSON.parse(body)).toEqual({ id: 'event-1', status: 'PAID' })
  })
})

const WEBHOOK = { eventId: 'e1', paymentId: 'p1', gateway: 'fib', url: 'u', content: {} } as const
const WAVE = { afterMs: 0, webhooks: [WEBHOOK] }

/** `answers`: statuses of the responses, 0 for an error; then 200. */
function playground(answers: number[] = []) {
  const clock = new FakeClock()
  const cancelling = cancellable(clock)
  const start = clock.now()
  const posts: number[] = []
  const webhooks = new WebhookSender({
    clock: cancelling,
    encode: async () => ({ headers: {}, body: '{}' }),
    async post() {
      posts.push(clock.now() - start)
      const status = answers.shift() ?? 200
      if (status === 0) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
      return { status, text: 'word' }
    },
    retriesMs: [1_000, 2_000],
  })
  return { clock, cancelling, webhooks, posts }
}

describe('the webhook sender', () => {
  it('sends an accepted webhook once', async () => {
    const { clock, webhooks, posts } = playground([204])
    const done = webhooks.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([0])
    expect(webhooks.sent).toMatchObject([{ attempt: 1, status: 204, answer: 'word' }])
  })

  it('retries with the same event id and the configured waits, until the response is 2xx', async () => {
    const { clock, webhooks, posts } = playground([500, 0])
    const done = webhooks.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([0, 1_000, 3_000])
    expect(webhooks.sent.map(({ eventId, attempt, status }) => [eventId, attempt, status])).toEqual(
      [
        ['e1', 1, 500],
        ['e1', 2, null],
        ['e1', 3, 200],
      ],
    )
    expect(webhooks.sent[1]?.error).toBe('ECONNREFUSED')
  })

  it('gives up after the last attempt', async () => {
    const { clock, webhooks, posts } = playground([401, 401, 401, 200])
    const done = webhooks.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toHaveLength(3)
  })

  it('delays a batch, and sends the next one only after the responses', async () => {
    const { clock, webhooks, posts } = playground([500])
    const done = webhooks.send([{ ...WAVE, afterMs: 300 }, WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([300, 1_300, 1_300])
  })

  it('sends nothing after its clock is cancelled', async () => {
    const { clock, cancelling, webhooks, posts } = playground([500])
    void webhooks.send([WAVE])
    await clock.advance(0)
    cancelling.cancelAll()
    await clock.advance(60_000)
    expect(posts).toEqual([0])
    expect(clock.pending).toBe(0)
  })
})
