// A charge is answered within 20 s, even if the ledger, the gateway or its token endpoint hangs.

import { describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { json } from '../../../../libraries/testing/gateway-setup.ts'
import { fib } from '../../../../worker/payments/gateways/fib/fib.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { type Clock, pause } from '../../../../worker/shared/clock.ts'
import { request, verified } from '../../../support/payments.ts'
import { type PaymentsSetup, setUpPayments } from '../../../support/payments-setup.ts'
import { SETTINGS } from '../../../support/redirect-fixtures.ts'

const order = request()
const OPENED = {
  transactionDetails: { transactionId: 'gt-1' },
  redirectUrl: 'https://gateway.test/pay/gt-1',
}
const page = redirect.create('bank', SETTINGS)
const bank = fib.create('bank', {
  base_url: 'https://bank.test',
  client_id: 'shop',
  client_secret: 'secret',
  expires_in: 'PT1H',
  refundable_for: 'P7D',
})

/** How long the gateway takes for its token and for other requests, in ms. */
interface Slow {
  token?: number
  rest?: number
}

function slowSetup(slow: Slow, more: Parameters<typeof setUpPayments>[0] = {}) {
  const sent: string[] = []
  const setup: PaymentsSetup = setUpPayments({
    gateway: page,
    fetch: async (input, init) => {
      const { url, signal } = new Request(input, init)
      const isToken = url.endsWith('/token')
      sent.push(isToken ? 'token' : (new URL(url).pathname.split('/').at(-1) ?? ''))
      await abortable(setup.clock, (isToken ? slow.token : slow.rest) ?? 0, signal)
      return json(isToken ? { access_token: 't', expires_in: 600 } : OPENED)
    },
    ...more,
  })
  /** The result of a charge, and its duration. */
  async function charged(context = {}) {
    const { payments, clock } = setup
    const startedAt = clock.now()
    const ended = payments.charge(order, context).then(
      (value) => ({ value, error: undefined }),
      (error: Record<string, unknown>) => ({ value: undefined, error }),
    )
    return { ...(await end(clock, ended)), tookMs: clock.now() - startedAt }
  }
  const row = async () => (await setup.payments.queries.transactions({}, { limit: 1 }))[0]
  return { ...setup, sent, charged, row }
}

async function abortable(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(ms, resolve)
    const abort = () => {
      cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
  })
}

const FOR_EVER = 3_600_000

