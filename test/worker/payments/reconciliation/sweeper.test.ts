import { describe, expect, it } from 'vitest'
import type { Listeners } from '../../../../worker/payments/domain/events.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type {
  AnyGateway,
  ChargeAnswer,
  GatewayCharge,
  StatusAnswer,
} from '../../../../worker/payments/gateways/gateway.ts'
import { createCaller } from '../../../../worker/payments/gateways/guard/caller.ts'
import type { GatewayGuard } from '../../../../worker/payments/gateways/guard/guard.ts'
import type { Ledger } from '../../../../worker/payments/ledger/ledger.ts'
import type { Dispatch } from '../../../../worker/payments/outbox/dispatch.ts'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import { createSweeper } from '../../../../worker/payments/reconciliation/sweeper.ts'
import { FakeClock, settle } from '../../../support/fake-clock.ts'
import { keptLog, request } from '../../../support/payments.ts'
import { sqliteLedger } from '../../../support/sqlite-ledger.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

interface Options {
  gateway?: Partial<AnyGateway>
  listeners?: Listeners
  /** The endpoint's answer; undefined: there is no endpoint. */
  endpoint?: () => Response
  onMismatch?: 'log' | 'reject'
  isCircuitOpen?: () => boolean
  /** Whether the dispatcher dies during a dispatch. */
  isDispatcherDead?: () => boolean
  /** Replaces operations of the ledger, for the sweeper only. */
  intercept?: (method: string, args: readonly unknown[]) => void
}

/** The sweeper and its dependencies in memory, with one gateway called `bank`. */
function room(options: Options = {}) {
  const clock = new FakeClock()
  const { log, lines } = keptLog()
  const guard: GatewayGuard = {
    admit: async () =>
      options.isCircuitOpen?.()
        ? { ok: false, reason: 'circuit_open', retryAfterMs: 30_000 }
        : { ok: true },
    report: async () => ({ opened: false }),
    accessToken: async () => ({ ok: true, token: 'token' }),
    health: async () => ({}),
  }
  const events: string[] = []
  const hear = (name: string) => (): number => events.push(name)
  const dispatcher = createDispatcher({
    listeners: {
      PaymentSucceeded: hear('PaymentSucceeded'),
      PaymentFailed: hear('PaymentFailed'),
      PaymentCancelled: hear('PaymentCancelled'),
      PaymentRefunded: hear('PaymentRefunded'),
      ...options.listeners,
    },
    ...(options.endpoint && { endpoint: { url: 'https://shop.example/', secrets: [SECRET] } }),
    clock,
    log,
    fetch: async () => options.endpoint?.() ?? new Response(),
  })
  const dispatches: Promise<unknown>[] = []
  const dispatch: Dispatch = (pending) => {
    const dispatching = options.isDispatcherDead?.()
      ? Promise.reject(new Error('died'))
      : dispatcher.dispatch(pending)
    dispatches.push(dispatching.catch(() => undefined))
    return dispatching
  }
  /** Waits until events are dispatched and their outcome is stored. */
  async function dispatched(): Promise<void> {
    while (dispatches.length > 0) {
      await Promise.all(dispatches.splice(0))
      await settle()
    }
  }
  const { subscribers } = dispatcher
  const { ledger, queries } = sqliteLedger({ guard, subscribers, dispatch, clock, log })
  const asked: string[] = []
  const seen = new Proxy(ledger, {
    get(target, method: keyof Ledger) {
      const call = target[method] as (...args: unknown[]) => unknown
      return async (...args: unknown[]) => {
        asked.push(method)
        options.intercept?.(method, args)
        return await call(...args)
      }
    },
  })
  const gateway: AnyGateway = {
    key: 'bank',
    privateFields: [],
    echoedFields: [],
    currencies: 'any',
    chargeIsIdempotent: false,
    charge: () => Promise.reject(new Error('must not be charged')),
    handleWebhook: () => Promise.reject(new Error('is not called')),
    ...options.gateway,
  }
  const nothing = () => undefined
  const sweeper = createSweeper({
    ledger: seen,
    queries,
    gateways: new Map([['bank', gateway]]),
    caller: createCaller({ guard, clock, log, fetch, onTimeout: nothing, onOpened: nothing }),
    onMismatch: options.onMismatch ?? 'log',
    clock,
    log,
  })

  let charges = 0
  /** A charge whose webhook was lost; it has the gateway's id by default. */
  async function charge({ isAnswered = true, isSent = true, expiresAt = 0 } = {}): Promise<string> {
    const now = clock.now()
    const reference = `order-${++charges}`
    const begun = await ledger.beginCharge({
      id: `01TX${charges}`,
      request: request({ reference }),
      requestHash: reference,
      correlationId: `correlation-${charges}`,
      chargeIsIdempotent: gateway.chargeIsIdempotent,
      now,
      until: now + 90_000,
    })
    if (begun.state !== 'begun') throw new Error(begun.state)
    await dispatched()
    const { id } = begun.transaction
    const unsent = { kind: 'unsent', nextCheckAt: now + MINUTE } as const
    const end = { transactionId: id, eventId: `e-${id}`, now, verdict: 'neutral' } as const
    if (!isSent) await ledger.finishCharge({ ...end, result: unsent })
    if (!isAnswered) return id
    const named = { transactionId: id, gatewayTransactionId: `g-${id}` }
    const expiry = expiresAt > 0 && { expiresAt: new Date(expiresAt).toISOString() }
    const answer = { status: 'Pending' as const, gateway: 'bank', reference, ...named, ...expiry }
    const nextCheckAt = now + 5 * MINUTE
    const result = { kind: 'answered' as const, answer, nextCheckAt }
    await ledger.finishCharge({ ...end, verdict: 'success', result })
    return id
  }
  const story = async (id: string) => {
    const found = await queries.story(id)
    if (!found) throw new Error('there is none')
    return found
  }
  /** Advances the clock by minutes, with a sweep after each. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= MINUTE) {
      await clock.advance(Math.min(left, MINUTE))
      await sweeper.sweep()
      await dispatched()
    }
  }
  /** A webhook that was stale. */
  const stale = (id: string) =>
    ledger.checkSoon('bank', { gatewayTransactionId: `g-${id}`, reference: '' }, clock.now())
  const webhook = (id: string, status: 'Paid' | 'Failed', reference = '') =>
    ledger.webhook({
      id: `w-${id}-${status}`,
      payload: {
        gateway: 'bank',
        gatewayTransactionId: `g-${id}`,
        reference,
        status,
        amount: 25_000,
        currency: 'IQD',
        eventId: `webhook-${id}-${status}`,
        occurredAt: new Date(clock.now()).toISOString(),
        raw: {},
      },
      onMismatch: 'log',
      receivedAt: clock.now(),
    })
  return {
    clock,
    lines,
    ledger,
    queries,
    sweeper,
    asked,
    events,
    charge,
    story,
    pass,
    webhook,
    stale,
    dispatched,
  }
}

