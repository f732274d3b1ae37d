import { expect, it } from 'vitest'
import {
  maxDescriptors,
  openDescriptors,
  sharesOf,
} from '../../../worker/shared/descriptors-node.ts'

const WANTED = { databases: 200, streams: 10_000, strangers: 1_024 }

it.runIf(process.platform === 'linux')('knows how many descriptors this process has', () => {
  expect(openDescriptors()).toBeGreaterThan(2)
  expect(maxDescriptors()).toBeGreaterThan(openDescriptors() ?? 0)
})

it('gives databases and streams what they want where there is enough, or nobody knows', () => {
  expect(sharesOf(undefined, WANTED)).toEqual(WANTED)
  expect(sharesOf(1_048_576, WANTED)).toEqual(WANTED)
})

it.each([256, 512, 1_024, 4_096])('leaves 64 of %i to payments and health checks', (max) => {
  const { databases, streams, strangers } = sharesOf(max, WANTED)
  // Half of the 64 are for connections without a token, which may have an eighth of the rest, too.
  expect(strangers).toBeGreaterThanOrEqual(32)
  expect(databases * 3 + streams + strangers - 32).toBeLessThanOrEqual(max - 128)
  expect(databases).toBeGreaterThanOrEqual(21)
  expect(streams).toBeGreaterThanOrEqual(64)
})

it('leaves one of each where there are next to none', () => {
  expect(sharesOf(16, WANTED)).toEqual({ databases: 1, streams: 1, strangers: 32 })
})
