// What blocks an order for no reason: a page that is over, a failure that its gateway keeps, and a
// wait for what was never sent.

import { describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { json } from '../../../../libraries/testing/gateway-setup.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import { stripe } from '../../../../worker/payments/gateways/stripe/stripe.ts'
import { reported, setUpPayments, unavailable } from '../../../support/payments-setup.ts'
import { again, alertsOf, attemptsOf, keyed, order, tryCharge } from './lost-charge.ts'

describe('a page that can no longer be paid', () => {
  const closed = { status: 'Pending', isPageClosed: true } as const

  async function charged() {
    const setup = setUpPayments()
    const { script, clock, payments } = setup
    const opened = script.charge
    script.charge = (asked) => ({ ...opened(asked), expiresAt: clock.now() + 3_600_000 }) as never
    const first = await payments.charge(order, keyed)
    const { transactionId, gatewayTransactionId = '' } = first
    return { ...setup, setup, transactionId, gatewayTransactionId }
  }

  /** As its charge and as its payment, it is open without a page. */
  async function expectNoPage({ setup, transactionId }: Awaited<ReturnType<typeof charged>>) {
    for (const asked of [order, again]) {
      const found = await tryCharge(setup, asked, keyed)
      expect(found).toMatchObject({ isNew: false, status: 'Pending', transactionId })
      for (const name of ['redirectUrl', 'expiresAt', 'isStranded']) {
        expect(found).not.toHaveProperty(name)
      }
    }
    const story = await setup.payments.queries.story(transactionId)
    expect(story?.transaction).not.toHaveProperty('redirectUrl')
  }

  it('is not offered once a webhook reports it, also after the time of its end', async () => {
    const made = await charged()
    const { gatewayTransactionId, webhook, clock } = made
    expect(await webhook({ gatewayTransactionId, ...closed })).toMatchObject({ status: 200 })
    await expectNoPage(made)
    await clock.advance(2 * 3_600_000)
    await expectNoPage(made)
    await webhook({ gatewayTransactionId })
    expect(await tryCharge(made.setup, order, keyed)).toMatchObject({ status: 'Paid' })
  })

  it('is not offered once a check finds it, if the webhook was lost', async () => {
    const made = await charged()
    made.script.status = () => reported('Pending', { isBeingPaid: true, isPageClosed: true })
    await made.clock.advance(300_000)
    await made.payments.sweeper.sweep()
    await expectNoPage(made)
  })

  it('is no answer to a charge if its gateway gives it after its end', async () => {
    const setup = setUpPayments()
    const { script, clock } = setup
    const opened = script.charge
    script.charge = (asked) => ({ ...opened(asked), expiresAt: clock.now() - 1 }) as never
    const answer = await tryCharge(setup, order)
    expect(answer).toMatchObject({ status: 'Pending', isStranded: true })
    expect(answer).not.toHaveProperty('redirectUrl')
  })
})

describe('a charge whose gateway keeps its failure', () => {
  const driver = stripe.create('bank', {
    base_url: 'https://stripe.test',
    secret_key: 'sk_test_1',
    webhook_secret: 'whsec_1',
    success_url: 'https://shop.test/back',
  })

  it('is replaced at once under another key, without a further try and without an alert', async () => {
    const keys: string[] = []
    const setup = setUpPayments({
      gateway: driver,
      fetch: async (_, init) => {
        const key = new Headers(init?.headers).get('idempotency-key') ?? ''
        keys.push(key)
        if (key === keys[0]) return json({ error: { type: 'api_error', message: 'Oops.' } }, 500)
        return json({ id: 'cs_2', url: 'https://checkout.test/cs_2' })
      },
    })
    const charge = (asked: object) => end(setup.clock, tryCharge(setup, asked, keyed))
    const dollars = { ...order, currency: 'USD' }
    const first = await charge(dollars)
    expect(first).toMatchObject({ code: 'gateway_unavailable' })
    const before = keys.length
    const second = await charge({ ...dollars, replace: true })
    expect(second).toMatchObject({ isNew: true, redirectUrl: 'https://checkout.test/cs_2' })
    expect(keys.length).toBe(before + 1)
    expect(await attemptsOf(setup)).toMatchObject([
      { id: first.transactionId, status: 'Cancelled', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    expect(await alertsOf(setup)).toEqual([])
    expect(await charge(dollars)).toEqual({ ...second, isNew: false })
  })

  it('is sent again under its name, and not replaced, if the driver does not declare it', async () => {
    const setup = setUpPayments()
    setup.script.charge = unavailable
    await tryCharge(setup, order)
    expect(await tryCharge(setup, again)).toMatchObject({ code: 'gateway_unavailable' })
    const [first, second] = setup.charged
    expect(second?.externalReferenceId).toBe(first?.externalReferenceId)
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Pending' }])
  })
})

describe('a charge that was certainly not sent', () => {
  const unsent = (): never => {
    throw new GatewayUnavailableException('no access token', {
      isUnsent: true,
      retryAfterMs: 60_000,
    })
  }

  it('may be asked again within 5 s, and is not replaced by that', async () => {
    const setup = setUpPayments({ gateway: { unseenIsUnpayable: true } })
    const { script } = setup
    const opened = script.charge
    script.charge = unsent
    for (const asked of [order, again]) {
      const failed = (await tryCharge(setup, asked)) as { retryAfterMs?: number }
      expect(failed.retryAfterMs).toBeLessThanOrEqual(5_000)
    }
    script.charge = opened
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: true })
    expect(await attemptsOf(setup)).toMatchObject([{ attempt: 1, status: 'Pending' }])
  })
})