const says = (status: string, own: Partial<StatusAnswer> = {}) => ({
  checkStatus: async () =>
    ({ known: true, status, amount: 25_000, currency: 'IQD', raw: {}, ...own }) as StatusAnswer,
})
const silent = {
  checkStatus: () => Promise.reject(new GatewayUnavailableException('No answer.')),
}

describe('the sweeper', () => {
  it('does not call the ledger when nothing is due', async () => {
    const { sweeper, asked } = room()
    expect(await sweeper.sweep()).toMatchObject({ isIdle: true, checked: 0, failed: 0 })
    expect(asked).toEqual([])
  })

  it('does not call the ledger when the query for due work fails', async () => {
    const { sweeper, asked, queries, lines } = room()
    queries.waiting = () => Promise.reject(new Error('no database'))
    expect(await sweeper.sweep()).toMatchObject({ isIdle: false, failed: 1 })
    expect(asked).toEqual([])
    expect(lines).toMatchObject([{ level: 'error', fields: { part: 'due' } }])
  })

  it('deletes webhook events after 90 days, and not before', async () => {
    const { pass, clock, charge, webhook, story, sweeper } = room({ gateway: says('Pending') })
    const id = await charge()
    await webhook(id, 'Paid')
    await charge()
    await clock.advance(90 * DAY)
    expect(await sweeper.sweep()).toMatchObject({ isIdle: false, forgotten: 0 })
    await charge()
    await pass(6 * MINUTE)
    expect((await story(id)).webhookEvents).toEqual([])
  })
})

