import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { ListedBoard } from '../../../libraries/api/types.ts'
import { type BoardsPlan, openBoards } from '../../../sidecar/boards/open-boards.ts'
import { EdgeHttp } from '../../../sidecar/publish/edge-http.ts'
import { callTransport } from '../../../sidecar/publish/transport.ts'
import { watchChokidar } from '../../../sidecar/watch/watch-chokidar.ts'
import { Seeded } from '../../../tools/harness/seeded.ts'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { metricsText } from '../../../worker/shared/metrics-node.ts'
import { token } from '../../support/edge.ts'
import { type ProcessEdge, processEdge } from '../../support/in-process-edge.ts'
import { PATIENT } from '../../support/patience.ts'
import { makeFolder, writeFiles } from '../../support/temp-folder.ts'
import { git, initialize } from '../git/git-folder.ts'

const CAIRN = {
  '.cairn/config.yaml': 'prefix: T\nstates: [open, done]\nclosed: [done]\ninitial: open\n',
  '.cairn/tasks/T-1.md': '---\ntitle: One\nstatus: open\n---\n',
}
const KIRO = { '.kiro/specs/tea/tasks.md': '- [ ] 1. Heat water\n- [x] 2. Pour\n' }
const OPENSPEC = { 'openspec/changes/add-tea/tasks.md': '- [ ] 1.1 Heat water\n' }

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))

const until = (check: () => void | Promise<void>) => vi.waitFor(check, PATIENT)

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

interface How extends Partial<BoardsPlan> {
  /** Of the token. */
  repos?: string[]
  /** Boards that fail by a defect. */
  broken?: ReadonlySet<string>
  /** Absent: one of its own. */
  edge?: ProcessEdge
}

const ALL = ['shop', 'shop#*', 'shop/*']

/** What one test works with: the boards below `dir`, and an edge of this process. */
async function publish(
  dir: string,
  { repos = ALL, broken = new Set(), edge = processEdge(), ...plan }: How = {},
) {
  const writer = await token({ repos })
  const reader = await token({ repos: ['*'] })
  const transport = callTransport((request) => {
    const { pathname, search } = new URL(request.url)
    return edge.fetch(pathname + search, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      duplex: 'half',
    } as RequestInit)
  })
  const logs: Record<string, unknown>[] = []
  const opened: string[] = []
  const metrics = new Metrics()
  const open = await openBoards({
    dirs: [dir],
    search: {},
    repo: 'shop',
    isRepoChosen: true,
    cacheDir: undefined,
    metrics,
    watch: watchChokidar,
    runOutput: 'masked',
    version: '0.0.0',
    pauseMs: () => 50,
    edgeOf(name) {
      opened.push(name)
      if (broken.has(name)) throw new Error('broken')
      const url = new URL('http://edge.test')
      return new EdgeHttp({ url, repo: name, token: () => Promise.resolve(writer), transport })
    },
    log: (level, event, fields) => logs.push({ level, event, ...fields }),
    ...plan,
  })
  const end = new AbortController()
  const { ready, ended } = open.run(end.signal)
  const finish = async () => {
    end.abort()
    await ended
  }
  ends.push(finish)
  const get = async (route: string, name?: string) => {
    const headers = { authorization: `Bearer ${reader}` }
    const query = name === undefined ? '' : `?path=${encodeURIComponent(name)}`
    const answer = await edge.fetch(`/api/${route}${query}`, { headers })
    return (await answer.json()) as {
      tasks?: { id: string; inMain?: false }[]
      code?: string
      store?: unknown
      boards?: readonly ListedBoard[]
    }
  }
  return {
    open,
    ready,
    logs,
    opened,
    metrics,
    end: finish,
    names: () => open.boards().map(({ name }) => name),
    /** The ids of a board at the edge, or the code of the error. */
    async ids(name: string) {
      const { tasks, code } = await get('tasks', name)
      return tasks?.map(({ id }) => id).join(' ') ?? code
    },
    rows: async (name: string) => (await get('tasks', name)).tasks ?? [],
    status: (name: string) => get('status', name),
    listed: () => get('boards'),
    logged: (event: string) => logs.filter((line) => line.event === event),
  }
}

