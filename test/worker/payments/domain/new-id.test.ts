import { expect, it } from 'vitest'
import { correlationIdOf, newId } from '../../../../worker/payments/domain/new-id.ts'

it('generates unique ULIDs that contain their time, and rise within it', () => {
  const ids = Array.from({ length: 10_000 }, () => newId(1_700_000_000_000))
  for (const id of ids) expect(id).toMatch(/^01HF7YAT00[0-9A-HJKMNP-TV-Z]{16}$/)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every((id, at) => id > (ids[at - 1] ?? ''))).toBe(true)
  expect(newId(1_700_000_000_001) > (ids.at(-1) ?? '')).toBe(true)
  expect(newId(1_600_000_000_000) < (ids[0] ?? '')).toBe(true)
})

it('uses every character at every random position', () => {
  const ids = Array.from({ length: 5_000 }, (_, now) => newId(now))
  for (let place = 10; place < 26; place++) {
    expect(new Set(ids.map((id) => id[place])).size).toBe(32)
  }
})

it.each(['12345678', 'A_b-C_d-9', 'x'.repeat(64)])(
  'keeps the caller’s own correlation id %s',
  (id) => {
    expect(correlationIdOf(id, 1)).toBe(id)
  },
)

it.each([undefined, null, '', 'seven77', 'x'.repeat(65), 'has space', 'line\nbreak-1'])(
  'generates a ULID instead of the correlation id %j',
  (id) => {
    expect(correlationIdOf(id, 1_700_000_000_000)).toMatch(/^01HF7YAT00[0-9A-HJKMNP-TV-Z]{16}$/)
  },
)