describe('a stale event for a payment that had ended', () => {
  it('is still a late payment: the gateway is asked until it answers', async () => {
    let checks = 0
    let isDown = true
    const { charge, webhook, stale, pass, story, queries } = room({
      gateway: {
        async checkStatus() {
          checks++
          if (isDown) throw new GatewayUnavailableException('No answer.')
          return { known: true, status: 'Paid', amount: 25_000, currency: 'IQD' }
        },
      },
    })
    const id = await charge()
    await webhook(id, 'Failed')
    await stale(id)
    await pass(10 * MINUTE)
    expect(checks).toBe(1)
    isDown = false
    await pass(HOUR)
    expect(await queries.alerts({}, { limit: 9 })).toMatchObject([
      { kind: 'late_payment', transactionId: id, detail: { amount: 25_000 } },
    ])
    expect((await story(id)).transaction.status).toBe('Failed')
    await pass(DAY)
    expect(checks).toBe(2)
  })

  it('is a refund that was made at the gateway', async () => {
    const { charge, webhook, stale, pass, story, events } = room({ gateway: says('Refunded') })
    const id = await charge()
    await webhook(id, 'Paid')
    await stale(id)
    await pass(MINUTE)
    expect((await story(id)).transaction).toMatchObject({
      status: 'Refunded',
      refundedAmount: 25_000,
    })
    expect(events).toContain('PaymentRefunded')
  })

  it('is checked once when the gateway reports no change, or does not know it', async () => {
    for (const checkStatus of [says('Paid').checkStatus, async () => ({ known: false }) as const]) {
      let checks = 0
      const counted = () => {
        checks++
        return checkStatus()
      }
      const { charge, webhook, stale, pass } = room({ gateway: { checkStatus: counted } })
      const id = await charge()
      await webhook(id, 'Paid')
      await stale(id)
      await pass(DAY)
      expect(checks).toBe(1)
    }
  })
})

describe('an event that was not delivered', () => {
  it('is dispatched again when its dispatcher died, and only once', async () => {
    let isDispatcherDead = true
    const { charge, webhook, pass, events, dispatched } = room({
      isDispatcherDead: () => isDispatcherDead,
    })
    const id = await charge()
    await webhook(id, 'Paid')
    await dispatched()
    expect(events).toEqual([])
    isDispatcherDead = false
    await pass(2 * MINUTE)
    expect(events).toEqual(['PaymentSucceeded'])
    await pass(HOUR)
    expect(events).toEqual(['PaymentSucceeded'])
  })

  it('is dispatched again, through hours in which its listener and its endpoint fail', async () => {
    let isDown = true
    let heard = 0
    let answered = 0
    const { charge, pass, story } = room({
      listeners: {
        PaymentInitiated: () => {
          if (isDown) throw new Error('down')
          heard++
        },
      },
      endpoint: () => {
        if (isDown) return new Response(null, { status: 503 })
        answered++
        return new Response()
      },
    })
    const id = await charge()
    await pass(5 * HOUR)
    expect([heard, answered]).toEqual([0, 0])
    isDown = false
    await pass(HOUR)
    expect([heard, answered]).toEqual([1, 1])
    const [event] = (await story(id)).events
    expect(event).toMatchObject({ type: 'PaymentInitiated', toldAt: expect.any(String) })
    expect(event?.deliveries).toMatchObject([{ status: 'delivered', lastStatus: 200 }])
  })

  it('is dead after a day, with an alert, until a person sends it again', async () => {
    let isDown = true
    let tries = 0
    const { charge, pass, story, ledger, clock, queries } = room({
      endpoint: () => {
        tries++
        return new Response(null, { status: isDown ? 500 : 200 })
      },
    })
    const id = await charge()
    await pass(DAY + HOUR)
    const [dead] = (await story(id)).events[0]?.deliveries ?? []
    expect(dead).toMatchObject({ status: 'dead', attempts: tries, lastStatus: 500 })
    expect(tries).toBeGreaterThan(24)
    expect(tries).toBeLessThan(60)
    expect(await queries.alerts({}, { limit: 10 })).toMatchObject([{ kind: 'delivery_dead' }])
    await pass(DAY)
    expect((await story(id)).events[0]?.deliveries[0]?.attempts).toBe(dead?.attempts)

    // It fails once more, and is not dead at once, although it is two days old.
    await ledger.redeliver(dead?.id ?? '', clock.now())
    await pass(MINUTE)
    expect((await story(id)).events[0]?.deliveries).toMatchObject([{ status: 'pending' }])
    isDown = false
    await pass(HOUR)
    expect((await story(id)).events[0]?.deliveries).toMatchObject([{ status: 'delivered' }])
  })
})

