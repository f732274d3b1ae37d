import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MOST_MASKED_BYTES,
  maskBody,
  maskHeaders,
  maskValue,
} from '../../../../worker/payments/telling/mask.ts'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl'
const SECRET = 'S3CR3TVALUE'
const secretNames = fc.constantFrom(
  ...['Authorization', 'set-cookie', 'webhook_token', 'client_secret', 'apiKey', 'x-signature'],
  ...['pin', 'userPin', 'card', 'cardNumber', 'customerMsisdn', 'customerPhone', 'otp', 'cvv'],
)
const plainNames = fc.constantFrom('data', 'a', 'items', '0', '', '__proto__', 'amount', 'tö"k{en')

/** Values that hold the secret under a secret's name, at some depth. */
const withSecret: fc.Arbitrary<unknown> = fc.letrec<{ held: unknown; deeper: unknown }>((tie) => ({
  held: fc
    .tuple(secretNames, fc.constantFrom<unknown>(SECRET, [SECRET], { of: SECRET }, [{ a: SECRET }]))
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
    // JSON inside of JSON, as gateways that forward one another do it.
    tie('deeper').map((inner) => ({ body: JSON.stringify(inner) })),
    tie('deeper').map((inner) => ({ body: `url=https://a.example/?x=1&b=${form(inner)}` })),
  ),
})).deeper

const form = (inner: unknown) => encodeURIComponent(JSON.stringify(inner))