test('publishes every board below a folder under its name', async () => {
  const dir = makeFolder({ ...CAIRN, ...KIRO, ...below('packages/tea', OPENSPEC) })
  const { names, ids, ready, open, metrics } = await publish(dir)
  await ready
  expect(names()).toEqual(['shop', 'shop#kiro', 'shop/packages/tea#openspec'])
  expect(await Promise.all(names().map(ids))).toEqual([
    'T-1',
    'tea tea/1 tea/2',
    'add-tea add-tea/1.1',
  ])
  expect(open.boards().map((board) => board.tasks())).toEqual([1, 3, 2])
  expect(open.health()).toMatchObject({ connected: true, behind: false, files: 4 })
  expect(metricsText(metrics)).toMatch(/^signalbox_sidecar_boards 3$/m)
  expect(metricsText(metrics)).toMatch(/^signalbox_sidecar_boards_behind 0$/m)
})

test('a board that another process has is left out with a line, until it is given back', async () => {
  const dir = makeFolder({ ...CAIRN, ...KIRO })
  const held = new Set(['shop#kiro'])
  const taken: string[] = []
  const lock = async ({ name }: { name: string }) => {
    if (held.has(name)) return `It runs elsewhere: ${name}.`
    taken.push(name)
    return async () => void held.delete(name)
  }
  const { names, ids, ready, logged, end } = await publish(dir, { lock })
  await ready
  expect([names(), taken]).toEqual([['shop'], ['shop']])
  const line = { code: 'runs_elsewhere', why: 'It runs elsewhere: shop#kiro.' }
  expect(logged('board.left_out')).toMatchObject([line])
  held.clear()
  await until(async () => expect(await ids('shop#kiro')).toBe('tea tea/1 tea/2'))
  held.add('shop').add('shop#kiro')
  await end()
  expect([...held]).toEqual([])
})

test('where another process has all boards, a start waits for its end, and then says where it runs', async () => {
  const dir = makeFolder(CAIRN)
  let tries = 0
  const { names } = await publish(dir, {
    lock: async () => (++tries < 3 ? 'It runs elsewhere.' : async () => undefined),
  })
  expect([names(), tries]).toEqual([['shop'], 3])
  const refused = { code: 'runs_elsewhere', message: 'It runs elsewhere.' }
  const lock = async () => 'It runs elsewhere.'
  await expect(publish(dir, { lock, waits: true })).rejects.toMatchObject(refused)
})

test('a board that appears is published, and the first one keeps its name beside it', async () => {
  const dir = makeFolder(KIRO)
  const found: string[] = []
  const { names, ids, ready } = await publish(dir, { onFound: ({ name }) => found.push(name) })
  await ready
  expect(found).toEqual([])
  // Tried earlier: at the next start it is the first one.
  writeFiles(dir, { ...CAIRN, ...below('packages/tea', OPENSPEC) })
  await until(() => expect(found).toHaveLength(2))
  expect(new Set(found)).toEqual(new Set(['shop#cairn', 'shop/packages/tea#openspec']))
  await until(async () => expect(await ids('shop#cairn')).toBe('T-1'))
  expect(await ids('shop')).toBe('tea tea/1 tea/2')
  expect(names().slice(0, 1)).toEqual(['shop'])
})

test('one that goes away is missing, with its name, and goes on when it is back', async () => {
  const dir = makeFolder({ ...CAIRN, ...below('a', KIRO) })
  const { names, ids, ready, open, logged, status } = await publish(dir)
  await ready
  renameSync(join(dir, 'a'), join(dir, '../moved'))
  await until(() =>
    expect(logged('store.missing')).toMatchObject([{ board: 'shop/a#kiro', level: 'warn' }]),
  )
  await until(async () => expect(JSON.stringify(await status('shop/a#kiro'))).toContain('missing'))
  expect(names()).toEqual(['shop', 'shop/a#kiro'])
  expect(open.health()).toMatchObject({ boards: [{ store: 'present' }, { store: 'missing' }] })
  renameSync(join(dir, '../moved'), join(dir, 'a'))
  writeFiles(join(dir, 'a'), { '.kiro/specs/jam/tasks.md': '- [ ] 1. Cook\n' })
  await until(async () => expect(await ids('shop/a#kiro')).toContain('jam/1'))
})