describe('a webhook that came before its payment', () => {
  it('is applied and delivered once the payment exists', async () => {
    const { charge, webhook, pass, events, story } = room()
    expect((await webhook('01TX1', 'Paid', 'order-1')).outcome).toBe('parked')
    const id = await charge({ isAnswered: false })
    await pass(MINUTE)
    expect(events).toEqual(['PaymentSucceeded'])
    expect((await story(id)).transaction.status).toBe('Paid')
  })
})

describe('a payment whose webhook was lost', () => {
  it.each([
    ['Paid', 'PaymentSucceeded'],
    ['Failed', 'PaymentFailed'],
    ['Cancelled', 'PaymentCancelled'],
    ['Expired', 'PaymentCancelled'],
  ])('is %s as its gateway says, and tells %s once', async (status, event) => {
    const { charge, pass, events, story, lines } = room({ gateway: says(status) })
    const id = await charge()
    await pass(4 * MINUTE)
    expect(events).toEqual([])
    await pass(MINUTE)
    expect(events).toEqual([event])
    const { transaction, webhookEvents } = await story(id)
    expect(transaction.status).toBe(status)
    const eventId = `recheck:${id}:${status}:25000`
    const correlationId = 'correlation-1'
    expect(webhookEvents).toMatchObject([{ eventId, outcome: 'applied', correlationId }])
    const fields = { transactionId: id, correlationId, status }
    expect(lines).toContainEqual(
      expect.objectContaining({
        event: 'payments.check.applied',
        fields: expect.objectContaining(fields),
      }),
    )
    await pass(DAY)
    expect(events).toEqual([event])
  })

  it.each([
    ['Refunded', 25_000],
    ['PartiallyRefunded', 5_000],
  ] as const)('and that is %s by now, was paid before', async (status, refunded) => {
    const answer = { known: true, status, amount: refunded, currency: 'IQD', raw: {} } as const
    const { charge, pass, events, story } = room({ gateway: { checkStatus: async () => answer } })
    const id = await charge()
    await pass(5 * MINUTE)
    expect(events).toEqual(['PaymentSucceeded', 'PaymentRefunded'])
    const { transaction } = await story(id)
    expect(transaction).toMatchObject({ status, refundedAmount: refunded })
  })

  it('does not change twice when the webhook arrives later', async () => {
    const { charge, pass, events, webhook } = room({ gateway: says('Paid') })
    const id = await charge()
    await pass(5 * MINUTE)
    expect((await webhook(id, 'Paid')).outcome).toBe('unchanged')
    expect(events).toEqual(['PaymentSucceeded'])
  })

  it('stores the gateway’s answer, masked', async () => {
    const raw = { customerMsisdn: '9647801234567', status: 'SUCCESS' }
    const { charge, pass, story } = room({ gateway: says('Paid', { raw } as object) })
    const id = await charge()
    await pass(5 * MINUTE)
    const [event] = (await story(id)).webhookEvents
    expect(event?.raw).toEqual({ customerMsisdn: '[redacted]', status: 'SUCCESS' })
  })

  it('is not changed by another amount when the policy rejects it, and ends as an alert', async () => {
    const gateway = says('Paid', { amount: 1 } as object)
    const { charge, pass, events, story, lines } = room({ gateway, onMismatch: 'reject' })
    const id = await charge()
    await pass(5 * DAY)
    const { transaction, alerts, webhookEvents } = await story(id)
    expect(transaction.status).toBe('Pending')
    expect(events).toEqual([])
    expect(webhookEvents).toMatchObject([{ outcome: 'rejected' }])
    expect(alerts.map(({ kind }) => kind)).toEqual(['amount_mismatch', 'unsettled'])
    const logged = lines.filter(({ event }) => event === 'payments.webhook.amount_mismatch')
    expect(logged).toMatchObject([{ fields: { transactionId: id, amount: 1, currency: 'IQD' } }])
  })

  it('is checked again soon after it expired', async () => {
    const times: number[] = []
    const { charge, pass, clock } = room({
      gateway: {
        checkStatus: async () => {
          times.push((clock.now() - 1_000_000) / MINUTE)
          return { known: true, status: 'Pending', amount: 0, currency: 'IQD', raw: {} }
        },
      },
    })
    await charge({ expiresAt: clock.now() + 15 * MINUTE })
    await pass(HOUR)
    expect(times).toEqual([5, 10, 16, 32])
  })

  it.each<[string, Partial<AnyGateway>, boolean]>([
    ['is away', silent, false],
    ['is left alone, its circuit being open', says('Paid'), true],
    ['does not know it', { checkStatus: async () => ({ known: false }) }, false],
    ['cannot be asked', {}, false],
    ['breaks', { checkStatus: () => Promise.reject(new TypeError('oops')) }, false],
  ])('raises one alert, only after days, when its gateway %s', async (_why, gateway, opens) => {
    let isOpen = false
    const { charge, pass, story } = room({ gateway, isCircuitOpen: () => isOpen })
    const id = await charge()
    isOpen = opens
    await pass(3 * DAY)
    expect((await story(id)).alerts).toEqual([])
    await pass(2 * DAY)
    const { alerts, transaction } = await story(id)
    expect(alerts).toMatchObject([
      { kind: 'unsettled', transactionId: id, detail: { amount: 25_000, currency: 'IQD' } },
    ])
    expect(transaction.status).toBe('Pending')
  })
})

