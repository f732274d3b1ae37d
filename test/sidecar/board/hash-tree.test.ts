import { expect, test } from 'vitest'
import { HashTree } from '../../../sidecar/board/hash-tree.ts'
import { BUCKETS, bucketOf, EMPTY_HASH, type Key, toggleHash } from '../../../worker/board/wire.ts'

const hash = (n: number) => n.toString(16).padStart(32, '0')

test('an empty tree sums to the hash of nothing', () => {
  const tree = new HashTree()
  expect(tree.root()).toBe(EMPTY_HASH)
  expect(tree.buckets()).toEqual(Array.from({ length: BUCKETS }, () => EMPTY_HASH))
})

test('the sums follow what is set, replaced and taken out, and end where they began', () => {
  const tree = new HashTree()
  expect(tree.set('task:A', hash(1))).toBe(true)
  expect(tree.set('task:B', hash(2))).toBe(true)
  expect(tree.root()).toBe(hash(3))
  expect(tree.buckets().reduce(toggleHash)).toBe(hash(3))
  tree.set('task:A', hash(4))
  expect(tree.root()).toBe(hash(6))
  tree.set('task:A', undefined)
  tree.set('task:B', undefined)
  expect(tree.root()).toBe(EMPTY_HASH)
  expect(tree.size).toBe(0)
})

test('setting what is already so is no change', () => {
  const tree = new HashTree()
  tree.set('task:A', hash(1))
  expect(tree.set('task:A', hash(1))).toBe(false)
  expect(tree.set('task:B', undefined)).toBe(false)
})

test('a bucket lists its own keys with their hashes and no others', () => {
  const tree = new HashTree()
  const keys = Array.from({ length: 1000 }, (_, i): Key => `task:T-${i}`)
  for (const [i, key] of keys.entries()) tree.set(key, hash(i))
  const n = bucketOf('task:T-7')
  const bucket = tree.bucket(n)
  expect(bucket['task:T-7']).toBe(hash(7))
  expect(Object.keys(bucket).every((key) => bucketOf(key as Key) === n)).toBe(true)
  expect(Object.values(bucket).reduce(toggleHash, EMPTY_HASH)).toBe(tree.buckets()[n])
})
