import { describe, expect, it } from 'vitest'
import { hideAccountNumbers } from '../../../../worker/payments/masking/mask.ts'

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