test('one whose folder stays missing is let go as missing, and is found again if it returns', async () => {
  const dir = makeFolder({ ...CAIRN, ...KIRO, ...below('a', KIRO) })
  const away = makeFolder({})
  const left: string[] = []
  const { names, ids, ready, logged, status, listed, open } = await publish(dir, {
    missingForMs: 0,
    onLeft: ({ name }) => left.push(name),
  })
  await ready
  for (const name of ['.cairn', 'a']) renameSync(join(dir, name), join(away, name))
  await until(() => expect(new Set(left)).toEqual(new Set(['shop', 'shop/a#kiro'])))
  expect(names()).toEqual(['shop#kiro'])
  expect(open.health()).toMatchObject({ connected: true, store: 'present' })
  for (const name of left) {
    expect(await status(name)).toMatchObject({ store: 'missing' })
  }
  const { boards } = await listed()
  const ended = boards?.filter(
    ({ sidecar, store }) => sidecar.state === 'ended' && store === 'missing',
  )
  expect(new Set(ended?.map(({ path }) => path))).toEqual(new Set(left))
  // Another board in the folder of its project does not get its name meanwhile.
  writeFiles(dir, OPENSPEC)
  await until(() => expect(names()).toEqual(['shop#kiro', 'shop#openspec']))
  for (const name of ['.cairn', 'a']) renameSync(join(away, name), join(dir, name))
  writeFiles(join(dir, 'a'), { '.kiro/specs/jam/tasks.md': '- [ ] 1. Cook\n' })
  await until(async () => expect(await ids('shop/a#kiro')).toContain('jam/1'))
  expect(new Set(names())).toEqual(new Set([...left, 'shop#kiro', 'shop#openspec']))
  await until(async () => expect(await status('shop')).toMatchObject({ store: 'present' }))
  expect(logged('board.defect')).toEqual([])
})

test('one that cannot be given back is let go all the same, and found again if it returns', async () => {
  const dir = makeFolder({ ...CAIRN, ...below('a', KIRO) })
  const away = makeFolder({})
  const lock = async () => () => Promise.reject(new Error('EROFS'))
  const { names, ids, ready, logged } = await publish(dir, { missingForMs: 0, lock })
  await ready
  renameSync(join(dir, 'a'), join(away, 'a'))
  await until(() => expect(logged('board.left')).toMatchObject([{ board: 'shop/a#kiro' }]))
  expect(names()).toEqual(['shop'])
  expect(logged('boards.defect')).toMatchObject([{ level: 'error', error: { message: 'EROFS' } }])
  renameSync(join(away, 'a'), join(dir, 'a'))
  writeFiles(join(dir, 'a'), { '.kiro/specs/jam/tasks.md': '- [ ] 1. Cook\n' })
  await until(async () => expect(await ids('shop/a#kiro')).toContain('jam/1'))
})

