// Secrets, and bodies that contain them, for tests of masking.

import fc from 'fast-check'
import { maskRaw } from '../../../../worker/payments/masking/mask.ts'

export const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl'
export const CARD = '4111 1111 1111 1111'
export const SECRET = 'S3CR3TVALUE'
const bank = { privateFields: ['payer', 'wallet number'], echoedFields: ['orderId', 'metadata'] }
export const masked = (value: unknown) => maskRaw(value, bank)

const privateNames = fc.constantFrom(
  ...['Authorization', 'set-cookie', 'webhook_token', 'client_secret', 'apiKey', 'x-signature'],
  ...['pin', 'userPin', 'cardNumber', 'customerMsisdn', 'customerPhone', 'otp', 'cvv'],
  ...['payer', 'payer_name', 'walletNumber', 'WALLET-NUMBERS', 'walletnumber'],
)
const plainNames = fc.constantFrom('data', 'a', 'items', '0', '', '__proto__', 'amount', 'tö"k{en')

/** Values with the secret under a private name, at any depth. */
export const withSecret: fc.Arbitrary<unknown> = fc.letrec<{ held: unknown; deeper: unknown }>(
  (tie) => ({
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
  }),
).deeper
