// Real messages of the gateways, and headers.

import { describe, expect, it } from 'vitest'
import { fib } from '../../../../worker/payments/gateways/fib/fib.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { stripe } from '../../../../worker/payments/gateways/stripe/stripe.ts'
import { maskHeaders, maskRaw } from '../../../../worker/payments/masking/mask.ts'
import { JWT } from './mask-bed.ts'

describe('no personal data of the payer is left', () => {
  const person = {
    email: 'sara@example.com',
    name: 'Sara Ahmed',
    phone: '+9647801234567',
    address: { city: 'Erbil', country: 'IQ', line1: 'Street 9' },
  }
  const own = ['sara@', 'Sara', 'Ahmed', '964780', 'Erbil', 'Street 9', 'acct_of', '4242', '0001']
  const nothingOf = (kept: unknown) => {
    const text = JSON.stringify(kept)
    expect(own.filter((each) => text.includes(each))).toEqual([])
  }

  it('in an event of Stripe, except for the card’s brand', () => {
    const gateway = stripe.create('shop', { secret_key: 'sk', webhook_secret: 'whsec_a' })
    const charge = {
      id: 'ch_1',
      amount: 1_250,
      billing_details: person,
      metadata: { external_reference_id: 'ext-7', reference: 'cart?ticket=42' },
      payment_method_details: {
        card: { brand: 'visa', last4: '4242', fingerprint: 'acct_of-card', exp_month: 1 },
        sepa_debit: { iban_last4: '0001', fingerprint: 'acct_of-iban' },
      },
      receipt_email: person.email,
      receipt_url: 'https://pay.stripe.com/receipts/acct_of-sara',
      shipping: { ...person, tracking_number: null },
    }
    const session = {
      id: 'cs_1',
      client_reference_id: 'cart?ticket=42',
      customer_details: { ...person, tax_ids: [{ type: 'eu_vat', value: '0001' }] },
      customer_email: person.email,
      custom_fields: [{ text: { value: 'Sara' } }],
      payment_intent: { client_secret: 'pi_secret_0001', latest_charge: charge },
      success_url: 'https://shop.example/thanks?token=7',
    }
    const kept = maskRaw({ id: 'evt_1', data: { object: session } }, gateway)
    nothingOf(kept)
    expect(kept).toMatchObject({
      data: {
        object: {
          client_reference_id: 'cart?ticket=42',
          success_url: 'https://shop.example/thanks?token=7',
          payment_intent: {
            client_secret: '[redacted]',
            latest_charge: {
              amount: 1_250,
              metadata: charge.metadata,
              payment_method_details: { card: { brand: 'visa', last4: '[redacted]' } },
            },
          },
        },
      },
    })
  })

  it('in a callback or an inquiry of redirect, and our references stay', () => {
    const gateway = redirect.create('shop', { api_key: 'k', client_id: 'c', client_secret: 's' })
    const data = {
      transactionId: 'gt-1',
      orderId: 'cart?ticket=42&seat=7',
      customerMsisdn: '9647801234567',
      mobile: '9647801234567',
      walletNumber: '9647801234567',
      accountNumber: '42420001',
      iban: 'IQ98NBIQ850123456789012',
      customer: person,
      errorMessage: 'The card 4111-1111-1111-1111 of GB82WEST12345698765432 is closed.',
      amount: { value: 25_000, currency: 'IQD' },
    }
    const kept = maskRaw({ eventType: 'STATUS_CHANGED', data }, gateway)
    nothingOf(kept)
    expect(kept).toMatchObject({
      eventType: 'STATUS_CHANGED',
      data: {
        transactionId: 'gt-1',
        orderId: 'cart?ticket=42&seat=7',
        errorMessage: 'The card [redacted] of [redacted] is closed.',
        amount: { value: 25_000, currency: 'IQD' },
      },
    })
  })

  it('in a reply of First Iraqi Bank', () => {
    const gateway = fib.create('shop', { client_id: 'c', client_secret: 's' })
    const payment = {
      paymentId: 'p-1',
      status: 'PAID',
      amount: { amount: 25_000, currency: 'IQD' },
      decliningReason: null,
    }
    const paidBy = { name: 'Sara Ahmed', iban: 'IQ98FIQB004095000000000001' }
    const kept = maskRaw({ ...payment, paidBy, accountNumber: '42420001' }, gateway)
    nothingOf(kept)
    expect(kept).toEqual({ ...payment, paidBy: '[redacted]', accountNumber: '[redacted]' })
  })
})

describe('masked headers', () => {
  it('keep their names, and the values that are not secret', () => {
    const headers = {
      authorization: 'Bearer abc',
      'stripe-signature': 't=1,v1=abc',
      'x-api-key': 'abc',
      'x-apikey': 'abc',
      cookie: 'a=b',
      'content-type': 'application/json',
      referer: 'https://a.example/?token=abc&b=1',
      'x-forwarded': JWT,
      'x-monkey': 'banana',
    }
    expect(maskHeaders(new Headers(headers))).toEqual({
      authorization: '[redacted]',
      'stripe-signature': '[redacted]',
      'x-api-key': '[redacted]',
      'x-apikey': '[redacted]',
      cookie: '[redacted]',
      'content-type': 'application/json',
      referer: 'https://a.example/?token=[redacted]&b=1',
      'x-forwarded': '[redacted]',
      'x-monkey': 'banana',
    })
  })

  it('take little time, even when they are very long', () => {
    const headers = new Headers({
      'a-short': 'one',
      'b-long': '4 '.repeat(100_000),
      'c-short': 'two',
    })
    headers.set(`d-${'a-'.repeat(60_000)}a`, 'three')
    const before = process.threadCpuUsage()
    for (let times = 0; times < 50; times++) maskHeaders(headers)
    // 1 ms on an idle machine; 7 s if all of them were read.
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000)
    expect(maskHeaders(headers)).toEqual({ 'a-short': 'one', 'b-long': '[199999 characters]' })
  })
})