test('a worktree leads while the main tree has no board, under the same name', async () => {
  const dir = makeFolder(below('main', CAIRN))
  const main = join(dir, 'main')
  initialize(main)
  git(main, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  writeFiles(join(dir, 'feat'), { '.cairn/tasks/T-2.md': '---\ntitle: Two\nstatus: open\n---\n' })
  git(main, 'rm', '-rq', '.cairn')
  git(main, 'commit', '-qm', 'no board')
  const { names, ids, rows, ready, logs, open } = await publish(main, { path: process.env.PATH })
  await ready
  expect(names()).toEqual(['shop'])
  expect(await ids('shop')).toBe('T-1 T-2')
  expect(open.boards().map((it) => it.dir)).toEqual([join(dir, 'feat')])
  git(main, 'reset', '-q', '--hard', 'HEAD~1')
  await until(() => expect(open.boards().map((it) => it.dir)).toEqual([main]))
  // T-2 is of a tree alone now.
  await until(async () => expect((await rows('shop'))[1]).toMatchObject({ inMain: false }))
  rmSync(join(main, '.cairn'), { recursive: true })
  await until(() => expect(open.boards().map((it) => it.dir)).toEqual([join(dir, 'feat')]))
  await until(async () => {
    const [, row] = await rows('shop')
    expect(row?.id).toBe('T-2')
    expect(row).not.toHaveProperty('inMain')
  })
  expect(names()).toEqual(['shop'])
  expect(logs.filter(({ level }) => level === 'error')).toEqual([])
})

test('one whose folder is gone at the next start is missing, unless somebody publishes it', async () => {
  const dir = makeFolder({ ...CAIRN, ...below('a', KIRO), ...below('b', KIRO) })
  const other = makeFolder(below('b', KIRO))
  const cacheDir = makeFolder()
  const edge = processEdge()
  const first = await publish(dir, { cacheDir, edge })
  await first.ready
  await first.end()
  for (const name of ['a', 'b']) rmSync(join(dir, name), { recursive: true })
  const elsewhere = await publish(other, { edge })
  await elsewhere.ready

  const second = await publish(dir, { cacheDir, edge })
  await second.ready
  expect(second.names()).toEqual(['shop'])
  await until(async () => {
    expect(await second.status('shop/a#kiro')).toMatchObject({ store: 'missing' })
  })
  await until(() => {
    const gone = second.logged('store.missing').map(({ board }) => board)
    expect(new Set(gone)).toEqual(new Set(['shop/a#kiro', 'shop/b#kiro']))
  })
  await second.end()
  expect(await second.status('shop/b#kiro')).toMatchObject({ store: 'present' })
  writeFiles(join(other, 'b'), { '.kiro/specs/jam/tasks.md': '- [ ] 1. Cook\n' })
  await until(async () => expect(await elsewhere.ids('shop/b#kiro')).toContain('jam/1'))
  // It is told once.
  const third = await publish(dir, { cacheDir, edge })
  await third.ready
  await third.end()
  expect(third.logged('store.missing')).toEqual([])
})

test('one that a worktree led is not missing once the main tree leads it, also by another name', async () => {
  const dir = makeFolder(below('main', CAIRN))
  const main = join(dir, 'main')
  initialize(main)
  git(main, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  git(main, 'rm', '-rq', '.cairn')
  git(main, 'commit', '-qm', 'no board')
  const cacheDir = makeFolder()
  const first = await publish(dir, { cacheDir })
  await first.ready
  expect(first.open.boards().map((it) => it.dir)).toEqual([join(dir, 'feat')])
  await first.end()
  git(main, 'reset', '-q', '--hard', 'HEAD~1')
  git(main, 'worktree', 'remove', '--force', '../feat')
  const second = await publish(dir, { cacheDir, repo: 'tea', repos: ['tea', 'tea/*'] })
  await second.ready
  expect(second.open.boards().map((it) => it.dir)).toEqual([main])
  await second.end()
  expect(second.logged('store.missing')).toEqual([])
})

test('what the token does not cover is refused in a clear line, and the others go on', async () => {
  const dir = makeFolder({ ...CAIRN, ...KIRO, ...below('a', KIRO) })
  const { ids, ready, open, logged } = await publish(dir, { repos: ['shop', 'shop/*'] })
  await ready
  expect(logged('edge.failed')).toMatchObject([
    {
      level: 'error',
      reason: 'unauthorized',
      why: 'The token is for another repository.',
      board: 'shop#kiro',
    },
  ])
  expect([await ids('shop'), await ids('shop/a#kiro')]).toEqual(['T-1', 'tea tea/1 tea/2'])
  expect(await ids('shop#kiro')).toBe('unknown_repository')
  expect(open.health()).toMatchObject({
    connected: false,
    boards: [{ behind: false }, { board: 'shop#kiro', behind: true }, { behind: false }],
  })
})

test('a defect of one board is logged, it is opened again, and the others go on', async () => {
  const broken = new Set(['shop#kiro'])
  const dir = makeFolder({ ...CAIRN, ...KIRO })
  const { ids, ready, logged } = await publish(dir, { broken })
  await ready
  expect(await ids('shop')).toBe('T-1')
  expect(logged('board.defect')[0]).toMatchObject({ level: 'error', board: 'shop#kiro' })
  broken.clear()
  await until(async () => expect(await ids('shop#kiro')).toBe('tea tea/1 tea/2'))
})

test('a few are opened at a time, and all in the end', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `p${at}`)
  const dir = makeFolder(Object.assign({}, ...names.map((name) => below(name, CAIRN))))
  const { opened, ready, ids } = await publish(dir)
  expect(opened).toHaveLength(4)
  await ready
  expect(new Set(opened)).toEqual(new Set(names.map((name) => `shop/${name}#cairn`)))
  for (const name of names) expect(await ids(`shop/${name}#cairn`)).toBe('T-1')
})

