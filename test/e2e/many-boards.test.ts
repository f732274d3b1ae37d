// One process over a monorepo: OpenSpec at the top, Kiro and Backlog.md in packages, BMAD in a
// repository of its own, and what only looks like a board.

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServeJson } from '../../system/data/local-json.ts'
import type { Task } from '../../worker/board/wire.ts'
import { run } from '../cli/run.ts'
import { EventStream } from '../support/event-stream.ts'
import { jsonOf } from '../support/json-of.ts'
import { oneProcess, type Start, Starts, serve } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { tempFolder } from '../support/temp-folder.ts'

const SPRINT = '_bmad-output/implementation-artifacts/sprint-status.yaml'
const DECOY = '.kiro/specs/decoy/tasks.md'

const FILES: Readonly<Record<string, string>> = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.gitignore': 'ignored/\n',
  'openspec/changes/tea/tasks.md': '- [ ] 1.1 Boil\n- [x] 1.2 Pour\n',
  'packages/web/.kiro/specs/cup/tasks.md': '- [ ] 1. Find a cup\n',
  'packages/api/backlog/config.yml': 'project_name: API\n',
  'packages/api/backlog/tasks/task-1 - One.md': '---\nid: task-1\ntitle: One\nstatus: To Do\n---\n',
  'vendor/shop/.git/HEAD': 'ref: refs/heads/main\n',
  'vendor/shop/_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
  [`vendor/shop/${SPRINT}`]: 'development_status:\n  epic-1: backlog\n  1-1-dough: backlog\n',
  [`node_modules/lib/${DECOY}`]: '- [ ] 1. Never\n',
  [`packages/web/node_modules/lib/${DECOY}`]: '- [ ] 1. Never\n',
  [`ignored/${DECOY}`]: '- [ ] 1. Never\n',
}

/** What an agent saves, and what each board's stream then has. */
const EDITS = [
  {
    board: '',
    task: 'tea/1.1',
    file: 'openspec/changes/tea/tasks.md',
    text: '- [x] 1.1 Boil\n- [x] 1.2 Pour\n',
  },
  {
    board: '/packages/web#kiro',
    task: 'cup/1',
    file: 'packages/web/.kiro/specs/cup/tasks.md',
    text: '- [-] 1. Find a cup\n',
  },
  {
    board: '/packages/api#backlog-md',
    task: 'TASK-1',
    file: 'packages/api/backlog/tasks/task-1 - One.md',
    text: '---\nid: task-1\ntitle: Another\nstatus: To Do\n---\n',
  },
  {
    board: '/vendor/shop#bmad',
    task: '1-1-dough',
    file: `vendor/shop/${SPRINT}`,
    text: 'development_status:\n  epic-1: backlog\n  1-1-dough: review\n',
  },
]
const sorted = (names: string[]) => names.toSorted((a, b) => a.localeCompare(b))
const NAMES = sorted(EDITS.map(({ board }) => board))
/** The search for boards is repeated each half minute. */
const SEARCH = { ...PATIENT, timeout: 90_000 }

