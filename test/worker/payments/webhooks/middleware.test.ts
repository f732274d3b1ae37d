import { expect, it } from 'vitest'
import { correlationIdOf } from '../../../../worker/payments/webhooks/middleware.ts'

it.each(['12345678', 'A_b-C_d-9', 'x'.repeat(64)])('keeps the caller’s own id %s', (id) => {
  expect(correlationIdOf(id, 1)).toBe(id)
})

it.each([undefined, null, '', 'seven77', 'x'.repeat(65), 'has space', 'line\nbreak-1'])(
  'generates a ULID instead of %j',
  (id) => {
    expect(correlationIdOf(id, 1_700_000_000_000)).toMatch(/^01HF7YAT00[0-9A-HJKMNP-TV-Z]{16}$/)
  },
)
