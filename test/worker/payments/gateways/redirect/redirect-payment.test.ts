// Payments that exist at the redirect gateway: repeated charges, their status, refunds.

import { describe, expect, it } from 'vitest'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import type { Answer } from '../../../../support/gateway-bed.ts'
import {
  INIT,
  INQUIRY,
  inquiry,
  REVERSE,
  SETTINGS,
  TOKEN,
} from '../../../../support/redirect-fixtures.ts'
import { answering, DUPLICATE, INVALID, shop, UNAVAILABLE, WITHOUT_PAGE } from './redirect-bed.ts'

describe('a charge whose external reference exists at the gateway', () => {
  it.each([
    ['beside its code', { code: DUPLICATE, transactionId: 'gt-1' }],
    ['in the error', { error: { code: DUPLICATE, details: { transactionId: 'gt-1' } } }],
    ['in a list', { errors: [{ errorCode: DUPLICATE }], data: [{ transactionId: 'gt-1' }] }],
    ['under another code like it', { code: 'EXTERNAL_REFERENCE_ID_EXISTS', transactionId: 'gt-1' }],
  ])('is named but has no page, its id standing %s, and is never made twice', async (_, body) => {
    const { charge, bed } = shop({ init: answering(body, 400) })
    await expect(charge()).rejects.toMatchObject(WITHOUT_PAGE)
    expect(bed.asked).toEqual([TOKEN, INIT, `${INQUIRY}/gt-1`])
  })

  it('returns the redirectUrl if the gateway does', async () => {
    const redirectUrl = 'https://gateway.test/pay/gt-1'
    const body = { code: DUPLICATE, transactionId: 'gt-1', redirectUrl }
    expect(await shop({ init: answering(body, 400) }).charge()).toHaveProperty(
      'redirectUrl',
      redirectUrl,
    )
  })

  it('has an unknown outcome without the transaction’s id, and is not made twice', async () => {
    const { charge, bed } = shop({ init: answering({ code: DUPLICATE }, 400) })
    await expect(charge()).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.asked).toEqual([TOKEN, INIT])
  })

  it.each([404, 400, 401])('has an unknown outcome when the inquiry returns %i', async (status) => {
    const init = answering({ code: DUPLICATE, transactionId: 'gt-1' }, 400)
    const { charge } = shop({ init, inquiry: answering({}, status) })
    await expect(charge()).rejects.toMatchObject(UNAVAILABLE)
  })

  it('does not use a payment with another amount', async () => {
    const init = answering({ code: DUPLICATE, transactionId: 'gt-1' }, 400)
    const amount = { value: 250, currency: 'IQD' }
    const other = inquiry('SUCCESS', { transactionDetails: { transactionId: 'gt-1', amount } })
    expect(await shop({ init, inquiry: answering(other) }).charge()).toMatchObject({
      ok: false,
      error: { code: 'gateway_refused', rawCode: DUPLICATE },
    })
  })

  it('encodes any id as one segment of the path', async () => {
    const id = '../../oauth2/token?x'
    const init = answering({ code: DUPLICATE, transactionId: id }, 400)
    const amount = { value: 25_000, currency: 'IQD' }
    const found = inquiry('PENDING', { transactionDetails: { transactionId: id, amount } })
    const { charge, bed } = shop({ init, inquiry: answering(found) })
    await expect(charge()).rejects.toMatchObject({ gatewayTransactionId: id })
    expect(bed.asked.at(-1)).toBe(`${INQUIRY}/${encodeURIComponent(id)}`)
  })
})

