import { describe, expect, it } from 'vitest'
import { chargeResult } from '../../../../worker/payments/charging/ask-charge.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import { transactionRow } from '../../../support/payment-rows.ts'
import { request as orderAtBank } from '../../../support/payments.ts'

const NOW = Date.parse('2026-03-01T10:00:00.000Z')
const request = orderAtBank({ gateway: 'redirect' })
const transaction = transactionRow({ created_at: NOW })

describe('the result of a charge', () => {
  it('is a pending payment with all that the gateway gave, to be checked in five minutes', () => {
    const answer = {
      ok: true as const,
      gatewayTransactionId: 'g-1',
      redirectUrl: 'https://pay.example/g-1',
      expiresAt: NOW + 3_600_000,
      qrCode: 'data:image/png;base64,AA==',
      readableCode: 'ABCD',
      deepLink: 'bank://pay/g-1',
    }
    const { ok, ...given } = answer
    expect(ok).toBe(true)
    expect(chargeResult(request, transaction, answer, NOW, false)).toEqual({
      kind: 'answered',
      answer: {
        ...given,
        status: 'Pending',
        gateway: 'redirect',
        reference: 'order-1',
        transactionId: '01TX',
        expiresAt: '2026-03-01T11:00:00.000Z',
      },
      expiresAt: NOW + 3_600_000,
      nextCheckAt: NOW + 300_000,
    })
  })

  it.each([8.9e15, Number.NaN, -1, 1.5])(
    'leaves out %s, at which nothing can expire',
    (expiresAt) => {
      const answer = { ok: true as const, gatewayTransactionId: 'g-1', deepLink: 'x', expiresAt }
      const result = chargeResult(request, transaction, answer, NOW, false)
      expect(result).toMatchObject({ kind: 'answered', answer: { deepLink: 'x' } })
      expect(result).not.toHaveProperty('answer.expiresAt')
      expect(result).not.toHaveProperty('expiresAt')
    },
  )

  it.each([
    ['https://pay.example/1', true],
    ['http://127.0.0.1:8080/1', true],
    ['http://localhost/1', true],
    ['http://pay.example/1', false],
    ['javascript:alert(1)', false],
    ['data:text/html,1', false],
    ['bank://localhost/1', false],
    ['//pay.example/1', false],
    ['', false],
  ])('with the redirectUrl %s has a page: %s', (redirectUrl, isPage) => {
    const answer = { ok: true as const, gatewayTransactionId: 'g-1', redirectUrl }
    const result = () => chargeResult(request, transaction, answer, NOW, false)
    if (isPage) expect(result()).toMatchObject({ answer: { redirectUrl } })
    else expect(result).toThrow(GatewayUnavailableException)
  })

  it('leaves out what the gateway did not give', () => {
    const answer = { ok: true as const, gatewayTransactionId: 'g-1' }
    const result = chargeResult(request, transaction, answer, NOW, false)
    expect(result.kind === 'answered' && Object.keys(result.answer)).toEqual([
      'status',
      'gateway',
      'reference',
      'transactionId',
      'gatewayTransactionId',
    ])
  })

  it('is checked soon after it expires', () => {
    const answer = { ok: true as const, gatewayTransactionId: 'g-1', expiresAt: NOW + 120_000 }
    expect(chargeResult(request, transaction, answer, NOW, false)).toMatchObject({
      nextCheckAt: NOW + 180_000,
    })
  })

  it('is still checked when the answer comes a week late', () => {
    const late = NOW + 7 * 86_400_000
    const answer = { ok: true as const, gatewayTransactionId: 'g-1' }
    expect(chargeResult(request, transaction, answer, late, false)).toMatchObject({
      nextCheckAt: late + 300_000,
    })
  })

  it('is refused with the gateway’s own reason', () => {
    const error = { code: 'declined', rawCode: 'E7', message: 'No.' }
    expect(chargeResult(request, transaction, { ok: false, error }, NOW, false)).toEqual({
      kind: 'refused',
      error,
    })
  })
})
