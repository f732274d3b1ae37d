import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_RAW_BYTES, maskError } from '../../../../worker/payments/masking/mask.ts'
import { CARD, JWT, masked, SECRET, withSecret } from './mask-bed.ts'

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
  ])('is masked quickly, though it is %s without end', (_what, text) => {
    // CPU time, since the machine may be busy. A regular expression that backtracks takes minutes.
    const before = process.threadCpuUsage()
    masked({ text, [text]: text })
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
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