describe('a charge', () => {
  it.each<[string, Slow, 'sent' | 'unsent']>([
    ['hangs', { rest: FOR_EVER }, 'sent'],
    ['does not send a token', { token: FOR_EVER }, 'unsent'],
    ['is slow to send a token, and then hangs', { token: 14_000, rest: FOR_EVER }, 'sent'],
    ['is slow for all requests', { token: 9_000, rest: 9_000 }, 'sent'],
  ])(
    'whose gateway %s fails within 20 s, with our id and the time until a repetition',
    async (_, slow, how) => {
      const { charged, row } = slowSetup(slow)
      const { error, tookMs } = await charged()
      expect(tookMs).toBeLessThan(20_000)
      const stored = await row()
      expect(stored?.status).toBe('Pending')
      expect(error).toMatchObject({ code: 'gateway_unavailable', transactionId: stored?.id })
      // What was certainly not sent needs no check.
      if (how === 'unsent') expect(error?.retryAfterMs).toBe(5_000)
      else expect(error?.retryAfterMs).toBeGreaterThan(60_000)
    },
  )

  it('has been checked with the gateway by the time of the repetition', async () => {
    const slow: Slow = { rest: FOR_EVER }
    const { charged, payments, clock, sent } = slowSetup(slow)
    const { error } = await charged()
    slow.rest = 0
    const before = sent.length
    // The sweeper runs once a minute, at any second.
    const repeatedAt = clock.now() + Number(error?.retryAfterMs)
    for (let at = clock.now() + 29_000; at < repeatedAt; at += 60_000) {
      await clock.advance(at - clock.now())
      await payments.sweeper.sweep()
    }
    await clock.advance(repeatedAt - clock.now())
    expect(sent.slice(before)).toEqual(['init'])
    expect((await charged()).value).toMatchObject({ redirectUrl: OPENED.redirectUrl })
  })

  it.each([page, bank])(
    'that the ledger begins too late fails before its gateway is called',
    async (gateway) => {
      let isSlow = true
      const { charged, sent, quiet, clock, row } = slowSetup(
        {},
        {
          gateway,
          wait: async (method, clock) => {
            if (isSlow && method === 'beginCharge') await pause(clock, 24_000)
          },
        },
      )
      const { error, tookMs } = await charged()
      expect(tookMs).toBeLessThan(20_000)
      expect(error).toMatchObject({ code: 'ledger_unavailable' })
      isSlow = false
      await clock.advance(24_000)
      await quiet()
      expect(await row()).toMatchObject({ status: 'Pending' })
      expect(sent).toEqual([])
      // It was stored but not sent, so it is sent now, once.
      await charged()
      await charged()
      expect(sent.filter((path) => path !== 'token')).toHaveLength(1)
    },
  )

  it('whose answer is stored too late fails with our id, and its page is kept', async () => {
    let isSlow = true
    const { charged, quiet, clock, row } = slowSetup(
      { rest: 14_000 },
      {
        wait: async (method, clock) => {
          if (isSlow && method === 'finishCharge') await pause(clock, 24_000)
        },
      },
    )
    const { error, tookMs } = await charged()
    expect(tookMs).toBeLessThan(20_000)
    expect(error).toMatchObject({ code: 'ledger_unavailable', transactionId: (await row())?.id })
    isSlow = false
    await clock.advance(24_000)
    await quiet()
    expect((await charged()).value).toMatchObject({ redirectUrl: OPENED.redirectUrl })
  })

  it('that could not get a token was not sent, and is sent by the next request', async () => {
    const slow: Slow = { token: FOR_EVER }
    const { charged, sent } = slowSetup(slow, { gateway: bank })
    expect((await charged()).error).toMatchObject({ code: 'gateway_unavailable' })
    expect(sent).toEqual(['token'])
    slow.token = 0
    await charged()
    await charged()
    expect(sent.filter((path) => path === 'payments')).toHaveLength(1)
  })
})

describe('a refund', () => {
  /** Refunds a payment that is Paid. */
  async function refunding(slow: Slow, more: Parameters<typeof setUpPayments>[0] = {}) {
    const setup = slowSetup(slow, more)
    const { charged, payments, clock, row } = setup
    await charged()
    const { id: transactionId = '', amount = 0 } = (await row()) ?? {}
    await payments.ledger.webhook({
      id: '01PAID',
      payload: verified({ gatewayTransactionId: 'gt-1', amount, occurredAt: clock.now() }),
      onMismatch: 'log',
      receivedAt: clock.now(),
    })
    const asked = { transactionId, amount, reason: 'Broken' }
    const refund = () => end(clock, payments.refund('bank', asked, { idempotencyKey: 'refund-1' }))
    return { ...setup, transactionId, refund }
  }

  it('is answered within 20 s, too, if the gateway hangs', async () => {
    const slow: Slow = {}
    const { refund, clock, transactionId } = await refunding(slow)
    slow.rest = FOR_EVER
    const startedAt = clock.now()
    await expect(refund()).rejects.toMatchObject({ code: 'gateway_unavailable', transactionId })
    expect(clock.now() - startedAt).toBeLessThan(20_000)
  })

  it('that the ledger begins too late fails, and is made by the same request with the same key', async () => {
    let isSlow = true
    const { refund, quiet, clock, sent, row } = await refunding(
      {},
      {
        wait: async (method, clock) => {
          if (isSlow && method === 'beginRefund') await pause(clock, 24_000)
        },
      },
    )
    const before = sent.length
    await expect(refund()).rejects.toMatchObject({ code: 'ledger_unavailable' })
    isSlow = false
    await clock.advance(24_000)
    await quiet()
    expect(sent).toHaveLength(before)
    await refund().catch(() => undefined)
    expect(sent.slice(before)).toEqual(['reverse'])
    expect(await row()).toMatchObject({ status: 'Paid' })
  })
})