test('nobody waits for a large board that is read for the first time: the edge says how far it is', async () => {
  const tasks = Array.from({ length: 2_000 }, (_, n) => [
    `.cairn/tasks/T-${n}.md`,
    `---\ntitle: Task ${n}\nstatus: open\n---\n`,
  ])
  const dir = makeFolder({ ...CAIRN, ...Object.fromEntries(tasks), ...below('tea', KIRO) })
  const edge = processEdge()
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holding = {
    ...edge,
    async fetch(path: string, init?: RequestInit) {
      const answer = await edge.fetch(path, init)
      if (!path.startsWith('/api/changes') || path.includes('tea')) return answer
      asked.resolve()
      await held.promise
      return answer
    },
  }
  const { ready, open, status, ids, logged } = await publish(dir, { edge: holding })
  await ready
  await asked.promise
  expect(open.boards().map(({ reading }) => reading)).toEqual([2_001, undefined])
  expect(logged('sidecar.reading')).toMatchObject([{ board: 'shop', files: 2_001 }])
  expect(await status('shop')).toMatchObject({ reading: { total: 2_001 } })
  held.resolve()
  await until(async () => expect((await ids('shop'))?.split(' ')).toHaveLength(2_000))
  await until(() => expect(open.boards()[0]?.reading).toBeUndefined())
})

test('of two boards with one name the second is left out, and said once', async () => {
  const dir = makeFolder({ ...below('a/jam', CAIRN), ...below('b/jam', CAIRN), 'a/x/y': '' })
  const dirs = ['a', 'b/jam'].map((name) => join(dir, name))
  const { names, ready, logged, open } = await publish(dir, { dirs })
  await ready
  expect(names()).toEqual(['shop/jam#cairn'])
  writeFiles(dir, below('a/x', KIRO))
  await until(() => expect(open.boards()).toHaveLength(2))
  const why = `The cairn board in ${dir}/b/jam is left out: another one is called shop/jam#cairn, too.`
  expect(logged('board.left_out')).toMatchObject([{ level: 'warn', code: 'same_name', why }])
})

test('a tree that is deleted while it is read hurts no other board', async () => {
  const tasks = Array.from({ length: 300 }, (_, at) => [`.cairn/tasks/T-${at}.md`, 'x'])
  const many = { ...CAIRN, ...Object.fromEntries(tasks) }
  const dir = makeFolder({
    ...CAIRN,
    ...below('a', many),
    ...below('b', many),
    ...below('c', KIRO),
  })
  const { ids, logged, ready } = await publish(dir)
  rmSync(join(dir, 'a'), { recursive: true })
  renameSync(join(dir, 'b/.cairn/tasks'), join(dir, 'b/tasks'))
  await ready
  expect([await ids('shop'), await ids('shop/c#kiro')]).toEqual(['T-1', 'tea tea/1 tea/2'])
  writeFiles(dir, { '.cairn/tasks/T-2.md': CAIRN['.cairn/tasks/T-1.md'] })
  await until(async () => expect(await ids('shop')).toBe('T-1 T-2'))
  expect(logged('board.defect')).toEqual([])
})