describe('a charge without an id of its gateway', () => {
  const answered: ChargeAnswer = {
    ok: true,
    gatewayTransactionId: 'g-9',
    redirectUrl: 'https://bank.example/9',
  }

  it('is repeated with the same external reference if that is safe', async () => {
    const charged: GatewayCharge[] = []
    const charge = async (asked: GatewayCharge) => {
      charged.push(asked)
      if (charged.length === 1) throw new GatewayUnavailableException('No answer.')
      return answered
    }
    const made = room({ gateway: { chargeIsIdempotent: true, charge } })
    const id = await made.charge({ isAnswered: false })
    await made.pass(HOUR)
    const { transaction } = await made.story(id)
    expect(transaction).toMatchObject({ gatewayTransactionId: 'g-9', status: 'Pending' })
    expect(transaction.redirectUrl).toBe('https://bank.example/9')
    const { externalReferenceId } = transaction
    const same = { externalReferenceId, reference: 'order-1', amount: 25_000, currency: 'IQD' }
    expect(charged).toMatchObject([same, same])
  })

  it('is checked by its id once the gateway returns that, even without a page', async () => {
    let charges = 0
    const charge = () => {
      charges++
      const named = { gatewayTransactionId: 'g-9' }
      return Promise.reject(new GatewayUnavailableException('It is there.', named))
    }
    let status = 'Pending'
    const checkStatus = async () =>
      ({ known: true, status, amount: 25_000, currency: 'IQD', raw: '{}' }) as StatusAnswer
    const made = room({ gateway: { chargeIsIdempotent: true, charge, checkStatus } })
    const id = await made.charge({ isAnswered: false })
    await made.pass(HOUR)
    const { transaction } = await made.story(id)
    expect(transaction).toMatchObject({ gatewayTransactionId: 'g-9', status: 'Pending' })
    expect(charges).toBe(1)
    status = 'Expired'
    await made.pass(2 * HOUR)
    expect((await made.story(id)).transaction.status).toBe('Expired')
    expect(made.events).toEqual(['PaymentCancelled'])
  })

  it('is Failed when the gateway now refuses it, and fires the event', async () => {
    const error = { code: 'declined', message: 'No.' }
    const charge = async (): Promise<ChargeAnswer> => ({ ok: false, error })
    const made = room({ gateway: { chargeIsIdempotent: true, charge } })
    const id = await made.charge({ isAnswered: false })
    await made.pass(2 * MINUTE)
    expect((await made.story(id)).transaction).toMatchObject({ status: 'Failed', error })
    expect(made.events).toEqual(['PaymentFailed'])
  })

  it.each([
    ['is never asked for again where that could charge twice', false],
    ['stays unanswered however often it is asked for', true],
  ])('%s, and expires after a day, with an alert', async (_what, chargeIsIdempotent) => {
    let charges = 0
    const charge = () => {
      charges++
      return Promise.reject(new GatewayUnavailableException('No answer.'))
    }
    const made = room({ gateway: { chargeIsIdempotent, charge } })
    const id = await made.charge({ isAnswered: false })
    await made.pass(DAY - MINUTE)
    expect((await made.story(id)).transaction.status).toBe('Pending')
    await made.pass(3 * MINUTE)
    const { transaction, webhookEvents, alerts } = await made.story(id)
    expect(transaction.status).toBe('Expired')
    expect(transaction).not.toHaveProperty('gatewayTransactionId')
    expect(webhookEvents).toMatchObject([{ eventId: `recheck:${id}:Expired:25000` }])
    expect(made.events).toEqual(['PaymentCancelled'])
    // The gateway may have made it, and been paid for it, all the same.
    const { createdAt: since } = transaction
    const detail = { reference: 'order-1', amount: 25_000, currency: 'IQD', since, said: 'nothing' }
    expect(alerts).toMatchObject([{ kind: 'unsettled', detail }])
    expect(charges > 0).toBe(chargeIsIdempotent)
  })

  it('because nothing was ever sent to it expires without an alert', async () => {
    const made = room({ gateway: { chargeIsIdempotent: false } })
    const id = await made.charge({ isAnswered: false, isSent: false })
    await made.pass(DAY + 2 * MINUTE)
    const { transaction, alerts } = await made.story(id)
    expect(transaction.status).toBe('Expired')
    expect(alerts).toEqual([])
  })

  it('does not block a second one', async () => {
    const made = room()
    const ids = [await made.charge({ isAnswered: false }), await made.charge({ isAnswered: false })]
    await made.pass(DAY + 2 * MINUTE)
    const statuses = await Promise.all(ids.map(async (id) => (await made.story(id)).transaction))
    expect(statuses.map(({ status }) => status)).toEqual(['Expired', 'Expired'])
  })
})