describe('the status of a payment by redirect', () => {
  it.each([
    ['SUCCESS', 'Paid'],
    ['success', 'Paid'],
    ['FAILED', 'Failed'],
    ['EXPIRED', 'Expired'],
    ['REFUNDED', 'Refunded'],
    ['PENDING', 'Pending'],
    ['OTP_SENT', 'Pending'],
    ['CUSTOMER_AUTHENTICATION_REQUIRED', 'Pending'],
  ])('%s is %s', async (word, status) => {
    const body = inquiry(word)
    const { check, bed } = shop({ inquiry: answering(body) })
    expect(await check()).toMatchObject({
      known: true,
      status,
      amount: 25_000,
      currency: 'IQD',
      raw: body,
    })
    expect(bed.lines).toEqual([])
  })

  it('is Pending when the status is unknown, which is logged', async () => {
    const { check, bed } = shop({ inquiry: answering(inquiry('ON_HOLD')) })
    expect(await check()).toMatchObject({ known: true, status: 'Pending' })
    const event = 'payments.redirect_gateway.unknown_status'
    expect(bed.lines).toEqual([{ event, fields: { gateway: 'shop', status: 'ON_HOLD' } }])
  })

  it('has the reason why a payment failed', async () => {
    const { check } = shop({ inquiry: answering(inquiry('FAILED', { errorMessage: 'No money' })) })
    expect(await check()).toMatchObject({
      error: { code: 'payment_failed', rawCode: 'FAILED', message: 'No money' },
    })
  })

  it('is unknown when the gateway does not know the payment', async () => {
    const { check } = shop({ inquiry: answering({ code: 'TRANSACTION_NOT_FOUND' }, 404) })
    expect(await check()).toEqual({ known: false })
  })

  it.each<[string, Answer]>([
    ['is refused', answering({ code: 'DENIED' }, 403)],
    ['is a 400', answering({}, 400)],
    ['has no status', answering({ ...inquiry('SUCCESS'), status: undefined })],
    ['has no amount', answering({ status: 'SUCCESS', transactionDetails: {} })],
    [
      'has an amount finer than a dinar',
      answering(
        inquiry('SUCCESS', { transactionDetails: { amount: { value: 0.5, currency: 'IQD' } } }),
      ),
    ],
  ])('is not guessed when the answer %s', async (_, own) => {
    await expect(shop({ inquiry: own }).check()).rejects.toMatchObject(UNAVAILABLE)
  })
})

describe('a refund by redirect', () => {
  it('reverses the transaction', async () => {
    const { refund, bed } = shop()
    expect(await refund()).toEqual({ ok: true, isDone: true, gatewayRefundId: 'rv-1' })
    expect(bed.asked).toEqual([TOKEN, REVERSE])
    expect(JSON.parse(bed.sent[1]?.body ?? '')).toEqual({ transactionId: 'gt-1', reason: 'Broken' })
  })

  it.each([1, 24_999, 25_001])('of %i out of 25,000 is refused before any call', async (amount) => {
    const { refund, bed } = shop()
    await expect(refund({ refundAmount: amount })).rejects.toMatchObject(INVALID)
    expect(bed.sent).toEqual([])
  })

  it.each(['payment:read payment:write', '', 'reverse:writer', 'xreverse:write'])(
    'is refused before any call when the scope is %j',
    async (scope) => {
      const { refund, bed } = shop({}, { ...SETTINGS, scope })
      await expect(refund()).rejects.toMatchObject(INVALID)
      expect(redirect.create('shop', { ...SETTINGS, scope }).refundProblem()).toMatch(
        /reverse:write/,
      )
      expect(bed.sent).toEqual([])
    },
  )

  it('has no problem with the default scope', () => {
    expect(redirect.create('shop', SETTINGS).refundProblem()).toBeUndefined()
  })

  it.each([
    [{ status: 'COMPLETED' }],
    [{ reversalReferenceId: 'rv-1' }],
    [{ status: 'PENDING', reversalReferenceId: 'rv-1' }],
    [{ status: 'FAILED', reversalReferenceId: 'rv-1' }],
    [{ status: 'COMPLETED', reversalReferenceId: '' }],
    [{ status: 'COMPLETED', reversalReferenceId: null }],
    [{}],
    [[]],
  ])('has an unknown outcome when the answer is %j', async (body) => {
    await expect(shop({ reverse: answering(body) }).refund()).rejects.toMatchObject(UNAVAILABLE)
  })

  it.each([400, 401, 403, 404])(
    'that is answered with %i has given nothing back',
    async (status) => {
      const { refund } = shop({ reverse: answering({ code: 'NOT_REVERSIBLE' }, status) })
      expect(await refund()).toMatchObject({ ok: false, error: { rawCode: 'NOT_REVERSIBLE' } })
    },
  )

  it('is never repeated when its answer is lost', async () => {
    const { refund, bed } = shop({ reverse: answering({}, 502) })
    await expect(refund()).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.asked.filter((each) => each === REVERSE)).toHaveLength(1)
  })
})
