// Secrets and what is the payer’s own leave what gateways sent.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fib } from '../../../worker/payments/gateways/fib/fib.ts'
import { redirect } from '../../../worker/payments/gateways/redirect/redirect.ts'
import { stripe } from '../../../worker/payments/gateways/stripe/stripe.ts'
import {
  hideAccountNumbers,
  MAX_RAW_BYTES,
  maskError,
  maskHeaders,
  rawMask,
  reportMask,
} from '../../../worker/payments/mask.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl'
const CARD = '4111 1111 1111 1111'
const SECRET = 'S3CR3TVALUE'
const bank = { privateFields: ['payer', 'wallet number'], echoedFields: ['orderId', 'metadata'] }
const masked = rawMask(bank)

const privateNames = fc.constantFrom(
  'Authorization',
  'set-cookie',
  'webhook_token',
  'client_secret',
  'apiKey',
  'x-signature',
  'pin',
  'userPin',
  'cardNumber',
  'customerMsisdn',
  'customerPhone',
  'otp',
  'cvv',
  'payer',
  'payer_name',
  'walletNumber',
  'WALLET-NUMBERS',
  'walletnumber',
)
const plainNames = fc.constantFrom('data', 'a', 'items', '0', '', '__proto__', 'amount', 'tö"k{en')

/** Values with the secret under a private name, at any depth. */
const withSecret: fc.Arbitrary<unknown> = fc.letrec<{ held: unknown; deeper: unknown }>((tie) => ({
  held: fc
    .tuple(
      privateNames,
      fc.constantFrom<unknown>(SECRET, [SECRET], { of: SECRET }, [{ a: SECRET }]),
    )
    .map(([name, value]) => ({ [name]: value })),
  deeper: fc.oneof(
    { maxDepth: 6 },
    tie('held'),
    fc.tuple(plainNames, tie('deeper'), fc.jsonValue()).map(([name, inner, other]) =>
      Object.fromEntries([
        ['other', other],
        [name, inner],
      ]),
    ),
    fc.tuple(fc.jsonValue(), tie('deeper')).map(([other, inner]) => [other, inner]),
    // JSON inside JSON, as some gateways forward it.
    tie('deeper').map((inner) => ({ body: JSON.stringify(inner) })),
  ),
})).deeper

