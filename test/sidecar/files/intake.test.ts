import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FileState } from '../../../sidecar/files/file-reader.ts'
import { FileTable } from '../../../sidecar/files/file-table.ts'
import { Intake } from '../../../sidecar/files/intake.ts'
import { scan } from '../../../sidecar/files/scan.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const never = () => false

test('a file that could not be read, and was removed without a hint, is reported gone by the next scan', async () => {
  const dir = makeFolder({ '.cairn/config.yaml': '', '.cairn/tasks/A.md': 'text' })
  const store = await openStore(dir)
  const path = join(store.root, 'tasks', 'A.md')
  const files = new FileTable()
  const { size, mtimeMs, ctimeMs, ino } = lstatSync(path)
  const stat = { size, mtimeMs, ctimeMs, ino, isRacy: false }
  files.put(path, { hash: 'known', facts: [], stat })
  expect((await scan(store, files)).changed).not.toContain(path)
  const intake = new Intake({
    board: { hashOf: () => 'known', ingest: () => undefined, distrust: (it) => files.distrust(it) },
    read: () => ({ state: 'later', why: 'a disk that fails' }),
    log: () => undefined,
    elapsed: () => performance.now(),
  })
  expect(await intake.take([path], () => undefined, never)).toEqual({ news: [], later: true })
  expect((await scan(store, files)).changed).toContain(path)
  await intake.take([path], () => undefined, never)
  rmSync(path)
  expect((await scan(store, files)).gone).toEqual([path])
})

test('a file over which nothing else was done for a second is a line in the log, with its name', async () => {
  let now = 0
  const lines: unknown[] = []
  const takes = (ms: number) => {
    now += ms
  }
  const intake = new Intake({
    board: {
      hashOf: () => undefined,
      ingest: (path) => takes(path === 'dense' ? 1_300 : 1),
      distrust: () => undefined,
    },
    read(path) {
      takes(path === 'long' ? 1_200 : 900)
      return { state: 'gone' }
    },
    log: (...line) => lines.push(line),
    elapsed: () => now,
  })
  await intake.take(['long', 'usual', 'dense'], () => undefined, never)
  expect(lines).toEqual([
    ['warn', 'loop.stood', { path: 'long', ms: 1_200 }],
    ['warn', 'loop.stood', { path: 'dense', ms: 1_300 }],
  ])
})

test('what was read before others had their turn is not taken over what they read', async () => {
  const file = (hash: string): FileState => ({
    state: 'parsed',
    file: { hash, state: 'ok', entries: [], chars: 1 },
    unsure: false,
  })
  let known: string | undefined
  let reads = 0
  const taken: (string | undefined)[] = []
  const intake = new Intake({
    board: {
      hashOf: () => known,
      ingest: (_path, it) => taken.push(it?.hash),
      distrust: () => undefined,
    },
    read() {
      reads += 1
      if (reads > 1) return file('new')
      const until = performance.now() + 60
      while (performance.now() < until);
      setImmediate(() => {
        known = 'new'
      })
      return file('old')
    },
    log: () => undefined,
    elapsed: () => performance.now(),
  })
  await intake.take(['long'], () => undefined, never)
  expect(taken).toEqual(['new'])
})
