// What a story says can be done with a payment is what the operations then do.

import { describe, expect, it } from 'vitest'
import { beginClosing } from '../../../../worker/payments/acts/close-charge.ts'
import { beginRefund } from '../../../../worker/payments/acts/refund.ts'
import { canOf } from '../../../../worker/payments/api/story.ts'
import type { Payment } from '../../../../worker/payments/domain/payment.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { type AnyGateway, isClosable } from '../../../../worker/payments/gateways/gateway.ts'
import { decided, RULES, rowsOf } from '../../../support/acts.ts'
import { alertRow, came, MINUTE, NOW, paymentOf, refundRow } from '../../../support/payment-rows.ts'

const gateway = (own: Partial<AnyGateway> = {}) =>
  ({
    key: 'bank',
    chargeRepeatableForMs: 5 * MINUTE,
    refunds: 'partial',
    refund: () => undefined,
    checkStatus: () => undefined,
    cancel: () => undefined,
    ...own,
  }) as unknown as AnyGateway

const can = (payment: Payment, own?: Partial<AnyGateway>) =>
  canOf(payment, gateway(own), { installation: 'ours', now: NOW })

const GATEWAYS: [string, Partial<AnyGateway>][] = [
  ['refunds parts and cancels', {}],
  ['refunds all or nothing', { refunds: 'full' }],
  ['cancels nothing', { cancel: undefined } as never],
  ['has no page that nobody saw', { unseenIsUnpayable: true }],
]
const PAYMENTS: [string, Payment][] = [
  ...PAYMENT_STATUSES.map((status): [string, Payment] => [status, paymentOf(came(status))]),
  [
    'paid, with a refund that may have been made',
    paymentOf(came('Paid'), { refunds: [refundRow()] }),
  ],
  [
    'paid, with a refund that was accepted',
    paymentOf(came('Paid'), { refunds: [refundRow({ status: 'accepted' })] }),
  ],
  [
    'paid after it had expired',
    paymentOf({ ...came('Paid'), status: 'Expired' }, { alerts: [alertRow()] }),
  ],
  ['open without an id', paymentOf({ gateway_transaction_id: null })],
  ['never sent', paymentOf({ gateway_transaction_id: null, called_until: 0 })],
  ['being charged', paymentOf({ called_by: 'x', called_until: NOW + MINUTE })],
  ['of another installation', paymentOf({ ...came('Paid'), installation: 'theirs' })],
]

describe.each(PAYMENTS)('a payment that is %s', (_, payment) => {
  it.each(GATEWAYS)(
    'can be refunded and cancelled as it is, where its gateway %s',
    (_what, own) => {
      const { refund, cancel } = can(payment, own)
      const refunding = (amount: number) =>
        decided(
          beginRefund({
            id: '09REFUND',
            gateway: 'bank',
            transactionId: '01TX',
            amount,
            reason: 'Returned',
            fullOnly: own.refunds === 'full',
            requestHash: 'hash-9',
            mayCall: true,
            now: NOW,
            until: NOW + MINUTE,
          }),
          rowsOf(payment),
        ).answer.state
      if (refund > 0) expect(refunding(refund)).toBe('begun')
      else expect(refunding(own.refunds === 'full' ? 25_000 : 1)).not.toBe('begun')
      if (own.refunds !== 'full') expect(refunding(refund + 1)).not.toBe('begun')
      const closing = decided(
        beginClosing(
          {
            id: '09CLOSE',
            transactionId: '01TX',
            purpose: 'cancel',
            isClosable: isClosable(gateway(own)),
            unseenIsUnpayable: own.unseenIsUnpayable ?? false,
            now: NOW,
            until: NOW + MINUTE,
          },
          RULES,
        ),
        rowsOf(payment),
      )
      const { state } = closing.answer
      const isEnding = state === 'begun' || (state === 'ended' && closing.events.length > 0)
      expect(cancel).toBe(isEnding)
    },
  )
})

describe('a gateway', () => {
  it('can be asked by its id, or by ours while it knows that', () => {
    const lost = { gateway_transaction_id: null }
    expect(can(paymentOf()).check).toBe(true)
    expect(can(paymentOf(lost)).check).toBe(true)
    expect(can(paymentOf({ ...lost, created_at: NOW - 5 * MINUTE })).check).toBe(false)
    expect(can(paymentOf({ ...lost, status: 'Failed' })).check).toBe(false)
    expect(can(paymentOf(), { checkStatus: undefined } as never).check).toBe(false)
    expect(can(paymentOf({ called_until: NOW + MINUTE })).check).toBe(false)
  })

  it('that is not configured, or refunds nothing as configured, does nothing', () => {
    const nothing = { refund: 0, check: false, cancel: false }
    const at = { installation: 'ours', now: NOW }
    expect(canOf(paymentOf(came('Paid')), undefined, at)).toEqual(nothing)
    expect(can(paymentOf(came('Paid')), { refundProblem: () => 'No.' }).refund).toBe(0)
    expect(can(paymentOf(came('Paid')), { refund: undefined } as never).refund).toBe(0)
    expect(can(paymentOf({ ...came('Paid'), installation: 'theirs' }))).toEqual(nothing)
  })
})