describe('a refund under way', () => {
  /** Paid, and refunded with a lost answer, or with an answer that it will follow later. */
  async function refunding(
    gateway: Partial<AnyGateway>,
    kind: 'unknown' | 'accepted',
    amount = 25_000,
  ) {
    const made = room({ gateway })
    const id = await made.charge()
    await made.webhook(id, 'Paid')
    await made.dispatched()
    const now = made.clock.now()
    await made.ledger.beginRefund({
      id: 'r-1',
      gateway: 'bank',
      transactionId: id,
      amount,
      reason: 'returned',
      fullOnly: false,
      requestHash: 'r',
      now,
      until: now + 90_000,
    })
    const result = { kind, nextCheckAt: now + 5 * MINUTE }
    await made.ledger.finishRefund({ refundId: 'r-1', now, verdict: 'neutral', result })
    const refund = async () => (await made.story(id)).refunds[0]
    return { ...made, id, refund }
  }

  it.each(['unknown', 'accepted'] as const)(
    'that is %s succeeds when the gateway reports it',
    async (kind) => {
      const { pass, story, id, refund, events } = await refunding(says('Refunded'), kind)
      await pass(6 * MINUTE)
      expect((await story(id)).transaction).toMatchObject({
        status: 'Refunded',
        refundedAmount: 25_000,
      })
      expect(await refund()).toMatchObject({ status: 'succeeded' })
      expect(events).toEqual(['PaymentSucceeded', 'PaymentRefunded'])
    },
  )

  it('of a part succeeds when the gateway reports it', async () => {
    const gateway = says('PartiallyRefunded', { amount: 10_000 } as object)
    const { pass, story, id, refund } = await refunding(gateway, 'unknown', 10_000)
    await pass(6 * MINUTE)
    const partial = { status: 'PartiallyRefunded', refundedAmount: 10_000 }
    expect((await story(id)).transaction).toMatchObject(partial)
    expect(await refund()).toMatchObject({ status: 'succeeded' })
  })

  it('with an unknown outcome is given up when the payment is still Paid after a day', async () => {
    const { pass, story, id, refund } = await refunding(says('Paid'), 'unknown')
    await pass(DAY - MINUTE)
    expect(await refund()).toMatchObject({ status: 'claimed' })
    await pass(3 * MINUTE)
    expect(await refund()).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown' } })
    const { alerts, transaction } = await story(id)
    const detail = { refundId: 'r-1', amount: 25_000, currency: 'IQD', said: 'Paid' }
    expect(alerts).toMatchObject([{ kind: 'refund_unsettled', detail }])
    expect(transaction.status).toBe('Paid')
  })

  it('that a bank accepted and no longer lists raises an alert within hours, and is not given up', async () => {
    const dropped = says('Paid', { isRefundRequested: false } as object)
    const { pass, story, id, refund } = await refunding(dropped, 'accepted')
    await pass(HOUR - MINUTE)
    expect((await story(id)).alerts).toEqual([])
    await pass(2 * HOUR)
    const detail = { refundId: 'r-1', amount: 25_000, said: 'Paid' }
    expect((await story(id)).alerts).toMatchObject([{ kind: 'refund_unsettled', detail }])
    expect((await refund())?.status).toBe('accepted')
  })

  it.each([
    ['that was accepted', 'accepted', says('Paid')],
    ['of which nobody can say whether it was made', 'unknown', silent],
    ['that is on the bank’s list', 'unknown', says('Paid', { isRefundRequested: true } as object)],
    ['of a payment in a status that nobody knows', 'unknown', says('Pending')],
  ] as const)('%s is never given up, but a person is told', async (_what, kind, gateway) => {
    const { pass, story, id, refund } = await refunding(gateway, kind)
    await pass(3 * DAY)
    expect((await story(id)).alerts).toEqual([])
    await pass(4 * DAY)
    expect((await refund())?.status).toBe(kind === 'accepted' ? 'accepted' : 'claimed')
    expect((await story(id)).alerts).toMatchObject([{ kind: 'refund_unsettled' }])
  })
})