async function put(dir: string, name: string, text: string): Promise<void> {
  const file = join(dir, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** `get` asks the edge, and `names` are those of local.json, without their common beginning. */
interface Running {
  start: Start
  repo: string
  get(route: string): Promise<Response>
  names(): Promise<string[]>
}

const tasksOf = async ({ get, repo }: Running, board: string): Promise<Task[]> => {
  const path = encodeURIComponent(`${repo}${board}`)
  return (await jsonOf<{ tasks: Task[] }>(await get(`/api/tasks?path=${path}`), 200)).tasks
}

async function streamOf({ get, repo }: Running, board: string): Promise<EventStream> {
  const path = encodeURIComponent(`${repo}${board}`)
  return await new EventStream(await get(`/api/events?path=${path}`)).joined()
}

const starts = new Starts()

/** With the tokens of its local.json. */
async function here(dir: string, dataDir?: string): Promise<Running> {
  const plan = { launch: oneProcess, storeDir: dir, ...(dataDir !== undefined && { dataDir }) }
  const start = await (await starts.start(plan)).ready()
  return {
    start,
    repo: dir,
    get: (route) => start.fetch(route.replace('/api', '')),
    async names() {
      return sorted((await start.local()).boards.map(({ path }) => path.replace(dir, '')))
    },
  }
}

const REPO = 'team'
const AUTH_SECRETS = 'a-secret-of-at-least-32-characters'

/** With a token as an operator makes it. */
async function server(dir: string): Promise<Running> {
  const args = [`--repo=${REPO}`]
  const plan = { launch: serve, storeDir: dir, args, env: { AUTH_SECRETS } }
  const start = await (await starts.start(plan)).ready()
  const repos = [REPO, `${REPO}/*`, `${REPO}#*`].flatMap((name) => ['--repo', name])
  const made = await run(['token', '--scope', 'board:read', ...repos], { AUTH_SECRETS })
  const local = async () => (await start.local()) as unknown as ServeJson
  return {
    start,
    repo: REPO,
    async get(route) {
      const headers = { authorization: `Bearer ${made.out.trim()}` }
      return await fetch(`${(await local()).url}${route}`, { headers })
    },
    async names() {
      const { boards } = (await local()).serve
      return sorted(boards.map(({ path }) => path.replace(REPO, '')))
    },
  }
}

describe.each([
  { name: 'signalbox', open: here },
  { name: 'signalbox serve', open: server },
])('$name over a monorepo', ({ name, open }) => {
  let dir: string
  let running: Running
  beforeAll(async () => {
    dir = tempFolder()
    for (const [file, text] of Object.entries(FILES)) await put(dir, file, text)
    running = await open(dir)
  })
  afterAll(() => starts.clear())

  it('publishes every board, and nothing that only looks like one', async () => {
    expect(await running.names()).toEqual(NAMES)
    for (const { board, task } of EDITS) {
      expect((await tasksOf(running, board)).map(({ id }) => id)).toContain(task)
    }
    const answer = await running.get('/api/boards')
    const { boards } = await jsonOf<{ boards: { path: string }[] }>(answer, 200)
    const { repo } = running
    expect(sorted(boards.map(({ path }) => path.replace(repo, '')))).toEqual(NAMES)
  })

  it('means the first board where none is named', async () => {
    const { tasks } = await jsonOf<{ tasks: Task[] }>(await running.get('/api/tasks'), 200)
    expect(tasks.map(({ id }) => id)).toContain('tea/1.1')
  })

  it('sends each edit to the stream of its own board, and to no other', async () => {
    const streams = await Promise.all(EDITS.map(({ board }) => streamOf(running, board)))
    for (const { file, text } of EDITS) await put(dir, file, text)
    for (const [at, { task }] of EDITS.entries()) {
      await streams[at]?.until(({ messages }) => messages.length > 0)
      expect(streams[at]?.messages).toEqual([{ type: 'task-changed', id: task }])
    }
    await Promise.all(streams.map((stream) => stream.close()))
  })

  it('says that a board is gone, and publishes one that appears, without a restart', async () => {
    await rm(join(dir, 'packages/web'), { recursive: true })
    await put(dir, 'packages/late/.kiro/specs/milk/tasks.md', '- [ ] 1. Buy milk\n')
    await expect.poll(() => running.start.stderr, PATIENT).toContain('packages/web#kiro')
    const gone = encodeURIComponent(`${running.repo}/packages/web#kiro`)
    const status = async () => await (await running.get(`/api/status?path=${gone}`)).json()
    await expect.poll(status, PATIENT).toMatchObject({ store: 'missing' })
    expect(await tasksOf(running, '/packages/web#kiro')).not.toEqual([])

    const late = '/packages/late#kiro'
    const names = sorted([...NAMES, late])
    await expect.poll(running.names, SEARCH).toEqual(names)
    const ids = async () => (await tasksOf(running, late).catch(() => [])).map(({ id }) => id)
    await expect.poll(ids, PATIENT).toContain('milk/1')
    const stream = await streamOf(running, late)
    await put(dir, 'packages/late/.kiro/specs/milk/tasks.md', '- [x] 1. Buy milk\n')
    await stream.until(({ messages }) => messages.length > 0)
    expect(stream.messages).toEqual([{ type: 'task-changed', id: 'milk/1' }])
    await stream.close()
  })

  it.runIf(name === 'signalbox')('says so at the terminal, by their names', () => {
    const { stdout, stderr } = running.start
    const lines = stdout.split('\n').slice(0, 4)
    expect(lines).toEqual([
      `boards      ${dir} (openspec, 3 tasks): ${dir}`,
      `            ${dir}/packages/api (backlog-md, 1 task): ${dir}/packages/api#backlog-md`,
      `            ${dir}/packages/web (kiro, 2 tasks): ${dir}/packages/web#kiro`,
      `            ${dir}/vendor/shop (bmad, 2 tasks): ${dir}/vendor/shop#bmad`,
    ])
    const web = `The board ${dir}/packages/web#kiro in ${dir}/packages/web/.kiro`
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^signalbox: Made a new database of payments: \w+=\w{32}$/),
      `signalbox: ${web} is gone; what was published of it stays.`,
      `signalbox: The board ${dir}/packages/late#kiro has appeared in ${dir}/packages/late (kiro).`,
      '',
    ])
  })

  it('is found by the other commands, with all of its boards', async () => {
    const data = ['--data', running.start.dataDir]
    const doctor = await run(['doctor', ...data], { AUTH_SECRETS })
    expect(doctor).toMatchObject({ code: 0, err: '' })
    const checked = doctor.out.match(/^ok +board +\S+/gm)?.map((line) => line.replace(/.* /, ''))
    expect(checked).toEqual(['openspec', 'backlog-md', 'kiro', 'bmad'])
    const argv = ['wait', '--board', 'late#kiro', '--task', 'milk/1', '--until', 'status=done']
    const waited = await run([...argv, ...data], { AUTH_SECRETS })
    const board = `${running.repo}/packages/late#kiro`
    expect(JSON.parse(waited.out)).toMatchObject({ board, task: 'milk/1' })
    const link = await run(['sign-in', ...data], { AUTH_SECRETS })
    expect(link).toMatchObject({ code: 0, err: '' })
  })

  it.runIf(name === 'signalbox')('keeps all names over a restart', async () => {
    const { start } = running
    start.process.kill('SIGKILL')
    await start.ended
    running = await here(dir, start.dataDir)
    const present = sorted([...NAMES.filter((it) => !/web/.test(it)), '/packages/late#kiro'])
    expect(await running.names()).toEqual(present)
    for (const board of present) expect(await tasksOf(running, board)).not.toEqual([])
  })
})

