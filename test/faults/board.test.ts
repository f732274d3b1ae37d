// The board's processes and files under faults that `npm run prove` does not have: an edge that lost
// its board, a store that vanishes or is changed by git, and files that nobody can read.

import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Session } from '../../worker/board/wire.ts'
import { PATIENT } from '../support/patience.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'
import { System, taskText } from '../support/system.ts'

const SESSION = 'ses_0123456789abcdef01234567'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterAll(() => edge.close())

/** Tasks with these titles. */
async function board(titles: Record<string, string>): Promise<System> {
  const tasks = Object.entries(titles).map(([id, title]) => [id, taskText(title)])
  const system = await System.start(edge, Object.fromEntries(tasks))
  onTestFinished(() => system.stopSidecar())
  return system
}

const titles = async (system: System) =>
  [...(await system.tasks())].map(([id, { title }]) => `${id} ${title}`)

it('a client gets exactly what it missed, with the ids, also after the edge was killed', async () => {
  const system = await board({ A: 'before', B: 'before' })
  const stream = await (await system.repo.stream()).joined()
  const { lastId } = stream
  await stream.close()
  for (const id of ['A', 'B']) {
    await system.save(id, taskText('missed'))
    await system.untilTask(id, ({ title }) => title === 'missed')
  }
  await edge.crash()
  const resumed = await (await system.repo.stream(lastId)).joined()
  await resumed.until((s) => s.messages.length === 2)
  const [epoch, seq] = lastId.split('-')
  expect(resumed.blocks.slice(2)).toEqual([
    { id: `${epoch}-${Number(seq) + 1}`, data: { type: 'task-changed', id: 'A' } },
    { id: `${epoch}-${Number(seq) + 2}`, data: { type: 'task-changed', id: 'B' } },
  ])
  await resumed.close()
})

it.each([
  ['that lost everything', loseAll],
  ['whose tables have another schema', makeOlder],
])(
  'an edge %s is filled again at the next save, and old clients are told to start over',
  async (_, change) => {
    const system = await board({ A: 'before', B: 'before' })
    const session = `id: ${SESSION}\ntask: A\nstatus: finished\nstarted_at: 2026-01-01T10:00:00Z\n`
    await system.write(`.cairn/sessions/${SESSION}.yaml`, session)
    await system.untilTask('A', (task) => 'sessions' in task)
    const hasSession = async () =>
      (await system.repo.json<{ sessions: Session[] }>('/sessions').catch(() => undefined))
        ?.sessions.length
    await expect.poll(hasSession, PATIENT).toBe(1)
    const stream = await (await system.repo.stream()).joined()
    const { lastId } = stream

    await edge.crash(change)
    const early = await (await system.repo.stream(lastId)).joined()
    expect(early.messages).toEqual([{ type: 'tasks-changed' }])
    expect((await system.repo.request('/tasks')).status).toBe(404)
    await system.save('A', taskText('after'))
    await system.untilTask('A', ({ title }) => title === 'after')
    expect((await system.task('B'))?.title).toBe('before')
    expect(await hasSession()).toBe(1)
    const both = [{ type: 'tasks-changed' }, { type: 'session-changed', session: SESSION }]
    await early.until((s) => s.messages.length === 3)
    expect(early.messages.slice(1)).toEqual(both)
    const late = await (await system.repo.stream(lastId)).joined()
    expect(late.messages).toEqual(both)
    expect(late.lastId.split('-')[0]).not.toBe(lastId.split('-')[0])
    await Promise.all([early.close(), late.close()])
  },
)

it('a sidecar that is stopped publishes what was saved just before', async () => {
  const system = await board({ A: 'before' })
  await system.save('A', taskText('last words'))
  await system.stopSidecar()
  expect(await system.task('A')).toMatchObject({ title: 'last words' })
})