describe('a sweep', () => {
  it('continues when one payment cannot be checked or stored', async () => {
    const { charge, clock, sweeper, story, lines } = room({
      gateway: says('Paid'),
      intercept(method, [arrival]) {
        const isBroken = JSON.stringify(arrival).includes('01TX1')
        if (method === 'webhook' && isBroken) throw new Error('poison')
      },
    })
    const ids = [await charge(), await charge(), await charge()]
    await clock.advance(5 * MINUTE)
    expect(await sweeper.sweep()).toMatchObject({ moved: 2, failed: 1, checked: 2 })
    const statuses = await Promise.all(ids.map(async (id) => (await story(id)).transaction.status))
    expect(statuses).toEqual(['Pending', 'Paid', 'Paid'])
    const about = { part: 'check', transactionId: '01TX1', correlationId: 'correlation-1' }
    expect(lines).toContainEqual({
      level: 'error',
      event: 'payments.sweep_failed',
      fields: { ...about, error: 'Error: poison' },
    })
  })

  it.each(['dispatchDue', 'applyParked', 'claimChecks', 'forget'])(
    'does the other parts when %s fails',
    async (broken) => {
      const { charge, clock, sweeper, asked } = room({
        gateway: says('Paid'),
        intercept(method) {
          if (method === broken) throw new Error('no database')
        },
      })
      await charge()
      await clock.advance(5 * MINUTE)
      expect(await sweeper.sweep()).toMatchObject({ failed: 1 })
      for (const part of ['dispatchDue', 'applyParked', 'claimChecks', 'forget']) {
        expect(asked).toContain(part)
      }
    },
  )

  it('checks eight at a time, and starts nothing after 25 seconds', async () => {
    let atOnce = 0
    let most = 0
    const { charge, clock, sweeper } = room({
      gateway: {
        checkStatus: async () => {
          most = Math.max(most, ++atOnce)
          await new Promise<void>((resolve) => clock.after(10_000, resolve))
          atOnce--
          return { known: true, status: 'Paid', amount: 25_000, currency: 'IQD', raw: {} }
        },
      },
    })
    for (let i = 0; i < 60; i++) await charge()
    await clock.advance(5 * MINUTE)
    const sweeping = sweeper.sweep()
    await clock.advance(60_000)
    expect(await sweeping).toMatchObject({ checked: 24, moved: 24 })
    expect(most).toBe(8)
    // The remaining checks are due again, in turn.
    await clock.advance(2 * MINUTE)
    const next = sweeper.sweep()
    await clock.advance(60_000)
    expect(await next).toMatchObject({ checked: 24 })
  })

  it('checks fifty payments and leaves the others to the next sweep', async () => {
    const { charge, clock, sweeper } = room({ gateway: says('Paid') })
    for (let i = 0; i < 60; i++) await charge()
    await clock.advance(5 * MINUTE)
    expect(await sweeper.sweep()).toMatchObject({ checked: 50, moved: 50 })
    expect(await sweeper.sweep()).toMatchObject({ checked: 10, moved: 10 })
    expect(await sweeper.sweep()).toMatchObject({ isIdle: true })
  })
})
