import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileReader } from '../../../sidecar/files/file-reader.ts'
import { parseFile } from '../../../sidecar/files/parse-file.ts'
import type { Store } from '../../../sidecar/layouts/layout.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { TEXT_BYTES } from '../../../worker/board/wire.ts'
import { makeFolder } from '../../support/temp-folder.ts'

/** A layout that reads no long text to its end. */
const endless = (store: Store): Store => ({
  ...store,
  parse(path, kind, text) {
    while (text.length > 64 << 10);
    return store.parse(path, kind, text)
  },
})

const LONG = `---\ntitle: Tea\n---\n${'Water. '.repeat(10_000)}`
const SHORT = '---\ntitle: Tea\n---\nWater.\n'

test('a task that takes too long is invalid, and says so with its name', async () => {
  const store = await openStore(makeFolder({ '.cairn/config.yaml': '' }))
  const path = join(store.root, 'tasks/A-1.md')
  const why = 'A-1.md took too long to read, and is read again when it changes.'
  const task = expect.objectContaining({ id: 'A-1', invalid: why })
  const parsed = parseFile(endless(store), path, 'task', LONG)
  expect(parsed).toMatchObject({ state: 'broken', tookTooLong: true, entries: [{ task }] })
  expect(parseFile(endless(store), path, 'task', SHORT)).toHaveProperty('state', 'ok')
  expect(parseFile(store, path, 'task', LONG)).toHaveProperty('state', 'ok')
})

test('of a list that takes too long, the tasks stay as they were last read', async () => {
  const dir = makeFolder({ '.kiro/specs/tea/tasks.md': '' })
  const store = endless(await openStore(dir))
  const path = join(store.root, 'specs/tea/tasks.md')
  const { state, entries } = parseFile(store, path, 'tasks', '- [ ] 1. Boil\n'.repeat(5_000))
  expect(state).toBe('broken')
  expect(entries).toMatchObject([
    { id: 'tea', task: { invalid: expect.stringMatching(/too long/) } },
  ])
})

test('a list with more than a hundred tasks of one id is not read: all of them would be compared', async () => {
  const store = await openStore(makeFolder({ '.kiro/specs/tea/tasks.md': '' }))
  const path = join(store.root, 'specs/tea/tasks.md')
  const twins = (count: number) =>
    parseFile(store, path, 'tasks', '- [ ] 1. Boil\n'.repeat(count)).entries
  expect(twins(100)).toHaveLength(101)
  const invalid = 'tasks.md has more than 100 tasks of one id.'
  expect(twins(101)).toMatchObject([{ id: 'tea', task: { invalid } }])
})

test('a file that took too long is parsed again when it changes, and not before', async () => {
  const dir = makeFolder({ '.cairn/config.yaml': '', '.cairn/tasks/A-1.md': LONG })
  const found = await openStore(dir)
  let parses = 0
  const store: Store = {
    ...found,
    parse(...file) {
      parses += 1
      return endless(found).parse(...file)
    },
  }
  const path = join(store.root, 'tasks/A-1.md')
  const reader = new FileReader({ store, clock: { now: Date.now }, runOutput: 'none' })
  // What is found, and what is published.
  const readers = [reader.read, reader.readWhole]
  const tooLong = { state: 'parsed', file: { state: 'broken' }, unsure: false }
  expect(reader.read(path)).toMatchObject(tooLong)
  const parsesOfOne = parses
  for (const read of readers) expect(read(path)).toMatchObject(tooLong)
  utimesSync(path, 1, 1)
  for (const read of readers) expect(read(path)).toMatchObject(tooLong)
  expect(parses).toBe(parsesOfOne)
  writeFileSync(path, SHORT)
  for (const read of readers) expect(read(path)).toMatchObject({ file: { state: 'ok' } })
  writeFileSync(path, LONG)
  for (const read of readers) expect(read(path)).toMatchObject({ file: { state: 'broken' } })
})

test('a run is published without secrets and NUL characters, cut once, and says how long it was', async () => {
  const store = await openStore(makeFolder({ '.cairn/config.yaml': '' }))
  const path = join(store.root, 'runs/A-1-20260101-100000.000.log')
  const outputOf = (output: string) => {
    const text = `cmd: make\nexit: 1  timedout: false  duration: 1s\n----\n${output}`
    const [entry] = parseFile(store, path, 'run', text).entries
    return entry?.kind === 'run' ? entry.run.output : undefined
  }
  expect(outputOf('a\0b')).toBe('a\ufffdb')
  expect(outputOf('GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789')).toContain('[redacted]')
  const cut = (size: string) => `\n[signalbox: cut at 512 KiB of ${size}]`
  for (const [text, size] of [
    ['x'.repeat(1 << 20), '1.0 MiB'],
    ['\0'.repeat(600 << 10), '600 KiB'],
    ['pw=a1b2c3d4e5 '.repeat(40_000), '547 KiB'],
  ] as const) {
    const output = outputOf(text) ?? ''
    expect(output.endsWith(cut(size))).toBe(true)
    expect(output.split('[signalbox: cut')).toHaveLength(2)
    expect(Buffer.byteLength(output) - Buffer.byteLength(cut(size))).toBeLessThanOrEqual(TEXT_BYTES)
  }
})
