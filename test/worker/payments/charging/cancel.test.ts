// Payments that somebody cancels, and what their gateway makes of it.

import { describe, expect, it } from 'vitest'
import { GatewayRefusedException } from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import type { StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { reported, setUpPayments, unavailable } from '../../../support/payments-setup.ts'
import { alertsOf, attemptsOf, DAY_MS, noPage, order, tryCharge } from './lost-charge.ts'

/** A payment with a page. Its gateway reports `after` once it was asked to cancel it. */
async function opened(
  after: PaymentStatus | (() => StatusAnswer),
  cancel = () => undefined as unknown,
) {
  const cancelled: string[] = []
  const gateway = {
    async cancel({ gatewayTransactionId }: { gatewayTransactionId: string }) {
      cancelled.push(gatewayTransactionId)
      cancel()
    },
  }
  const setup = setUpPayments({ gateway })
  setup.script.status = () => {
    if (cancelled.length === 0) return reported('Pending')
    return typeof after === 'string' ? reported(after) : after()
  }
  const { transactionId: id } = (await tryCharge(setup, order)) as { transactionId: string }
  await setup.quiet()
  setup.events.splice(0)
  const [charge] = setup.charged
  const gatewayId = `gateway-${charge?.externalReferenceId}`
  return { setup, id, gatewayId, cancelled, ...endsOf(setup, id) }
}

const endsOf = (setup: ReturnType<typeof setUpPayments>, id: string) => ({
  cancel: () =>
    setup.payments
      .cancel(id, { by: 'ann', correlationId: 'c-9' })
      .then((row) => row?.status)
      .catch(({ code, transactionId }: { code: string; transactionId?: string }) => ({
        code,
        transactionId,
      })),
  async acts() {
    const acts = await setup.payments.queries.audit({}, { limit: 9 })
    return acts.map(({ action, subject, transactionId }) => ({ action, subject, transactionId }))
  },
})

const yes = () => undefined
const no = () => {
  throw new GatewayRefusedException({ code: 'no', message: 'No.' })
}

describe('a payment that is cancelled', () => {
  it.each(['Cancelled', 'Expired', 'Failed'] as const)(
    'is %s if its gateway reports that, with who asked for it',
    async (end) => {
      const { setup, id, gatewayId, cancelled, cancel, acts } = await opened(end)
      expect(await cancel()).toBe(end)
      expect(cancelled).toEqual([gatewayId])
      expect(await attemptsOf(setup)).toMatchObject([{ id, status: end, error: 'cancelled' }])
      expect(await acts()).toContainEqual({ action: 'cancel', subject: 'ann', transactionId: id })
      await setup.quiet()
      expect(setup.events).toMatchObject([
        { payload: { transaction: { id, status: end, error: { code: 'cancelled' } } } },
      ])
      // Again it is the same, and the gateway is not asked.
      expect(await cancel()).toBe(end)
      expect(cancelled).toHaveLength(1)
    },
  )

  it('can be charged again, as another attempt', async () => {
    const { setup, cancel } = await opened('Cancelled')
    await cancel()
    await setup.clock.advance(1)
    expect(await tryCharge(setup, order)).toMatchObject({ isNew: true, status: 'Pending' })
  })

  it('says why, also if a webhook has reported its end first', async () => {
    const { setup, id, gatewayId, cancel } = await opened('Expired')
    const { script } = setup
    const { status } = script
    let asked = 0
    script.status = (() => {
      asked++
      const answer = status()
      if (asked < 2) return answer
      const ended = setup.webhook({ gatewayTransactionId: gatewayId, status: 'Expired' })
      return ended.then(() => answer)
    }) as never
    expect(await cancel()).toBe('Expired')
    expect(await attemptsOf(setup)).toMatchObject([{ id, status: 'Expired', error: 'cancelled' }])
  })

  it.each([
    ['ended', 'Expired', 'Expired'],
    ['paid', 'Paid', 'It was paid. Refund it instead.'],
  ] as const)(
    'is %s as a webhook reports in between, also if its gateway refuses to cancel it',
    async (_how, status, answered) => {
      const { setup, id, gatewayId } = await opened('Pending', no)
      const { script } = setup
      let asked = 0
      script.status = (async () => {
        if (++asked === 2) await setup.webhook({ gatewayTransactionId: gatewayId, status })
        return reported('Pending')
      }) as never
      const answer = setup.payments.cancel(id).then((row) => row?.status)
      expect(await answer.catch(({ message }: Error) => message)).toBe(answered)
      expect(await attemptsOf(setup)).toMatchObject([{ id, status }])
    },
  )

  it('is Paid if it was paid at that moment, and cannot be cancelled', async () => {
    const { setup, id, cancel } = await opened('Paid', no)
    expect(await cancel()).toEqual({ code: 'not_cancellable', transactionId: id })
    expect(await attemptsOf(setup)).toEqual([{ id, attempt: 1, status: 'Paid' }])
    await setup.quiet()
    expect(setup.events).toMatchObject([{ name: 'PaymentSucceeded' }])
    expect(await cancel()).toEqual({ code: 'not_cancellable', transactionId: id })
  })

  it('is a late payment if it is paid after all, also without a webhook', async () => {
    const { setup, id, cancel } = await opened('Cancelled')
    await cancel()
    setup.script.status = () => reported('Paid')
    await setup.clock.advance(DAY_MS)
    await setup.payments.sweeper.sweep()
    expect(await alertsOf(setup)).toEqual([{ kind: 'late_payment', transactionId: id }])
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Cancelled' }])
  })

  it.each([
    ['accepts it and still reports it as open', yes, () => reported('Pending')],
    ['does not know the payment', yes, (): StatusAnswer => ({ known: false })],
    ['does not answer', yes, unavailable],
    ['does not answer the request to cancel', unavailable, () => reported('Cancelled')],
  ])('stays open if its gateway %s, and is checked soon', async (_what, gateway, after) => {
    const { setup, id, cancel } = await opened(after, gateway)
    expect(await cancel()).toEqual({ code: 'gateway_unavailable', transactionId: id })
    expect(await attemptsOf(setup)).toEqual([{ id, attempt: 1, status: 'Pending' }])
    setup.script.status = () => reported('Cancelled')
    await setup.clock.advance(60_000)
    expect(await setup.payments.sweeper.sweep()).toMatchObject({ checked: 1, moved: 1 })
  })

  it.each([
    ['when it is asked to', no, {}, ['bank']],
    [
      'as it says before, also while somebody pays',
      yes,
      { isBeingPaid: true, cancelRefusal: { code: 'no', message: 'No.' } },
      [],
    ],
  ])(
    'stays open if its gateway refuses it %s: not_cancellable',
    async (_when, cancels, more, asked) => {
      const { setup, id, cancelled, cancel } = await opened('Cancelled', cancels)
      setup.script.status = () => reported('Pending', more)
      expect(await cancel()).toEqual({ code: 'not_cancellable', transactionId: id })
      expect(cancelled).toHaveLength(asked.length)
      expect(await attemptsOf(setup)).toEqual([{ id, attempt: 1, status: 'Pending' }])
      await expect(setup.payments.cancel(id)).rejects.toThrow('bank does not cancel it: No.')
    },
  )

  it('logs that its gateway gave no answer, as its own and not as that of a replaced one', async () => {
    const { setup, id, cancel } = await opened(unavailable)
    await cancel()
    const unanswered = setup.lines.filter(({ event }) => event.endsWith('.no_answer'))
    expect(unanswered).toMatchObject([
      { event: 'payments.cancel.no_answer', fields: { transactionId: id } },
    ])
  })

  it('stays open while somebody pays, and its gateway is not asked to cancel it', async () => {
    const { setup, id, cancelled, cancel } = await opened('Cancelled')
    setup.script.status = () => reported('Pending', { isBeingPaid: true })
    expect(await cancel()).toEqual({ code: 'gateway_unavailable', transactionId: id })
    expect(cancelled).toEqual([])
  })

  it('stays open if the answer is about another payment, with an alert', async () => {
    const { setup, id, cancel } = await opened(() =>
      reported('Cancelled', { externalReferenceId: 'another' }),
    )
    expect(await cancel()).toEqual({ code: 'gateway_unavailable', transactionId: id })
    expect(await alertsOf(setup)).toEqual([{ kind: 'id_mismatch', transactionId: id }])
  })
})

describe('a payment that cannot be cancelled', () => {
  it('is one whose gateway cannot, and leaves no trace', async () => {
    const setup = setUpPayments()
    const { transactionId: id } = (await tryCharge(setup, order, {})) as { transactionId: string }
    const { cancel, acts } = endsOf(setup, id)
    expect(await cancel()).toEqual({ code: 'not_cancellable', transactionId: id })
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Pending' }])
    expect(await acts()).not.toContainEqual(expect.objectContaining({ action: 'cancel' }))
  })

  it('is one that is being charged at this moment', async () => {
    const setup = setUpPayments({ gateway: { cancel: async () => undefined } })
    const { promise, resolve } = Promise.withResolvers<never>()
    setup.script.charge = () => promise
    const charging = tryCharge(setup, order)
    await expect.poll(() => setup.charged.length).toBe(1)
    const [open] = await attemptsOf(setup)
    expect(await endsOf(setup, open?.id ?? '').cancel()).toMatchObject({ code: 'in_progress' })
    resolve({ ok: true, gatewayTransactionId: 'bank-1' } as never)
    await charging
  })

  it('is one whose outcome is unknown, unless nobody can have seen its page', async () => {
    for (const [unseenIsUnpayable, answer] of [
      [false, { code: 'gateway_unavailable' }],
      [true, 'Cancelled'],
    ] as const) {
      const gateway = { cancel: async () => undefined, unseenIsUnpayable }
      const setup = setUpPayments({ gateway })
      setup.script.charge = unavailable
      const { transactionId: id } = (await tryCharge(setup, order)) as { transactionId: string }
      const { cancel } = endsOf(setup, id)
      expect(await cancel()).toEqual(
        typeof answer === 'string' ? answer : { ...answer, transactionId: id },
      )
    }
  })

  it('is not one whose page was lost, if its gateway has named it', async () => {
    const setup = setUpPayments({ gateway: { cancel: async () => undefined } })
    setup.script.charge = noPage
    setup.script.status = () => reported('Cancelled')
    const { transactionId: id } = (await tryCharge(setup, order)) as { transactionId: string }
    expect(await endsOf(setup, id).cancel()).toBe('Cancelled')
  })

  it('is unknown without an error: only its id is wrong', async () => {
    expect(await setUpPayments().payments.cancel('nobody')).toBeUndefined()
  })
})
