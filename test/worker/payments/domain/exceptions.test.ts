import { describe, expect, it } from 'vitest'
import {
  aboutPayment,
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  InvalidWebhookSignatureException,
  PaymentConflictException,
} from '../../../../worker/payments/domain/exceptions.ts'

const cause = new Error('socket hang up')
const thrownBy = (make: () => never): unknown => {
  try {
    return make()
  } catch (error) {
    return error
  }
}

describe('an exception', () => {
  it('has the name and the code of the contract', () => {
    const error = { code: 'declined', message: 'No.' }
    for (const [exception, name, code] of [
      [
        new InvalidWebhookSignatureException('No.'),
        'InvalidWebhookSignatureException',
        'invalid_webhook_signature',
      ],
      [new InvalidArgumentException('No.'), 'InvalidArgumentException', 'invalid_argument'],
      [
        new GatewayUnavailableException('No.'),
        'GatewayUnavailableException',
        'gateway_unavailable',
      ],
      [new GatewayRefusedException(error), 'GatewayRefusedException', 'gateway_refused'],
      [
        new PaymentConflictException('already_paid', 'No.'),
        'PaymentConflictException',
        'already_paid',
      ],
    ] as const) {
      expect(exception).toMatchObject({ name, code, message: 'No.' })
    }
  })

  it('says why for the log alone: its cause, else its message, or what the gateway calls it', () => {
    expect(new InvalidArgumentException('No.').why).toBeUndefined()
    expect(new PaymentConflictException('in_progress', 'No.', { cause }).why).toBe(cause)
    expect(new GatewayUnavailableException('No.').why).toBe('No.')
    expect(new GatewayUnavailableException('No.', { cause }).why).toBe(cause)
    const error = { code: 'declined', message: 'No.', rawCode: 'E51' }
    expect(new GatewayRefusedException(error).why).toBe('E51')
  })

  it('has sent something unless it says otherwise', () => {
    const isUnsent = [{}, { isUnsent: true }].map(
      (options) => new GatewayUnavailableException('No.', options).isUnsent,
    )
    expect(isUnsent).toEqual([false, true])
  })

  it('of a gateway that cannot be asked names the payment, and any other is as it was', () => {
    const unavailable = new GatewayUnavailableException('No.', { retryAfterMs: 9 })
    const named = thrownBy(() => aboutPayment('pay-1')(unavailable))
    expect(named).toMatchObject({ message: 'No.', gatewayTransactionId: 'pay-1' })
    expect(named).toHaveProperty('cause', unavailable)
    expect(thrownBy(() => aboutPayment('pay-1')(cause))).toBe(cause)
  })
})
