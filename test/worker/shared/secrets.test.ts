import { describe, expect, it } from 'vitest'
import { hideTokens, isSecretName } from '../../../worker/shared/secrets.ts'

describe('a name', () => {
  it.each([
    ...[
      'Authorization',
      'set-cookie',
      'webhook_token',
      'clientSecret',
      'X-Api-Key',
      'card[number]',
    ],
    ...['Stripe-Signature', 'customerMsisdn', 'customerPhone', 'PHONE', 'ticket', 'password'],
    ...['pin', 'PIN', 'user_pin', 'payerPin', 'pinCode', 'card.cvv', 'otp'],
  ])('%s is a secret’s', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each([
    ...['spin', 'pinned', 'company', 'expand', 'amount', 'reference', 'gatewayTransactionId'],
    ...['readableCode', 'correlationId', 'description', 'eventId'],
  ])('%s is not', (name) => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('a text', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl'

  it.each([
    [`see ${jwt}, then`, 'see [redacted], then'],
    [`callback?token=${jwt}&a=1`, 'callback?token=[redacted]&a=1'],
    [`x-${jwt}`, 'x-[redacted]'],
    ['unsigned eyJhbGciOiJub25lIn0.eyJhIjoxfQ.', 'unsigned [redacted]'],
    ['bearer abc/def==', 'bearer [redacted]'],
    ['eyJson alone, and www.example.com', 'eyJson alone, and www.example.com'],
  ])('%s loses its tokens and nothing else', (text, hidden) => {
    expect(hideTokens(text)).toBe(hidden)
  })

  it('takes one pass, however many tokens seem to begin in it', () => {
    const text = 'eyJ-'.repeat(250_000)
    const started = performance.now()
    expect(hideTokens(text)).toBe(text)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