describe('a masked body of a gateway', () => {
  it('has no value of a private name, at any depth', () => {
    fc.assert(
      fc.property(withSecret, (value) => {
        expect(JSON.stringify(masked(value))).not.toContain(SECRET)
      }),
    )
  })

  it('is a copy of the same shape, and masking it again does not change it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = masked(value)
        expect(masked(once)).toEqual(once)
      }),
    )
    const value = { id: 1, of: [true, null, 'a'], amount: 25_000, pin: null }
    expect(masked(value)).toEqual(value)
    expect(masked(value)).not.toBe(value)
    expect(masked(undefined)).toBeUndefined()
  })

  it.each([
    ['monkey', 'banana'],
    ['postcard', 'Basra'],
    ['keyboard', 'qwerty'],
    ['spinning', 'yes'],
    ['company', 'Acme'],
    ['walletType', 'basic'],
    ['brand', 'visa'],
  ])('keeps %s, whose name only contains a private one inside a word', (name, value) => {
    expect(masked({ [name]: value })).toEqual({ [name]: value })
  })

  it('keeps the values of the host application unchanged', () => {
    const given = {
      orderId: 'cart?ticket=42&token=7',
      metadata: { token: 'A-7', pin: 1, card: '4111111111111111', payer: { phone: '5' } },
    }
    expect(masked({ data: given })).toEqual({ data: given })
    expect(masked({ orderid: 'token=7' })).toEqual({ orderid: 'token=[redacted]' })
  })

  it.each([
    [`paid with ${CARD}, thanks`, 'paid with [redacted], thanks'],
    ['DE89 3704 0044 0532 0130 00', '[redacted]'],
    [`plain ${JWT} text`, 'plain [redacted] text'],
    [
      'see https://a.example/p?token=x&b=2 there',
      'see https://a.example/p?token=[redacted]&b=2 there',
    ],
    ['a=1&walletNumber=5&b=2', 'a=1&walletNumber=[redacted]&b=2'],
    ['card%5Bnumber%5D=4&card[cvc]=1', 'card%5Bnumber%5D=[redacted]&card[cvc]=[redacted]'],
    ['{"a":1, "token":"x"}', '{"a":1,"token":"[redacted]"}'],
    ['[URGENT] pay: pin=1', '[URGENT] pay: pin=[redacted]'],
    ['a=b=c&d', 'a=b=c&d'],
    ['order 1234 of 2026-06-01T00:10:00Z', 'order 1234 of 2026-06-01T00:10:00Z'],
    ['', ''],
  ])('of the text %s keeps %s', (text, kept) => {
    expect(masked({ note: text })).toEqual({ note: kept })
  })

  it('keeps a property named __proto__', () => {
    expect(JSON.stringify(masked(JSON.parse('{"__proto__":{"a":1,"key":2}}')))).toBe(
      '{"__proto__":{"a":1,"key":"[redacted]"}}',
    )
  })

  it.each([
    ['long texts', { text: '€'.repeat(40_000), token: SECRET, end: 'x'.repeat(99_999) }],
    ['quotes', { text: '"\\\n'.repeat(40_000) }],
    ['half surrogate pairs', { text: '\ud83d'.repeat(40_000) }],
    ['pairs of surrogates', { text: '💡'.repeat(40_000) }],
  ])('is cut at 64 KiB, as JSON that says so, with %s', (_what, value) => {
    const kept = masked(value)
    const text = JSON.stringify(kept)
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(MAX_RAW_BYTES)
    const bytes = new TextEncoder().encode(JSON.stringify(masked({ text: '' }))).length
    expect(kept).toEqual({
      isCut: true,
      bytes: expect.any(Number),
      beginning: expect.stringMatching(/^\{"text":"/),
    })
    expect((kept as { bytes: number }).bytes).toBeGreaterThan(MAX_RAW_BYTES + bytes)
    expect(text).not.toContain(SECRET)
  })

  it('is not cut up to 64 KiB', () => {
    const value = { text: 'x'.repeat(MAX_RAW_BYTES - '{"text":""}'.length) }
    expect(masked(value)).toEqual(value)
  })

  it.each([
    ['brackets', '['.repeat(120_000) + ']'.repeat(120_000)],
    ['open objects', '{"a":'.repeat(50_000)],
    ['quotes', '{"'.padEnd(250_000, '\\"')],
    ['equal signs', '='.repeat(250_000)],
    ['pairs', 'a='.repeat(125_000)],
    ['one word', 'a'.repeat(250_000)],
    ['question marks', '?'.repeat(250_000)],
    ['escapes of escapes', `a=${'%25'.repeat(80_000)}`],
    ['digits', '4'.repeat(250_000)],
    ['groups of digits', '4 '.repeat(125_000)],
    ['beginnings of IBANs', 'DE89 '.repeat(50_000)],
    ['small letters and capitals', 'aA'.repeat(125_000)],
  ])('is masked quickly, though it is %s without end', async (_what, text) => {
    // A regular expression that backtracks takes minutes.
    expect(await cpuMs(() => masked({ text, [text]: text }))).toBeLessThan(2_000)
  })

  it('is redacted below the depth that gateways use', () => {
    let value: unknown = SECRET
    for (let depth = 0; depth < 10_000; depth++) value = [value]
    expect(JSON.stringify(masked(value))).not.toContain(SECRET)
  })
})

describe('a masked error', () => {
  it('keeps its code, and redacts a card number in the gateway’s message', () => {
    const error = { code: 'declined', rawCode: 'E51', message: `${CARD} was declined.` }
    expect(maskError(error)).toEqual({ ...error, message: '[redacted] was declined.' })
    expect(maskError({ code: 'a', message: 'b' })).toEqual({ code: 'a', message: 'b' })
  })
})

