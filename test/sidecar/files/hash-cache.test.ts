import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { Board } from '../../../sidecar/board/board.ts'
import { HashCache } from '../../../sidecar/files/hash-cache.ts'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { config, FakeBoard, fakeStore, live, parsedOf, session, task } from '../fake-board.ts'

const store = { ...fakeStore, root: '/s', layout: 'cairn' as const }
const fileStat = { size: 1, mtimeMs: 2.5, ctimeMs: 3.25, ino: 4, isRacy: false }
const NONE = new Board(fakeStore, () => ({ state: 'gone' }))

const MADE_BY = { version: '1', runOutput: 'masked' } as const

let folder: string
let logs: string[]

beforeEach(async () => {
  folder = join(tempFolder(), 'made', 'here')
  logs = []
  // As every start does, which makes the folder.
  await cacheOf().load(() => undefined)
})

const cacheOf = (of: Partial<typeof store> = {}) =>
  new HashCache(folder, { ...store, ...of }, MADE_BY, (_level, event) => logs.push(event))

/** The paths that it hands over. */
async function loaded(cache = cacheOf()): Promise<string[]> {
  const paths: string[] = []
  await cache.load((path) => paths.push(path))
  return paths
}

function filled(): Board {
  const fake = new FakeBoard()
  const put = (path: string, ...entries: Entry[]) =>
    fake.board.ingest(path, { ...parsedOf(entries), stat: fileStat })
  put('/s/config', config(['done']))
  put('/s/tasks/A', task('A', { deps: ['B', 'C'], activeAttempt: 'a1' }))
  // It holds the id that a file which sorts before it claims later.
  fake.board.takeChanged(0)
  put('/s/done/B', { ...task('B', { milestone: 'm-1' }), standing: 'closed' } as Entry)
  put('/s/many/x', { ...task('C'), source: 'c' } as Entry, { ...task('A'), source: 'a' } as Entry)
  put('/s/sessions/1', session('1', 'A', 'active', 100))
  put('/s/live/1', live('1', 200))
  const run = { file: 'r.log', exit: 0, timedout: false }
  put('/s/milestones/m-1', { kind: 'setting', id: 'milestone:m-1', value: 'Spring' })
  put('/s/runs/r.log', { kind: 'run', id: 'r.log', task: 'A', run })
  fake.board.takeChanged(500)
  return fake.board
}

test('a board that was restored has the same sums, and turns stale at the same time', async () => {
  const before = filled()
  await cacheOf().save(before.saved())
  const after = new Board(fakeStore, () => ({ state: 'gone' }))
  await cacheOf().load((path, file) => after.restore(path, file))
  expect(after.files.size).toBe(8)
  after.takeChanged(500)
  expect(after.root()).toBe(before.root())
  expect(after.nextStaleAt()).toBe(before.nextStaleAt())
  expect([...after.saved()]).toEqual([...before.saved()])
  expect(logs).toEqual([])
})

test('the file is for its owner alone, and nothing else is left beside it', async () => {
  await cacheOf().save(filled().saved())
  await cacheOf().save(filled().saved())
  expect(await readdir(folder)).toEqual(['files.jsonl'])
  expect((await stat(join(folder, 'files.jsonl'))).mode & 0o777).toBe(0o600)
})

test('a file without a stat is not kept: nothing could be compared', async () => {
  const fake = new FakeBoard()
  fake.put('/s/tasks/A', task('A'))
  await cacheOf().save(fake.board.saved())
  expect(await loaded()).toEqual([])
})

test('where there is none, nothing is restored and nothing is said', async () => {
  expect(await loaded()).toEqual([])
  expect(logs).toEqual([])
})

test.each([
  ['another store', async () => cacheOf({ root: '/t' })],
  [
    'another layout',
    async () => new HashCache(folder, { ...store, layout: 'backlog-md' }, MADE_BY, log),
  ],
  [
    'another version of the program',
    async () => new HashCache(folder, store, { ...MADE_BY, version: '2' }, log),
  ],
  [
    'another output of runs',
    async () => new HashCache(folder, store, { ...MADE_BY, runOutput: 'none' }, log),
  ],
  ['an older format', async () => replaced((text) => text.replace(/"format":\d+/, '"format":1'))],
  ['no cache at all', async () => replaced(() => '\0\0\0binary\n')],
])('%s is ignored with one log line', async (_name, make) => {
  await cacheOf().save(filled().saved())
  const cache = await make()
  expect(await loaded(cache)).toEqual([])
  expect(logs).toEqual(['cache.ignored'])
})

test.each([
  ['cut within a line', (text: string) => text.slice(0, -20), []],
  ['with a line that is none', (text: string) => `${text}["tasks/Z",2]\n`, ['cache.ignored']],
])('a file %s gives what is whole', async (_name, change, lines) => {
  const before = filled()
  await cacheOf().save(before.saved())
  await replaced(change)
  expect(await loaded()).toContain('/s/tasks/A')
  expect(logs).toEqual(lines)
})

test('in the place of a folder that went away nothing is made', async () => {
  const project = join(folder, '..')
  await rename(project, `${project}-moved`)
  await cacheOf().save(NONE.saved())
  expect(existsSync(project)).toBe(false)
  expect(logs).toEqual(['cache.unwritten'])
})

test('a folder that cannot be made is two log lines and no error', async () => {
  await rm(join(folder, '..'), { recursive: true })
  await writeFile(join(folder, '..'), 'a file')
  expect(await loaded()).toEqual([])
  await cacheOf().save(NONE.saved())
  expect(logs).toEqual(['cache.ignored', 'cache.unwritten'])
})

const log = (_level: string, event: string) => logs.push(event)

async function replaced(change: (text: string) => string): Promise<HashCache> {
  const file = join(folder, 'files.jsonl')
  await writeFile(file, change(await readFile(file, 'utf8')))
  return cacheOf()
}
