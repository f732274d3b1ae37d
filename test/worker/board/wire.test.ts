import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  bucketOf,
  EMPTY_HASH,
  type Key,
  keyOf,
  parseKey,
  toggleHash,
  wireProblem,
} from '../../../worker/board/wire.ts'

const hex = fc.stringMatching(/^[0-9a-f]{32}$/)

it('adds a hash to a sum by XOR of all its digits, so that the order does not matter', () => {
  const number = (text: string) => BigInt(`0x${text}`)
  fc.assert(
    fc.property(fc.array(hex), (hashes) => {
      const sum = hashes.reduce(toggleHash, EMPTY_HASH)
      expect(sum).toMatch(/^[0-9a-f]{32}$/)
      expect(number(sum)).toBe(hashes.map(number).reduce((one, other) => one ^ other, 0n))
    }),
  )
})

it('has the buckets that every earlier release has', () => {
  const keys: Key[] = ['board:board', 'task:A-1', 'session:ses_1', 'run:A-1.log', 'task:日本']
  expect(keys.map(bucketOf)).toEqual([169, 81, 121, 22, 219])
})

it('splits a key at its first colon only', () => {
  const parts = { kind: 'task', id: 'tag:5.2' } as const
  expect(parseKey('task:tag:5.2')).toEqual(parts)
  expect(keyOf(parts)).toBe('task:tag:5.2')
})

it.each([
  [3, 4, 'edge'],
  [4, 3, 'sidecar'],
])(
  'of an edge of version %i and a sidecar of version %i, the older one is to be upgraded',
  (...of) => {
    const [edge, sidecar, older] = of
    expect(wireProblem(edge, sidecar)).toBe(
      `The edge speaks version ${edge} of the publishing protocol, the sidecar version ${sidecar}: ` +
        `upgrade the ${older}.`,
    )
  },
)
