import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type LocalBoard, writeLocalJson } from '../../system/data/local-json.ts'
import { EMPTY_HASH } from '../../worker/board/wire.ts'
import { git, initialize } from '../sidecar/git/git-folder.ts'
import {
  boardReport,
  following,
  publishedRepo,
  type Repo,
  SECRET,
  sessionRecord,
  taskRecord,
  token,
} from '../support/edge.ts'
import { giveSecret } from '../support/run-home.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

interface Line {
  id: string
  type: string
  task?: string
  status?: string
  title?: string
  board: string
}

const lineOf = ({ out }: { out: string }): Line => {
  expect(out).toMatch(/^\{[^\n]*\}\n$/)
  return JSON.parse(out)
}

let dir: string
beforeEach(() => {
  dir = tempFolder()
})

describe('signalbox wait, with a running Signalbox', () => {
  let edge: NodeEdgeInTest
  beforeAll(async () => {
    edge = await startNodeEdge()
  })
  afterAll(() => edge.close())

  async function wait(repo: Repo, ...options: string[]) {
    const argv = ['wait', '--url', edge.origin, '--board', repo.path, ...options]
    return await run(argv, { SIGNALBOX_TOKEN: await token({ repos: [repo.path] }) })
  }
  /** A place from which on nothing has changed yet. */
  async function placeOf(repo: Repo): Promise<string> {
    const response = await repo.request('/tasks')
    await response.text()
    return response.headers.get('X-Signalbox-Seq') ?? ''
  }

  it('prints what changed in one line, with the id to go on from', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const since = await placeOf(repo)
    const { seq } = await repo.changes({ upserts: [taskRecord('A-1', { status: 'done' })] })
    const one = await wait(repo, '--since', since)
    expect(one.code).toBe(0)
    expect(lineOf(one)).toEqual({
      id: seq,
      type: 'task-changed',
      task: 'A-1',
      status: 'done',
      title: 'Task A-1',
      board: repo.path,
    })
    const over = await wait(repo, '--since', seq, '--timeout', '1s')
    expect(over.code).toBe(3)
    expect(lineOf(over)).toEqual({ id: seq, type: 'timeout', board: repo.path })
  })

  it('reports each of two hundred changes once, however changes, waits and restarts interleave', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-0')])
    let seed = 20_260_101
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    let since = await placeOf(repo)
    const made: object[] = []
    const reported: object[] = []
    const change = async () => {
      const id = `A-${random(5)}`
      const { seq } = await repo.changes({ upserts: [taskRecord(id, { rank: made.length })] })
      made.push({ id: seq, task: id })
    }
    const waitOnce = async () => {
      const waited = await wait(repo, '--since', since, '--timeout', '60s')
      expect(waited.code).toBe(0)
      // On a busy machine a restart takes longer than the sentence.
      const isAway = `signalbox: No Signalbox answers for ${repo.path}; waiting for it.\n`
      expect(['', isAway]).toContain(waited.err)
      const { id, task } = lineOf(waited)
      reported.push({ id, task })
      since = id
    }
    while (made.length < 200) {
      const how = random(200)
      if (how < 50) {
        await change()
        await waitOnce()
      } else if (how < 120) {
        const waiting = waitOnce()
        await sleep(random(12))
        await Promise.all([change(), waiting])
      } else if (how < 194) {
        const count = 1 + random(4)
        const changing = (async () => {
          for (let n = 0; n < count; n++) await change()
        })()
        for (let n = 0; n < count; n++) await waitOnce()
        await changing
      } else if (how < 197) {
        const waiting = waitOnce()
        await sleep(random(30))
        await edge.restart()
        await Promise.all([change(), waiting])
      } else {
        await change()
        await Promise.all([waitOnce(), edge.restart()])
      }
    }
    expect(reported).toEqual(made)
    expect((await wait(repo, '--since', since, '--timeout', '1s')).code).toBe(3)
  }, 300_000)

  it('waits for a Signalbox that ends meanwhile, too, says so once, and asks it for no list again', async () => {
    const ending = await startNodeEdge()
    const repo = await publishedRepo(ending, [taskRecord('A-1')])
    const body = JSON.stringify(boardReport())
    expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    const end = repo.path.replace(/^.*\//, '')
    const asked = vi.spyOn(http, 'request')
    onTestFinished(() => asked.mockRestore())
    const argv = ['wait', '--url', ending.origin, '--board', end, '--timeout', '5s']
    const waiting = run(argv, { SIGNALBOX_TOKEN: await token({ repos: [`${repo.path}*`] }) })
    const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
    await expect.poll(streams).toBe(1)
    await ending.close()
    const { code, err } = await waiting
    expect(code).toBe(3)
    expect(err).toBe(`signalbox: No Signalbox answers for ${repo.path}; waiting for it.\n`)
    const lists = asked.mock.calls.filter(([target]) => String(target).endsWith('/boards'))
    expect(lists).toHaveLength(1)
  })

  it('does not wake for sessions, nor for other tasks than the one that was named', async () => {
    // A change of most of a board names none of its tasks.
    const names = Array.from({ length: 9 }, (_, n) => `A-${n + 1}`)
    const repo = await publishedRepo(
      edge,
      names.map((id) => taskRecord(id)),
    )
    const since = await placeOf(repo)
    await repo.changes({ upserts: [taskRecord('A-2', { rank: 1 }), sessionRecord('ses_1')] })
    await repo.changes({ upserts: [sessionRecord('ses_1')] })
    await repo.changes({ upserts: [taskRecord('A-2'), taskRecord('A-3')] })
    const none = await wait(repo, '--task', 'A-1', '--since', since, '--timeout', '1s')
    expect(none.code).toBe(3)
    const several = [taskRecord('A-1', { rank: 2 }), taskRecord('A-3', { rank: 2 })]
    const { seq } = await repo.changes({ upserts: several })
    const one = await wait(repo, '--task', 'A-1', '--since', lineOf(none).id)
    expect(lineOf(one)).toMatchObject({ id: seq, type: 'task-changed', task: 'A-1' })
    const all = await wait(repo, '--since', lineOf(none).id)
    expect(lineOf(all)).toEqual({ id: seq, type: 'tasks-changed', board: repo.path })
    await repo.changes({ deletes: ['task:A-1'] })
    const gone = lineOf(await wait(repo, '--task', 'A-1', '--since', seq))
    expect(gone).toMatchObject({ type: 'task-changed', task: 'A-1' })
    expect(gone).not.toHaveProperty('title')
  })

  it('waits until a task is ready or has a status, and returns at once where it is so', async () => {
    const unready = { ready: false }
    const repo = await publishedRepo(edge, [taskRecord('A-1', unready), taskRecord('A-2', unready)])
    const until = (what: string, ...more: string[]) => wait(repo, '--until', what, ...more)
    const waiting = until('ready')
    await repo.changes({ upserts: [taskRecord('A-1', { ready: false, rank: 1 })] })
    await repo.changes({ upserts: [taskRecord('A-2', { status: 'To Do' })] })
    expect(lineOf(await waiting)).toMatchObject({ type: 'ready', task: 'A-2' })
    expect(lineOf(await until('ready'))).toMatchObject({ type: 'ready', task: 'A-2' })
    await repo.changes({ upserts: [taskRecord('A-2', { status: 'In Progress' })] })
    const done = until('status=done', '--task', 'A-1')
    const { id } = lineOf(await until('status=in progress', '--task', 'A-2'))
    await repo.changes({ upserts: [taskRecord('A-1', { status: 'Done' })] })
    expect(lineOf(await done)).toMatchObject({ type: 'status', task: 'A-1', status: 'Done' })
    const closed = lineOf(await until('status=done', '--since', id))
    expect(closed).toMatchObject({ type: 'status', task: 'A-1' })
    await repo.changes({ upserts: ['A-3', 'A-4'].map((name) => taskRecord(name)) })
    const both = await until('ready', '--since', closed.id)
    expect(lineOf(both)).not.toHaveProperty('task')
  })

  it('sends nobody to a task that somebody has begun, until its session ends', async () => {
    const begun = taskRecord('A-1', { status: 'review' })
    const taken = taskRecord('A-2', { executionState: 'active' })
    const repo = await publishedRepo(edge, [begun, taken, sessionRecord('ses_1')])
    const over = await wait(repo, '--until', 'ready', '--timeout', '1s')
    expect(over.code).toBe(3)
    const own = await wait(repo, '--until', 'ready', '--task', 'A-1')
    expect(lineOf(own)).toMatchObject({ type: 'ready', task: 'A-1' })
    const waiting = wait(repo, '--until', 'ready', '--since', lineOf(over).id)
    const { executionState: _, ...task } = taken.task
    const freed = { ...following(taken, {}), task }
    const ended = sessionRecord('ses_1', { status: 'canceled', health: 'canceled' })
    await repo.changes({ upserts: [ended, freed] })
    expect(lineOf(await waiting)).toMatchObject({ type: 'ready', task: 'A-2' })
  })

  it('says that anything may have changed, after a place of another history', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    for (const since of ['abc-5', `files-${'a'.repeat(32)}`]) {
      const line = lineOf(await wait(repo, '--since', since))
      expect(line).toEqual({
        id: await placeOf(repo),
        type: 'tasks-changed',
        board: repo.path,
      })
      expect((await wait(repo, '--since', line.id, '--timeout', '1s')).code).toBe(3)
    }
  })

  it('ends with 1 where it is refused, or the Signalbox that was named cannot be reached', async () => {
    const repo = await publishedRepo(edge)
    const env = { SIGNALBOX_TOKEN: await token({ repos: ['other'] }) }
    const refused = await run(['wait', '--url', edge.origin, '--board', repo.path], env)
    expect(refused).toEqual({
      code: 1,
      out: '',
      err: 'signalbox: The token is for another repository.\n',
    })
    for (const since of [[], ['--since', 'abc-1']]) {
      const away = ['wait', '--url', 'http://127.0.0.1:9', '--timeout', '1s', ...since]
      expect(await run(away, env)).toMatchObject({ code: 1, out: '' })
    }
    const unknown = await run(['wait', '--url', edge.origin, '--board', 'other'], env)
    expect(unknown).toEqual({
      code: 1,
      out: '',
      err: `signalbox: No board other is published at ${edge.origin}.\n`,
    })
  })

  it('takes the end of a name at an edge elsewhere, too, and names the boards that are there where it is none', async () => {
    const [first, web] = [
      await publishedRepo(edge, [taskRecord('F-1')]),
      await publishedRepo(edge, [taskRecord('W-1')]),
    ]
    const repos = [first.path, `${web.path}*`]
    for (const repo of [first, web]) {
      const body = JSON.stringify(boardReport())
      expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    }
    const gone = await publishedRepo(edge, [taskRecord('G-1')])
    repos.push(`${gone.path}*`)
    const missing = JSON.stringify(boardReport({ store: 'missing' }))
    expect((await gone.request('/boards', { method: 'PUT', body: missing })).status).toBe(200)
    const env = { SIGNALBOX_TOKEN: await token({ repos }) }
    const named = (name: string) =>
      run(['wait', '--url', edge.origin, '--until', 'ready', '--board', name], env)
    const end = web.path.replace(/^.*\//, '')
    expect(lineOf(await named(end))).toMatchObject({ task: 'W-1', board: web.path })
    expect(lineOf(await named(web.path)).task).toBe('W-1')
    const unknown = await named('other')
    expect([unknown.code, unknown.out]).toEqual([2, ''])
    expect(unknown.err).toContain(`There is no board other: choose one with --board: `)
    expect(unknown.err).toContain(web.path)
    expect(unknown.err).not.toContain(gone.path)
  })

  it('says that the folder of the board is gone, also where a task of it looks ready', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const store = { state: 'missing' as const, version: '0.0.0' }
    await repo.sync({ step: 'root', run: repo.run, root: EMPTY_HASH, store })
    const { out, err } = await wait(repo, '--until', 'ready')
    expect(lineOf({ out }).task).toBe('A-1')
    expect(err).toBe('signalbox: The folder of the board is gone; this is what was last in it.\n')
    const over = await wait(repo, '--timeout', '1s')
    expect([over.code, over.err]).toEqual([3, err])
  })

  it('finds the Signalbox that runs here by itself, and its board by the last part of its name', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const data = join(dir, '.signalbox')
    await cp(resolve('examples/board'), dir, { recursive: true })
    const boards = [{ path: repo.path, dir, layout: 'cairn' as const }]
    await writeRunning(data, { url: edge.origin, boards, board: await tokenOf(repo) })
    const here = (...options: string[]) => run(['wait', ...options], {}, { cwd: dir })
    const last = repo.path.replace(/^.*\//, '')
    for (const name of [[], ['--board', last], ['--board', repo.path]]) {
      expect(lineOf(await here('--until', 'ready', ...name))).toMatchObject({
        task: 'A-1',
        board: repo.path,
      })
    }
    const tree = linkedTree(dir)
    const inTree = await run(['wait', '--until', 'ready'], {}, { cwd: tree })
    expect(lineOf(inTree)).toMatchObject({ task: 'A-1', board: repo.path })
    expect(inTree.err).toBe('')
    const unknown = await here('--board', 'x')
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining(repo.path)])
    // As a process leaves it that was killed.
    await rm(join(data, 'lock'))
    expect(lineOf(await here('--until', 'ready'))).toMatchObject({ board: dir })
  })

  it('waits for the board of the folder that it is called in, where several run', async () => {
    const [first, web, second] = [
      await publishedRepo(edge, [taskRecord('F-1')]),
      await publishedRepo(edge, [taskRecord('W-1')]),
      await publishedRepo(edge, [taskRecord('S-1')]),
    ]
    const folder = join(dir, 'packages/web')
    await mkdir(join(folder, 'src'), { recursive: true })
    const boards: LocalBoard[] = [
      { path: first.path, dir, layout: 'openspec' },
      { path: web.path, dir: folder, layout: 'kiro' },
      { path: second.path, dir, layout: 'backlog-md' },
    ]
    const repos = boards.map(({ path }) => path)
    const board = await token({ repos, scope: 'board:read' })
    const data = join(dir, '.signalbox')
    await writeRunning(data, { url: edge.origin, boards, board })
    const from = (cwd: string, ...more: string[]) =>
      run(['wait', '--until', 'ready', '--data', data, ...more], {}, { cwd })
    const inFolder = await from(join(folder, 'src'))
    expect([lineOf(inFolder).task, inFolder.err]).toEqual(['W-1', ''])
    const above = await from(dir)
    expect(lineOf(above).task).toBe('F-1')
    expect(above.err).toBe(
      `signalbox: The board is ${first.path}; ` +
        `--board chooses another one here: ${second.path}.\n`,
    )
    const named = await from(dir, '--board', second.path)
    expect([lineOf(named).task, named.err]).toEqual(['S-1', ''])
    const unknown = join(dir, 'vendor')
    await mkdir(join(unknown, '.kiro/specs'), { recursive: true })
    expect((await from(unknown)).err).toContain(
      `The board is ${first.path}: the one in ${unknown} is not of the running Signalbox.`,
    )
    const elsewhere = await from('/')
    expect(elsewhere).toMatchObject({ code: 2, out: '' })
    const names = repos.join(', ')
    expect(elsewhere.err).toContain(`several boards: choose one with --board: ${names}.`)
  })

  it('says at once that a task or a status is not there yet, and waits for it', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { status: 'doing' })])
    const until = (status: string, ...more: string[]) =>
      wait(repo, '--until', `status=${status}`, '--timeout', '1s', ...more)
    for (const [waiting, sentence] of [
      [wait(repo, '--task', 'A-2', '--timeout', '1s'), 'There is no task A-2 yet; waiting for it.'],
      [until('dnoe'), 'The board has no status dnoe yet, but doing; waiting for it.'],
    ] as const) {
      const { code, err } = await waiting
      expect([code, err]).toEqual([3, `signalbox: ${sentence}\n`])
    }
    expect((await until('Doing', '--since', await placeOf(repo))).err).toBe('')
    const waiting = wait(repo, '--task', 'A-2', '--until', 'status=done')
    await repo.changes({ upserts: [taskRecord('A-2', { status: 'done' })] })
    expect(lineOf(await waiting)).toMatchObject({ task: 'A-2', type: 'status' })
  })

  const tokenOf = (repo: Repo) => token({ repos: [repo.path], scope: 'board:read' })
})