describe('a masked body', () => {
  it('holds no value that stood under a secret’s name, at any depth, in JSON', () => {
    fc.assert(
      fc.property(withSecret, fc.constantFrom(0, 2), (value, indent) => {
        const masked = maskBody(JSON.stringify(value, null, indent))
        expect(masked).not.toContain(SECRET)
        expect(() => JSON.parse(masked)).not.toThrow()
        expect(JSON.stringify(maskValue(value))).not.toContain(SECRET)
      }),
    )
  })

  it('holds none when the JSON is broken off anywhere', () => {
    fc.assert(
      fc.property(withSecret, fc.double({ min: 0, max: 1, noNaN: true }), (value, part) => {
        fc.pre(typeof value === 'object' && !JSON.stringify(value).includes('\\"'))
        const text = JSON.stringify(value)
        expect(maskBody(text.slice(0, Math.floor(text.length * part)))).not.toContain(SECRET)
      }),
    )
  })

  it('holds none in a form or a query, whatever else stands there', () => {
    const others = fc.dictionary(fc.string(), fc.string())
    fc.assert(
      fc.property(secretNames, others, withSecret, (name, other, nested) => {
        const pairs = new URLSearchParams(other)
        pairs.set(name, `${SECRET} & more=${SECRET}`)
        pairs.set('nested', JSON.stringify(nested))
        expect(maskBody(String(pairs))).not.toContain(SECRET)
        expect(maskBody(`https://a.example/b?${pairs}#end`)).not.toContain(SECRET)
      }),
    )
  })

  it('does not throw over half a surrogate pair in a value that is put together anew', () => {
    for (const text of ['=pin\ud83d=+', '{"a":"=pin\\ud83d=+"}']) {
      expect(maskBody(text)).toContain('redacted')
      expect(maskHeaders({ note: text }).note).toContain('redacted')
    }
  })

  it('never throws, and is masked once for all', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json(), fc.webUrl({ withQueryParameters: true })),
        (text) => {
          const masked = maskBody(text)
          expect(maskBody(masked)).toBe(masked)
        },
      ),
    )
  })

  it.each([
    [
      '{"a":1,"token":"x","b":[{"pin":1234}]}',
      '{"a":1,"token":"[redacted]","b":[{"pin":"[redacted]"}]}',
    ],
    ['{"card":{"number":"4111"},"c":null}', '{"card":"[redacted]","c":null}'],
    ['a=1&token=x%20y&b=2', 'a=1&token=[redacted]&b=2'],
    ['to%6ben=x', 'to%6ben=[redacted]'],
    ['card%5Bnumber%5D=4111&card[cvc]=1', 'card%5Bnumber%5D=[redacted]&card[cvc]=[redacted]'],
    [
      'see https://a.example/p?token=x&b=2 there',
      'see https://a.example/p?token=[redacted]&b=2 there',
    ],
    [`plain ${JWT} text`, 'plain [redacted] text'],
    [`["${JWT}"]`, '["[redacted]"]'],
    ['{"id":"1","token":"x', '{"id":"1","token":"[redacted]"'],
    ['{"pin":1234,"a":', '{"pin":"[redacted]","a":'],
    ['{"card":{"number":"4111"', '{"card":"[redacted]"… [cut]'],
    ['failed: {"token":"x","a":1}, [1] b', 'failed: {"token":"[redacted]","a":1}, [1] b'],
    ['[URGENT] pay: pin=1', '[URGENT] pay: pin=[redacted]'],
    ['a=b=c&d', 'a=b=c&d'],
    ['<html>Bad Gateway</html>', '<html>Bad Gateway</html>'],
    ['', ''],
  ])('of %s is %s', (text, masked) => {
    expect(maskBody(text)).toBe(masked)
  })

  it('keeps a property that would otherwise become the prototype', () => {
    expect(maskBody('{"__proto__":{"a":1,"key":2}}')).toBe(
      '{"__proto__":{"a":1,"key":"[redacted]"}}',
    )
  })

  it('is cut at 64 KiB, between two characters and after its masking', () => {
    const text = JSON.stringify({
      text: '€'.repeat(40_000),
      token: SECRET,
      end: 'x'.repeat(99_999),
    })
    const masked = maskBody(text)
    expect(new TextEncoder().encode(masked).length).toBeLessThanOrEqual(MOST_MASKED_BYTES)
    expect(masked).toMatch(/€… \[cut\]$/)
    expect(maskBody('x'.repeat(MOST_MASKED_BYTES))).toBe('x'.repeat(MOST_MASKED_BYTES))
  })

  it.each([
    ['brackets', '['.repeat(120_000) + ']'.repeat(120_000)],
    ['open objects', '{"a":'.repeat(50_000)],
    ['quotes', '{"'.padEnd(250_000, '\\"')],
    ['equal signs', '='.repeat(250_000)],
    ['one word', 'a'.repeat(250_000)],
    ['question marks', '?'.repeat(250_000)],
    ['escapes of escapes', `a=${'%25'.repeat(80_000)}`],
    ['lone surrogates', '\ud800'.repeat(100_000)],
  ])('comes quickly of %s without end', (_what, text) => {
    const started = performance.now()
    expect(maskBody(text).length).toBeLessThanOrEqual(MOST_MASKED_BYTES)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('masked headers', () => {
  it('keep their names, and the values of those that hold no secret', () => {
    const headers = {
      authorization: 'Bearer abc',
      'stripe-signature': 't=1,v1=abc',
      'x-api-key': 'abc',
      cookie: 'a=b',
      'content-type': 'application/json',
      referer: 'https://a.example/?token=abc&b=1',
      'x-forwarded': JWT,
    }
    const masked = {
      authorization: '[redacted]',
      'stripe-signature': '[redacted]',
      'x-api-key': '[redacted]',
      cookie: '[redacted]',
      'content-type': 'application/json',
      referer: 'https://a.example/?token=[redacted]&b=1',
      'x-forwarded': '[redacted]',
    }
    expect(maskHeaders(headers)).toEqual(masked)
    expect(maskHeaders(new Headers(headers))).toEqual(masked)
  })
})

describe('a masked value', () => {
  it('is a copy of the same shape', () => {
    const value = { transaction: { id: '1', amount: 5, metadata: { a: true, b: null } } }
    const masked = maskValue(value)
    expect(masked).toEqual(value)
    expect(masked.transaction).not.toBe(value.transaction)
  })
})