describe('a masked report', () => {
  const IBAN = 'NL91ABNA0417164300'
  const error = { code: 'dispute', message: `Debtor account ${IBAN} closed` }

  it('has no account number in an error: of the payment, of a refund, or of a dispute', () => {
    const refund = { id: 're_1', amount: 1, currency: 'EUR', status: 'failed', error } as const
    const report = {
      gatewayTransactionId: 'tr_1',
      externalReferenceId: 'order-1',
      status: 'Paid',
      amount: 1,
      currency: 'EUR',
      error,
      refunds: { readAt: 1, refunds: [refund] },
      disputes: { id: 'tr_1', readAt: 1, parts: [], error },
      raw: { reason: error.message },
    } as const
    const kept = reportMask(new Map([['bank', bank]]))('bank', report)
    expect(JSON.stringify(kept)).not.toContain(IBAN)
    expect(kept.disputes).toEqual({
      ...report.disputes,
      error: { code: 'dispute', message: 'Debtor account [redacted] closed' },
    })
  })
})

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
    const kept = rawMask(gateway)({ id: 'evt_1', data: { object: session } })
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
    const kept = rawMask(gateway)({ eventType: 'STATUS_CHANGED', data })
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
    const kept = rawMask(gateway)({ ...payment, paidBy, accountNumber: '42420001' })
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

  it('take little time, even when they are very long', async () => {
    const headers = new Headers({
      'a-short': 'one',
      'b-long': '4 '.repeat(100_000),
      'c-short': 'two',
    })
    headers.set(`d-${'a-'.repeat(60_000)}a`, 'three')
    const all = () => {
      for (let times = 0; times < 50; times++) maskHeaders(headers)
    }
    // 1 ms on an idle machine; 7 s if all of them were read.
    expect(await cpuMs(all)).toBeLessThan(1_000)
    expect(maskHeaders(headers)).toEqual({ 'a-short': 'one', 'b-long': '[199999 characters]' })
  })
})

describe('a card number in a text', () => {
  it.each([
    ['4111111111111111', '[redacted]'],
    ['4222222222222', '[redacted]'],
    ['5500005555555559', '[redacted]'],
    ['2223003122003222', '[redacted]'],
    ['378282246310005', '[redacted]'],
    ['30569309025904', '[redacted]'],
    ['3530111333300000', '[redacted]'],
    ['6011111111111117', '[redacted]'],
    ['6200000000000005', '[redacted]'],
    ['card:4111-1111-1111-1111.', 'card:[redacted].'],
    ['3782 822463 10005 exp 12/28', '[redacted] exp 12/28'],
    ['4111 1111 1111 1111 12 28', '[redacted] 12 28'],
    ['order 77 4111111111111111 4222222222222', 'order 77 [redacted] [redacted]'],
    ['4111\u00a01111\u00a01111\u00a01111', '[redacted]'],
  ])('%s becomes %s', (text, kept) => {
    expect(hideAccountNumbers(text)).toBe(kept)
  })

  it.each([
    ['with another check digit', '4111111111111112'],
    ['too short', '411111111111116'],
    ['inside of a longer number', '941111111111111111'],
    ['of no card’s prefix', '1111111111111117'],
    ['a phone number', '9647801234567'],
    ['a time in ms', '1767225600000'],
    ['an amount', '25000'],
    ['a UUID', '4f8a2b1c-4111-4111-8111-111111111111'],
  ])('is not one %s: %s', (_what, text) => {
    expect(hideAccountNumbers(text)).toBe(text)
  })
})

describe('an IBAN in a text', () => {
  it.each([
    ['GB82WEST12345698765432', '[redacted]'],
    ['from de89 3704 0044 0532 0130 00 today', 'from [redacted] today'],
    ['IQ98 NBIQ 8501 2345 6789 012 AND MORE', '[redacted] AND MORE'],
    ['(NO93-8601-1117-947)', '([redacted])'],
    ['DE89370400440532013000 GB82 WEST 1234 5698 7654 32', '[redacted] [redacted]'],
  ])('%s becomes %s', (text, kept) => {
    expect(hideAccountNumbers(text)).toBe(kept)
  })

  it.each([
    ['with other check digits', 'GB83WEST12345698765432'],
    ['of another length', 'GB82WEST123456987654321'],
    ['of no country', 'ZZ82WEST12345698765432'],
    ['inside a word', 'xGB82WEST12345698765432'],
  ])('is not one %s: %s', (_what, text) => {
    expect(hideAccountNumbers(text)).toBe(text)
  })
})