/** One of a new repository. */
function linkedTree(dir: string): string {
  const tree = join(dir, '.trees/feat')
  initialize(dir)
  git(dir, 'worktree', 'add', '-q', tree, '-b', 'feat')
  return tree
}

/** A data folder as a running Signalbox has it. */
async function writeRunning(
  data: string,
  { url = '', board = '', boards }: { url?: string; board?: string; boards: LocalBoard[] },
) {
  await mkdir(data)
  await giveSecret(data, SECRET)
  const tokens = { board, sidecar: 's', payments: 'p' }
  const places = { database: 'd', databaseToken: 'd', simulator: 's', gateways: {} }
  const [{ path } = { path: '' }] = boards
  await writeLocalJson(data, { url, path, boards, tokens, ...places })
  const stat = await readFile(`/proc/${process.pid}/stat`, 'utf8').catch(() => '')
  const born = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  await writeFile(join(data, 'lock'), JSON.stringify({ pid: process.pid, born }))
}

describe('signalbox wait, on files alone', () => {
  beforeEach(() => cp(resolve('examples/board'), dir, { recursive: true }))

  const wait = (...options: string[]) => run(['wait', ...options], {}, { cwd: dir })
  const file = (id: string) => join(dir, `.cairn/tasks/${id}.md`)
  async function save(id: string, title: string): Promise<void> {
    const text = (await readFile(file(id), 'utf8')).replace(/^title: .*/m, `title: ${title}`)
    await writeFile(`${file(id)}.tmp`, text)
    await rename(`${file(id)}.tmp`, file(id))
  }

  it('names the task that changed while it watched, once', async () => {
    let { id: since } = lineOf(await wait('--timeout', '1s'))
    expect(since).toMatch(/^files-[0-9a-f]{32}$/)
    // It does not say when it watches. Another test has what it did not see happen.
    const saved = async (title: string, afterMs: number): Promise<ReturnType<typeof lineOf>> => {
      const waiting = wait('--since', since)
      await sleep(afterMs)
      await save('LAMP-4', title)
      const line = lineOf(await waiting)
      since = line.id
      return line.task === undefined ? saved(`${title}, again`, 2 * afterMs) : line
    }
    const line = await saved('Another', 500)
    expect(line).toMatchObject({ type: 'task-changed', task: 'LAMP-4' })
    expect(line.title).toMatch(/^Another/)
    expect(line).toMatchObject({ board: dir, id: expect.stringMatching(/^files-/) })
    expect((await wait('--since', line.id, '--timeout', '1s')).code).toBe(3)
  })

  it('means the board of the main tree in a linked worktree', async () => {
    const tree = linkedTree(dir)
    const env = { PATH: process.env.PATH }
    const ready = (...more: string[]) =>
      run(['wait', '--until', 'ready', ...more], env, { cwd: tree })
    const waited = await ready()
    const { task, id } = lineOf(waited)
    expect(lineOf(waited).board).toBe(dir)
    expect(waited.err).toBe('')
    // What the tree has begun is nobody else's, and counts as a change.
    const own = join(tree, `.cairn/tasks/${task}.md`)
    const text = await readFile(own, 'utf8')
    await writeFile(own, text.replace(/^status: .*/m, 'status: in_progress'))
    const changed = await run(['wait', '--since', id], env, { cwd: dir })
    expect(lineOf(changed).type).toBe('tasks-changed')
    expect((await ready('--timeout', '1s')).code).toBe(3)
  })

  it('says that something changed where it did not see what', async () => {
    const { id: since } = lineOf(await wait('--timeout', '1s'))
    await save('LAMP-4', 'Another')
    const line = lineOf(await wait('--since', since))
    expect(line).toEqual({ id: expect.any(String), type: 'tasks-changed', board: dir })
    expect((await wait('--since', line.id, '--timeout', '1s')).code).toBe(3)
    await save('LAMP-4', 'Dim the lamp')
    expect(lineOf(await wait('--task', 'LAMP-4', '--since', line.id)).task).toBe('LAMP-4')
  })

  it('waits for a status, also for one that is so already', async () => {
    const done = lineOf(await wait('--task', 'LAMP-1', '--until', 'status=Done'))
    expect(done).toMatchObject({ type: 'status', task: 'LAMP-1', status: 'done' })
    const waiting = wait('--task', 'LAMP-2', '--until', 'status=done')
    const text = await readFile(file('LAMP-2'), 'utf8')
    await writeFile(file('LAMP-2'), text.replace(/^status: .*/m, 'status: done'))
    expect(lineOf(await waiting)).toMatchObject({ task: 'LAMP-2', status: 'done' })
  })

  it('says which statuses the board has, where it has none of that name', async () => {
    const { code, err } = await wait('--until', 'status=dnoe', '--timeout', '1s')
    expect(code).toBe(3)
    expect(err).toMatch(/^signalbox: The board has no status dnoe yet, but backlog, [^\n]*\n$/)
    for (const status of ['done', 'in_progress']) {
      const known = await wait('--task', 'LAMP-5', '--until', `status=${status}`, '--timeout', '1s')
      expect(known.err).toBe('')
    }
  })

  it('finds one of several boards by its folder, or by its name as a start above calls it', async () => {
    const web = join(dir, 'packages/web')
    const spec = join(web, '.kiro/specs/tea')
    await mkdir(spec, { recursive: true })
    await writeFile(join(spec, 'tasks.md'), '- [ ] 1. Boil water\n')
    const from = (cwd: string, ...more: string[]) =>
      run(['wait', '--until', 'ready', ...more], {}, { cwd })
    expect(lineOf(await from(web))).toMatchObject({ task: 'tea/1', board: web })
    const isRoot = { board: dir }
    expect(lineOf(await from(join(dir, 'packages')))).toMatchObject(isRoot)
    const name = `${dir}/packages/web#kiro`
    for (const called of [name, 'web#kiro', 'kiro']) {
      for (const cwd of [dir, web]) {
        expect(lineOf(await from(cwd, '--board', called)).board).toBe(name)
      }
    }
    expect(lineOf(await from(web, '--board', dir))).toMatchObject(isRoot)
    const tool = join(dir, 'packages/app/.kiro/specs/tea')
    await mkdir(tool, { recursive: true })
    await writeFile(join(tool, 'tasks.md'), '- [ ] 1. Boil water\n')
    const names = `${dir}/packages/app#kiro, ${dir}/packages/web#kiro`
    const unclear = await from(dir, '--board', 'kiro')
    expect([unclear.code, unclear.err]).toEqual([
      2,
      expect.stringContaining(`called kiro: choose one with --board: ${names}.`),
    ])
    await rm(join(dir, 'packages/app'), { recursive: true })
    // Without one at the top.
    await rm(join(dir, '.cairn'), { recursive: true })
    expect(lineOf(await from(dir))).toMatchObject({ board: name })
  })

  it('ends with 1 without a board, and with 2 for a wrong use', async () => {
    const none = tempFolder()
    const nothing = await run(['wait'], {}, { cwd: none })
    expect([nothing.code, nothing.out]).toEqual([1, ''])
    expect(nothing.err).toContain('There is no task board')
    for (const [options, sentence] of [
      [['--until', 'done'], '--until must be any, ready, review or status=X, not "done"'],
      [['--until', 'status='], '--until must be'],
      [['--since', 'yesterday'], '--since must be the id of a line before'],
      [['--timeout', '0s'], '--timeout TIME must be a time like'],
      [['--board', 'other'], 'There is no board other'],
      [['--url', 'http://127.0.0.1:9'], 'missing: --token-file FILE'],
    ] as const) {
      const { code, err } = await wait(...options)
      expect(code).toBe(2)
      expect(err).toContain(sentence)
    }
  })
})