test('a board that cannot be read hurts no other one', async () => {
  const dir = makeFolder({ ...CAIRN, ...below('a', KIRO), ...below('b', CAIRN) })
  chmodSync(dir, 0o755)
  chmodSync(join(dir, 'a/.kiro/specs/tea'), 0)
  chmodSync(join(dir, 'b/.cairn/tasks/T-1.md'), 0)
  // Root may read all of it.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    const { ids, ready, logged, names } = await publish(dir)
    await ready
    expect(names()).toEqual(['shop', 'shop/a#kiro', 'shop/b#cairn'])
    expect(await ids('shop')).toBe('T-1')
    expect(logged('store.unreadable')).toMatchObject([
      { board: 'shop/a#kiro', why: expect.stringContaining('cannot be read (EACCES)') },
    ])
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test('boards that come and go at random are in the end as their files', async () => {
  const random = new Seeded(7)
  const pick = (count: number) => random.below(count)
  const dir = makeFolder(CAIRN)
  const { ids, ready, names, logged } = await publish(dir)
  await ready
  const places = ['a', 'a/b', 'c', 'd/e'].map((name) => join(dir, name))
  for (let step = 0; step < 60; step++) {
    const place = places[pick(places.length)] ?? dir
    const [from, to] = [join(place, '.kiro'), join(place, '.moved')]
    const act = [
      () => writeFiles(place, { [`.kiro/specs/s${pick(5)}/tasks.md`]: `- [ ] ${pick(9)}. A\n` }),
      () => rmSync(from, { recursive: true, force: true }),
      () => existsSync(from) && !existsSync(to) && renameSync(from, to),
      () => existsSync(to) && !existsSync(from) && renameSync(to, from),
    ][pick(4)]
    act?.()
    if (pick(3) === 0) await new Promise((resolve) => setTimeout(resolve, pick(60)))
  }
  for (const place of places) {
    rmSync(join(place, '.kiro'), { recursive: true, force: true })
    writeFiles(place, { '.kiro/specs/last/tasks.md': '- [ ] 1. A\n' })
  }
  for (const name of ['shop/a#kiro', 'shop/a/b#kiro', 'shop/c#kiro', 'shop/d/e#kiro']) {
    await until(async () => expect(await ids(name)).toBe('last last/1'))
  }
  expect([await ids('shop'), names().length]).toEqual(['T-1', 5])
  expect([logged('board.defect'), logged('boards.defect')]).toEqual([[], []])
})

test('without a board there is nothing to open, unless it waits for one', async () => {
  const dir = makeFolder({ 'a/README.md': '' })
  const none = { name: 'StoreError', code: 'no_board' }
  await expect(publish(dir)).rejects.toMatchObject(none)
  await expect(publish(dir)).rejects.toThrow(`There is no task board in ${dir}, nor below`)
  await expect(publish(join(dir, 'b'))).rejects.toThrow(`There is no folder ${join(dir, 'b')}.`)
  symlinkSync(join(makeFolder(KIRO), '.kiro'), join(dir, 'a/.kiro'))
  await expect(publish(join(dir, 'a'), { waits: true })).rejects.toThrow('is a link that leads out')

  const { ids, ready, logged } = await publish(join(dir, 'b'), { waits: true })
  expect(logged('store.awaited')).toMatchObject([{ dir: join(dir, 'b') }])
  writeFiles(join(dir, 'b'), KIRO)
  await ready
  expect(await ids('shop')).toBe('tea tea/1 tea/2')
})

const hasGit = !spawnSync('git', ['--version']).error

test.skipIf(!hasGit)('programs that a repository’s own configuration names never run', async () => {
  const dir = makeFolder({ ...CAIRN, ...below('a', KIRO), '.gitignore': 'dist\n' })
  const started = join(dir, 'started')
  const git = (...args: string[]) => spawnSync('git', args, { cwd: dir })
  for (const top of [dir, join(dir, 'a')]) {
    const here = (...args: string[]) => spawnSync('git', args, { cwd: top })
    here('init')
    here('config', 'core.fsmonitor', `touch ${started}; false`)
    here('config', 'core.hooksPath', join(dir, 'hooks'))
  }
  mkdirSync(join(dir, 'hooks'))
  for (const hook of ['post-index-change', 'pre-commit', 'post-checkout', 'fsmonitor-watchman']) {
    writeFileSync(join(dir, 'hooks', hook), `#!/bin/sh\ntouch ${started}\n`, { mode: 0o755 })
  }
  const { names, ids, ready } = await publish(dir)
  await ready
  writeFiles(dir, below('b', OPENSPEC))
  await until(async () => expect(await ids('shop/b#openspec')).toBe('add-tea add-tea/1.1'))
  expect(names()).toHaveLength(3)
  expect(existsSync(started)).toBe(false)
  // It is a trap: git itself falls into it.
  git('status')
  expect(existsSync(started)).toBe(true)
})
