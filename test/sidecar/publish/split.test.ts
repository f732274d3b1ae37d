import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  halve,
  keysOf,
  type Part,
  Splitter,
  slim,
  splitBuckets,
} from '../../../sidecar/publish/split.ts'
import type { DataRecord, Key } from '../../../worker/board/wire.ts'
import { keyOf } from '../../../worker/board/wire.ts'
import { task } from '../fake-edge.ts'

const bytesOf = (record: DataRecord): number => Buffer.byteLength(JSON.stringify(record))

function split(records: DataRecord[], limitBytes: number): Part[] {
  const splitter = new Splitter(limitBytes)
  const parts = records.flatMap((r) => splitter.add(keyOf(r), r, bytesOf(r)) ?? [])
  return [...parts, splitter.end()]
}

test('no part is larger than the limit, nothing is lost, and the order stays', async () => {
  await fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 800, unit: 'binary' })), (bodies) => {
      const records = bodies.map((body, n) => task(n, 1, body))
      const parts = split(records, 8_000)
      expect(parts.flatMap((part) => part.upserts)).toEqual(records)
      for (const part of parts) {
        const message = { epoch: 'e'.repeat(36), run: 1e9, batch: 1e9, ...part, more: true }
        expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(8_000)
      }
    }),
  )
})

test('a record larger than the limit goes alone', () => {
  const parts = split([task(1), task(2, 1, 'x'.repeat(5_000)), task(3)], 2_000)
  expect(parts.map((part) => part.upserts.map((r) => r.id))).toEqual([['T-1'], ['T-2'], ['T-3']])
})

test('what is gone is a delete', () => {
  const splitter = new Splitter(2_000)
  splitter.add('task:a', null, 8)
  expect(splitter.end()).toEqual({ upserts: [], deletes: ['task:a'] })
  expect(splitter.end()).toEqual({ upserts: [], deletes: [] })
})

test('two halves say the same as the whole, and a part of one has none', async () => {
  const sizes = fc.tuple(fc.nat(9), fc.nat(9))
  await fc.assert(
    fc.property(sizes, ([upserts, deletes]) => {
      const part: Part = {
        upserts: Array.from({ length: upserts }, (_, n) => task(n)),
        deletes: Array.from({ length: deletes }, (_, n): Key => `task:gone-${n}`),
      }
      const halves = halve(part)
      expect(halves === undefined).toBe(upserts + deletes < 2)
      if (!halves) return
      expect(halves.flatMap((half) => half.upserts)).toEqual(part.upserts)
      expect(halves.flatMap((half) => half.deletes)).toEqual(part.deletes)
      for (const half of halves) expect(keysOf(half).length).toBeGreaterThan(0)
    }),
  )
})

test('a record that is too large keeps its hash and says what is missing', () => {
  const records: DataRecord[] = [
    task(1, 1, 'x'.repeat(9_000)),
    {
      kind: 'run',
      id: 'r.log',
      hash: '0'.repeat(32),
      task: 'T-1',
      run: { file: 'r.log', exit: 0, timedout: false, output: 'x'.repeat(9_000) },
    },
  ]
  for (const record of records) {
    const small = slim(record)
    expect(small).toMatchObject({ kind: record.kind, id: record.id, hash: record.hash })
    expect(bytesOf(small)).toBeLessThan(500)
    expect(JSON.stringify(small)).toContain('"invalid":"')
    if (small.kind === 'task') expect(small.task.ready).toBe(false)
  }
})

test('buckets are told in messages of bounded size, and none is ever cut in two', () => {
  const buckets = Array.from({ length: 20 }, (_, n): [number, Record<Key, string>] => [
    n,
    Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`task:${n}-${i}`, 'f'.repeat(32)])),
  ])
  const messages = [...splitBuckets(buckets, 10_000)]
  expect(messages.length).toBeGreaterThan(5)
  expect(messages.map((m) => m.more)).toEqual(messages.map((_, n) => n < messages.length - 1))
  expect(messages.flatMap((m) => Object.keys(m.buckets)).map(Number)).toEqual([...Array(20).keys()])
  for (const message of messages) expect(JSON.stringify(message).length).toBeLessThan(10_000)
})

test('no bucket that differs is no message', () => {
  expect([...splitBuckets([], 1_000)]).toEqual([])
})