it('a store that vanishes is reported as missing, loses no task, and is watched on return', async () => {
  const system = await board({ A: 'a', B: 'b', C: 'c' })
  const store = async () => (await system.repo.json<{ store: string }>('/status')).store
  await expect.poll(() => titles(system), PATIENT).toEqual(['A a', 'B b', 'C c'])
  await rename(system.path('.cairn'), system.path('elsewhere'))
  await expect.poll(store, PATIENT).toBe('missing')
  expect(await titles(system)).toEqual(['A a', 'B b', 'C c'])

  await system.write('elsewhere/tasks/A.md', taskText('meanwhile'))
  await rm(system.path('elsewhere/tasks/B.md'))
  await rename(system.path('elsewhere'), system.path('.cairn'))
  await expect.poll(store, PATIENT).toBe('present')
  await expect.poll(() => titles(system), PATIENT).toEqual(['A meanwhile', 'C c'])
  await system.save('C', taskText('watched again'))
  await expect.poll(() => titles(system), PATIENT).toEqual(['A meanwhile', 'C watched again'])
})

it('a store that changed while its sidecar was dead is compared, not dropped', async () => {
  const system = await board({ A: 'a', B: 'b', C: 'c' })
  await system.killSidecar()
  await rm(system.taskPath('B'))
  await system.save('D', taskText('d'))
  await system.startSidecar()
  expect([...(await system.tasks()).keys()]).toEqual(['A', 'C', 'D'])
})

it('a checkout of another branch, and back, is published completely', async () => {
  const system = await board({ A: 'a', B: 'b', C: 'c' })
  await system.git('init', '-q', '-b', 'main')
  await system.git('add', '.')
  await system.git('commit', '-qm', 'one')
  await system.git('checkout', '-qb', 'other')
  for (let n = 0; n < 60; n++) await system.save(`N-${n}`, taskText('other'))
  await system.save('A', taskText('other'))
  await rm(system.taskPath('B'))
  await system.git('add', '.')
  await system.git('commit', '-qm', 'two')
  const other = ['A other', 'C c', ...Array.from({ length: 60 }, (_, n) => `N-${n} other`)]
  const sorted = other.toSorted((a, b) => (a < b ? -1 : 1))
  await expect.poll(() => titles(system), PATIENT).toEqual(sorted)
  for (const expected of [['A a', 'B b', 'C c'], sorted, ['A a', 'B b', 'C c']]) {
    await system.git('checkout', '-q', expected === sorted ? 'other' : 'main')
    await expect.poll(() => titles(system), PATIENT).toEqual(expected)
  }
  // Two more at once: the first must not hide the second.
  await system.git('checkout', '-q', 'other')
  await system.git('checkout', '-q', 'main')
  await system.save('Z', taskText('saved after both'))
  await expect.poll(() => titles(system)).toEqual(['A a', 'B b', 'C c', 'Z saved after both'])
})

/** A save of a good task sends its signal. */
async function stillWorks(system: System): Promise<void> {
  const stream = await (await system.repo.stream()).joined()
  await system.save('GOOD', taskText(`saved ${Date.now()}`))
  const message = { type: 'task-changed', id: 'GOOD' }
  await stream.until((s) => s.messages.some((it) => JSON.stringify(it) === JSON.stringify(message)))
  await stream.close()
}

const invalids = async (system: System) =>
  Object.fromEntries([...(await system.tasks())].map(([id, { invalid }]) => [id, invalid]))

const bomb = [
  'a: &k0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 12 }, (_, n) => `b${n}: &k${n + 1} [${Array(9).fill(`*k${n}`)}]`),
].join('\n')