describe('signalbox for several folders', () => {
  let dir: string
  beforeAll(async () => {
    dir = tempFolder()
    const list = '- [ ] 1. Boil\n'
    // Each is a project of its own.
    for (const name of ['a', 'b']) await put(dir, `${name}/.git/HEAD`, '')
    await put(dir, 'a/.kiro/specs/x/tasks.md', list)
    await put(dir, 'b/openspec/changes/y/tasks.md', list)
    await put(dir, 'b/below/.kiro/specs/z/tasks.md', list)
  })
  afterAll(() => starts.clear())

  const A = 'a/.kiro/specs/..'
  it.each([
    { args: [A, 'b', '--repo=shop'], names: ['shop', 'shop/b#openspec', 'shop/b/below#kiro'] },
    { args: ['b', 'a', '--only=kiro'], names: ['~/b/below#kiro', '~/a#kiro'] },
  ])('publishes $names for $args, and means the first where none is named', async (given) => {
    const [first = '', ...others] = given.args
    const more = others.map((arg) => (arg.startsWith('-') ? arg : join(dir, arg)))
    const plan = { launch: oneProcess, storeDir: join(dir, first), args: more }
    const start = await (await starts.start(plan)).ready()
    const { path, boards } = await start.local()
    const names = given.names.map((name) => name.replace('~', dir))
    expect(boards.map((board) => board.path)).toEqual(names)
    expect(path).toBe(names[0])
    const ids = async (query: string) =>
      (await start.json<{ tasks: Task[] }>(`/tasks${query}`)).tasks.map(({ id }) => id)
    for (const name of names) expect(await ids(`?path=${encodeURIComponent(name)}`)).toHaveLength(2)
    expect(await ids('')).toEqual(await ids(`?path=${encodeURIComponent(path)}`))
    // The first project may get a board of its own while it runs.
    const ofProject = others.includes('--repo=shop') ? 'shop' : join(dir, first)
    const answer = await start.fetch(`/tasks?path=${encodeURIComponent(ofProject)}`)
    expect(answer.status).toBe(names.includes(ofProject) ? 200 : 404)
  })

  it('refuses more folders than a session can name, unless they have one name', async () => {
    const folders = Array.from({ length: 40 }, (_, n) => `many/${n}-${'x'.repeat(40)}`)
    for (const folder of folders) await put(dir, `${folder}/.kiro/specs/x/tasks.md`, '- [ ] 1.\n')
    const { code, err } = await run(['dev', ...folders.map((folder) => join(dir, folder))])
    const why = 'So many DIR do not fit in a token: name them all with --repo NAME.'
    // After a second of searching, a line says so.
    expect([code, err.split('\n').at(-2)]).toEqual([2, `signalbox: ${why}`])
  })

  it('refuses a folder without a board, or that is not there, and writes nothing', async () => {
    await put(dir, 'none/.git/HEAD', '')
    for (const [folder, why] of [
      ['none', 'There is no task board in'],
      ['nowhere', 'There is no folder'],
    ] as const) {
      const { code, out, err } = await run(['dev', join(dir, 'a'), join(dir, folder)])
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toContain(`signalbox: ${why} ${join(dir, folder)}`)
    }
    expect(await readdir(join(dir, 'a'))).toEqual(['.git', '.kiro'])
  })
})
