import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucketOf, EMPTY_HASH, type Key, parseKey, toggleHash } from '../../../worker/board/wire.ts'

const hex = fc.stringMatching(/^[0-9a-f]{32}$/)

it('sums the same set to the same hash in any order, and to nothing when all is taken out', () => {
  fc.assert(
    fc.property(fc.array(hex), (hashes) => {
      const sum = hashes.reduce(toggleHash, EMPTY_HASH)
      expect(hashes.toReversed().reduce(toggleHash, EMPTY_HASH)).toBe(sum)
      expect(hashes.reduce(toggleHash, sum)).toBe(EMPTY_HASH)
    }),
  )
})

it('spreads keys over all buckets, none of them outside 0 to 255', () => {
  const seen = new Set<number>()
  for (let i = 0; i < 5_000; i++) seen.add(bucketOf(`task:PROJ-${i}`))
  expect(seen.size).toBe(256)
  expect([...seen].every((n) => n >= 0 && n <= 255)).toBe(true)
})

it('splits a key at its first colon only', () => {
  expect(parseKey('task:tag:5.2' as Key)).toEqual({ kind: 'task', id: 'tag:5.2' })
})
