import { describe, expect, it } from 'vitest'
import { hideTokens, isSecretName, nameMatcher } from '../../../worker/shared/secrets.ts'
import { cpuMs } from '../../support/cpu-time.ts'

describe('the name of a field', () => {
  it.each(
    // biome-ignore format: several names a line.
    [
      'Authorization', 'set-cookie', 'webhook_token', 'clientSecret', 'X-Api-Key', 'card[number]',
      'Stripe-Signature', 'customerMsisdn', 'customerPhone', 'PHONE', 'ticket', 'password', 'pin',
      'PIN', 'user_pin', 'payerPIN', 'pinCode', 'card.cvv', 'otp', 'cardnumber', 'AUTH_SECRETS',
      'XAPIKey', 'x-apikey', 'CUSTOMER_MSISDN',
    ],
  )('%s is the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each(
    // biome-ignore format: several names a line.
    [
      'spin', 'pinned', 'company', 'expand', 'amount', 'reference', 'gatewayTransactionId',
      'readableCode', 'correlationId', 'description', 'eventId', 'monkey', 'keyboard', 'postcard',
      'card', 'ticketing', 'phonetic', 'secretary', 'cookies2go', '',
    ],
  )('%s is not the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('a list of names', () => {
  it('matches each name in any notation, and only as whole words', () => {
    const matches = nameMatcher(['wallet number', 'paidBy', 'last4'])
    const names = ['walletNumber', 'wallet_numbers', 'WALLET-NUMBER', 'walletnumber']
    for (const name of [...names, 'payerWalletNumber', 'paid_by', 'iban_last4']) {
      expect(matches(name), name).toBe(true)
    }
    for (const name of ['wallet', 'number', 'walletType_number', 'prepaidBy', 'last', 'last42']) {
      expect(matches(name), name).toBe(false)
    }
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

  it('takes one pass, even if thousands of tokens seem to begin in it', async () => {
    const text = 'eyJ-'.repeat(250_000)
    expect(await cpuMs(() => expect(hideTokens(text)).toBe(text))).toBeLessThan(1_000)
  })
})
