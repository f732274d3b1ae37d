import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { acknowledgementSchema } from '../../../worker/payments/api/routes-hono.ts'
import { chargeSchema } from '../../../worker/payments/charging/charge.ts'
import { refundSchema } from '../../../worker/payments/charging/refund.ts'
import { checkFields } from '../../../worker/shared/fields.ts'
import { request } from '../../support/payments.ts'

const good = request()
const charge = (more: object) => {
  const checked = checkFields(chargeSchema, { ...good, ...more })
  return checked.ok ? '' : checked.error
}
const URL_WORDS = 'returnUrl must be an http(s) URL without white space and without a user.'

describe('a wrong field', () => {
  it.each([
    ['missing', { amount: undefined }, 'amount is missing.'],
    ['a text instead of a number', { amount: '25000' }, 'amount must be a whole number.'],
    ['a fraction', { amount: 0.5 }, 'amount must be a whole number.'],
    ['null', { amount: null }, 'amount must be a whole number.'],
    ['not positive', { amount: 0 }, 'amount must be more than 0.'],
    ['too large', { amount: 10 ** 15 }, 'amount must have 15 digits at most.'],
    ['larger than any number', { amount: 2 ** 60 }, 'amount must have 15 digits at most.'],
    ['a number instead of a text', { reference: 7 }, 'reference must be a text.'],
    ['empty', { reference: '' }, 'reference must not be empty.'],
    ['too long', { reference: 'x'.repeat(256) }, 'reference must have 255 characters at most.'],
    ['of two lines', { reference: 'a\nb' }, 'reference must not hold control characters.'],
    ['no currency', { currency: undefined }, 'currency is missing.'],
    ['a currency in small letters', { currency: 'iqd' }, 'currency must be three capital letters.'],
    ['no URL', { returnUrl: 'shop.example/thanks' }, URL_WORDS],
    ['a URL that runs code', { returnUrl: 'javascript:1' }, URL_WORDS],
    [
      'too long a URL',
      { returnUrl: `https://a/${'x'.repeat(2_048)}` },
      /2048 characters at most\.$/,
    ],
    ['no yes or no', { replace: 'yes' }, 'replace must be true or false.'],
    ['no object', { metadata: 'a=b' }, 'metadata must be an object.'],
    [
      'too deep',
      { metadata: { a: [1] } },
      'metadata.a must be a text or a number or true or false or null.',
    ],
    ['too much', { metadata: { a: 'x'.repeat(4_096) } }, 'metadata must fit into 4 KiB.'],
    ['unknown', { ammount: 1 }, 'ammount is not a known field.'],
  ])('that is %s is named, with what it must be', (_, more, sentence) => {
    expect(charge(more)).toMatch(sentence)
  })

  it('in a refund or an acknowledgement is named in the same words', () => {
    expect(checkFields(refundSchema, { transactionId: 'a', amount: -1, why: '' })).toEqual({
      ok: false,
      error: 'why is not a known field; amount must be more than 0; reason is missing.',
    })
    expect(checkFields(acknowledgementSchema, { gatewayReference: 7 })).toEqual({
      ok: false,
      error: 'gatewayReference must be a text.',
    })
  })

  it('is named once, and of very many the first five, none of them at its full length', () => {
    const long = `${'k'.repeat(64)}…`
    expect(charge({ metadata: { ['k'.repeat(2_000)]: 1 } })).toBe(
      `metadata.${long} has a name that must have 64 characters at most.`,
    )
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, at]))
    expect(charge(many)).toBe(
      `${[0, 1, 2, 3, 4].map((at) => `f${at} is not a known field`).join('; ')}; and 995 more.`,
    )
  })

  it('in a list is named by its place, and a request that is no object is named itself', () => {
    const listed = z.object({ rows: z.array(z.object({ of: z.enum(['a', 'b']) })).min(1) })
    const errorOf = (asked: unknown) => checkFields(listed, asked)
    expect(errorOf({ rows: [{ of: 'a' }, { of: 'c' }] })).toMatchObject({
      error: 'rows.1.of must be one of a, b.',
    })
    expect(errorOf({ rows: [] })).toMatchObject({ error: 'rows must not be empty.' })
    expect(errorOf('rows')).toMatchObject({ error: 'The request must be an object.' })
  })
})

it('what is right is returned as the schema has it', () => {
  expect(checkFields(chargeSchema, good)).toEqual({ ok: true, value: good })
})