/** File → what its task's `invalid` says. */
const BAD: [id: string, make: (path: string) => void, invalid: RegExp][] = [
  ['YAML', (path) => writeFileSync(path, '---\ntitle: [\n---\n'), /not valid YAML: line 3/],
  ['BOMB', (path) => writeFileSync(path, `---\n${bomb}\n---\n`), /expand to too much/],
  ['DEEP', (path) => writeFileSync(path, `---\nx: ${'['.repeat(20_000)}\n---\n`), /64 deep/],
  ['WIDE', (path) => writeFileSync(path, `---\nx: ${'y'.repeat(300_000)}\n---\n`), /256 KiB/],
  ['LINK', (path) => symlinkSync('/etc/passwd', path), /no link is followed/],
  ['LOOP', (path) => symlinkSync('LOOP.md', path), /no link is followed/],
  ['NOWHERE', (path) => symlinkSync('nothing.md', path), /no link is followed/],
  ['PIPE', (path) => void execFileSync('mkfifo', [path]), /not a regular file/],
  ['FOLDER', (path) => mkdirSync(path), /not a regular file/],
  ['BINARY', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0, 1])), /not UTF-8/],
  ['NUL', (path) => writeFileSync(path, 'a\0b'), /NUL/],
  ['EMPTY', (path) => writeFileSync(path, ''), /empty/],
  ['CONTROL', (path) => writeFileSync(path, taskText('c', '', '\x01'.repeat(512 << 10))), /larger/],
  ['HUGE', (path) => writeFileSync(path, Buffer.alloc(40 << 20, 'x')), /too large: 40.0 MiB/],
]

it('lists every bad file with a sentence, still works, and lists the same after a restart', async () => {
  const system = await board({ GOOD: 'good' })
  for (const [id, make] of BAD) make(system.taskPath(id))
  const expected = Object.fromEntries(
    BAD.map(([id, , invalid]) => [id, expect.stringMatching(invalid) as string]),
  )
  await expect.poll(() => invalids(system), PATIENT).toEqual({ ...expected, GOOD: undefined })
  await stillWorks(system)
  for (const [id] of BAD) expect((await system.task(id))?.invalid).toEqual(expected[id])

  await system.killSidecar()
  rmSync(`${system.home}/cache`, { recursive: true, force: true })
  await system.startSidecar()
  expect(await invalids(system)).toEqual({ ...expected, GOOD: undefined })
  for (const [id] of BAD) rmSync(system.taskPath(id), { recursive: true })
  await expect.poll(async () => [...(await system.tasks()).keys()], PATIENT).toEqual(['GOOD'])
})

it('never shows files outside of the store, whatever links to them', async () => {
  const system = await board({ GOOD: 'good' })
  await system.write('outside/SECRET.md', taskText('root: secret'))
  await system.write('.env', 'root: secret')
  symlinkSync('/etc/passwd', system.taskPath('PASSWD'))
  symlinkSync(system.path('.env'), system.taskPath('ENV'))
  symlinkSync('/etc/passwd', system.path('.cairn/runs'))
  for (const id of ['PASSWD', 'ENV'])
    await system.untilTask(id, ({ invalid }) => invalid !== undefined)
  renameSync(system.path('.cairn/tasks'), system.path('.cairn/old'))
  symlinkSync(system.path('outside'), system.path('.cairn/tasks'))
  await system.logged('store.missing')
  await expect.poll(() => system.repo.json('/status'), PATIENT).toMatchObject({ store: 'missing' })
  const answers = ['/tasks', '/sessions', '/tasks/PASSWD', '/tasks/ENV', '/tasks/SECRET', '/status']
  for (const route of answers) {
    const text = await (await system.repo.request(route)).text()
    expect(text, route).not.toContain('root:')
    expect(text, route).not.toContain('secret')
  }
  // The tasks that were there before are kept, and are watched again later.
  expect([...(await system.tasks()).keys()]).toEqual(['ENV', 'GOOD', 'PASSWD'])
  rmSync(system.path('.cairn/tasks'))
  renameSync(system.path('.cairn/old'), system.path('.cairn/tasks'))
  await system.save('GOOD', taskText('watched again'))
  await system.untilTask('GOOD', ({ title }) => title === 'watched again')
})

const objects = () => join(edge.dir, 'objects')

async function loseAll(): Promise<void> {
  await rm(objects(), { recursive: true })
  await mkdir(objects())
}

/** workerd stores each object in an SQLite file. */
async function makeOlder(): Promise<void> {
  const names = await readdir(objects(), { recursive: true })
  for (const name of names.filter((it) => it.endsWith('.sqlite'))) {
    const database = new DatabaseSync(join(objects(), name))
    const mine = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'board_schema'`).all()
    if (mine.length > 0) database.exec('UPDATE board_schema SET version = version - 1')
    database.close()
  }
}
