// Bad files in a board's folders: each is reported clearly, and the rest of the board still works
// and sends signals.

import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'
import { PATIENT } from '../support/patience.ts'
import { CONFIG, System, Systems, taskText } from '../support/system.ts'

let edge: EdgeProcess
const systems = new Systems()
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterEach(() => systems.clear())
afterAll(() => edge.close())

/** A save of a good task sends its signal. */
async function stillWorks(system: System): Promise<void> {
  const stream = await (await system.repo.stream()).joined()
  await system.save('GOOD', taskText(`saved ${Date.now()}`))
  const told = { type: 'task-changed', id: 'GOOD' }
  await stream.until((s) => s.messages.some((it) => JSON.stringify(it) === JSON.stringify(told)))
  await stream.close()
}

const invalids = async (system: System) =>
  Object.fromEntries([...(await system.tasks())].map(([id, { invalid }]) => [id, invalid]))

describe('a cairn board', () => {
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
    ['LOOP', (path) => symlinkSync('LOOP.md', path), /link that leads nowhere/],
    ['NOWHERE', (path) => symlinkSync('nothing.md', path), /link to nothing/],
    ['PIPE', (path) => void execFileSync('mkfifo', [path]), /not a regular file/],
    ['FOLDER', (path) => mkdirSync(path), /not a regular file/],
    ['BINARY', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0, 1])), /not UTF-8/],
    ['NUL', (path) => writeFileSync(path, 'a\0b'), /NUL/],
    ['EMPTY', (path) => writeFileSync(path, ''), /empty/],
    [
      'CONTROL',
      (path) => writeFileSync(path, taskText('c', '', '\x01'.repeat(512 << 10))),
      /larger/,
    ],
    ['HUGE', (path) => writeFileSync(path, Buffer.alloc(40 << 20, 'x')), /too large: 40.0 MiB/],
  ]

  it('lists every bad file with a sentence, still works, and lists the same after a restart', async () => {
    const system = await systems.keep(System.cairn(edge, { GOOD: taskText('good') }))
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

  it('cuts a task file of 20 MiB, and says so in its last line', async () => {
    const system = await systems.keep(System.cairn(edge, { GOOD: taskText('good') }))
    writeFileSync(system.taskPath('BIG'), taskText('big', '', 'x'.repeat(20 << 20)))
    // It is not written at once, and its beginning is a task too.
    const last = '\n[signalbox: cut at 512 KiB of 20.0 MiB]'
    const big = await system.untilTask('BIG', ({ body }) => body?.endsWith(last) === true)
    expect(big.title).toBe('big')
    expect(big.body?.length).toBeLessThan(600 << 10)
    await stillWorks(system)
  })

  it('never shows files outside of the store, whatever links to them', async () => {
    const system = await systems.keep(System.cairn(edge, { GOOD: taskText('good') }))
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
    await expect
      .poll(() => system.repo.json('/status'), PATIENT)
      .toMatchObject({ store: 'missing' })
    const answers = [
      '/tasks',
      '/sessions',
      '/tasks/PASSWD',
      '/tasks/ENV',
      '/tasks/SECRET',
      '/status',
    ]
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

  it('accepts __proto__ and a name of 255 bytes as ids, and ignores names that are no ids', async () => {
    const long = 'x'.repeat(252)
    const names = { GOOD: taskText('good'), [long]: taskText('long') }
    const system = await systems.keep(System.cairn(edge, names))
    const proto = taskText('p', 'labels: [__proto__]\nassignee: constructor\n__proto__: {a: 1}\n')
    await system.save('__proto__', proto)
    for (const name of ["it's.md", 'a\nb.md', 'Tâche.md', '😀.md', '..md', 'a b.md', '"q".md'])
      await system.write(`.cairn/tasks/${name}`, taskText('no task'))
    const task = await system.untilTask('__proto__', ({ title }) => title === 'p')
    expect(task.labels).toEqual(['__proto__'])
    expect([...(await system.tasks()).keys()]).toEqual(['GOOD', '__proto__', long])
    for (const query of ['label=__proto__', 'assignee=constructor'])
      expect(await system.repo.json(`/tasks?${query}`)).toMatchObject({
        tasks: [{ id: '__proto__' }],
      })
    expect(await system.repo.json('/tasks?status=__proto__')).toEqual({ tasks: [] })
    expect((await system.repo.request('/tasks?__proto__=1')).status).toBe(400)
    await stillWorks(system)
  })
})

describe('a Backlog.md board', () => {
  const file = (id: string, title: string) =>
    `---\nid: ${id}\ntitle: ${title}\nstatus: To Do\n---\n`

  it('lists two files with one id, and the second gets the id when the first is removed', async () => {
    const system = await systems.keep(
      System.start(edge, {
        'backlog/config.yml': '',
        'backlog/tasks/back-1 - First.md': file('BACK-1', 'First'),
        'backlog/tasks/back-1 - Second.md': file('BACK-1', 'Second'),
      }),
    )
    const rows = async () =>
      [...(await system.tasks()).values()].map(({ id, title, invalid }) => [id, title, invalid])
    const why = 'another file has the id BACK-1: back-1 - First.md'
    expect(await rows()).toEqual([
      ['BACK-1', 'First', undefined],
      ['BACK-1~2', 'Second', why],
    ])
    rmSync(system.path('backlog/tasks/back-1 - First.md'))
    await expect.poll(rows, PATIENT).toEqual([['BACK-1', 'Second', undefined]])
  })

  it('accepts names with line breaks, quotes and letters of any script', async () => {
    const system = await systems.keep(System.start(edge, { 'backlog/config.yml': '' }))
    const names = ['a\nb', `"it's"`, 'Größe 😀', '../../x'.replaceAll('/', '∕'), 'x'.repeat(240)]
    for (const [n, name] of names.entries())
      await system.write(`backlog/tasks/back-${n} - ${name}.md`, file(`BACK-${n}`, 'fine'))
    const expected = names.map((_, n) => `BACK-${n}`)
    await expect.poll(async () => [...(await system.tasks()).keys()], PATIENT).toEqual(expected)
  })

  it('publishes no file of the project through a link, although its root is the project', async () => {
    const system = await systems.keep(
      System.start(edge, {
        'backlog.config.yml': '',
        '.env': 'TOKEN=hidden',
        'backlog/tasks/x': '',
      }),
    )
    symlinkSync('../../.env', system.path('backlog/tasks/back-1 - Env.md'))
    const task = await system.untilTask('BACK-1', ({ invalid }) => invalid !== undefined)
    expect(JSON.stringify(task)).not.toContain('hidden')
    expect(task.invalid).toMatch(/no link is followed/)
  })
})

describe('a Task Master board', () => {
  const tasks = (title: string) => ({ tasks: [{ id: 1, title, status: 'pending' }] })
  const FILE = '.taskmaster/tasks/tasks.json'

  it('publishes all tasks, also those of tags whose names do not fit into an id', async () => {
    const first = JSON.stringify({ master: tasks('before') })
    const system = await systems.keep(System.start(edge, { [FILE]: first }))
    const long = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`${'l'.repeat(1_100)}${n}`, tasks('long')]),
    )
    const odd = ['feat/x y?#%', 'line\nbreak', 'nul\0', '__proto__x', 'half \ud800', '../..']
    const others = Object.fromEntries(odd.map((name) => [name, tasks('odd')]))
    await system.write(FILE, JSON.stringify({ ...long, master: tasks('after'), ...others }))
    await system.untilTask('master:1', ({ title }) => title === 'after')
    const listed = await system.tasks()
    expect(listed.size).toBe(20 + 1 + odd.length)
    for (const id of listed.keys()) expect((await system.task(id))?.id).toBe(id)
    const { config } = await system.repo.json<{ config: { invalid: string } }>('/status')
    expect(config.invalid).toMatch(/has a name that no id can hold whole/)
    // The sync, too, must be able to name all of them.
    await system.killSidecar()
    await system.startSidecar()
    expect(await system.log()).not.toMatch(/refused|edge\.failed/)
  })

  it('lists an id that occurs 1,000 times, and a task that is nested too deeply', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({ id: 1, title: `${n}` }))
    const text = JSON.stringify({ master: { tasks: many } })
    const deep = `"id":2,"x":${'['.repeat(9_000)}${']'.repeat(9_000)}`
    const system = await systems.keep(
      System.start(edge, { [FILE]: text.replace('"id":1,"title":"7"', deep) }),
    )
    const listed = await system.tasks()
    expect(listed.size).toBe(1_000)
    expect(listed.get('master:2')?.invalid).toMatch(/nested too deeply/)
    expect(listed.get('master:1~2')?.invalid).toMatch(/an earlier entry of this file/)
  })

  it('keeps its tasks while the file is broken, reports it, and reads the next valid file', async () => {
    const first = JSON.stringify({ master: tasks('before') })
    const system = await systems.keep(System.start(edge, { [FILE]: first }))
    await system.write(FILE, first.slice(0, 40))
    const invalid = async () =>
      (await system.repo.json<{ config: { invalid?: string } }>('/status')).config.invalid
    await expect.poll(invalid, PATIENT).toMatch(/not valid JSON; its tasks stay/)
    expect(await system.task('master:1')).toMatchObject({ title: 'before' })
    await system.write(FILE, JSON.stringify({ master: tasks('after') }))
    await system.untilTask('master:1', ({ title }) => title === 'after')
    expect(await invalid()).toBeUndefined()
  })
})

it('an invalid configuration neither closes nor opens a task', async () => {
  const closed = '---\ntitle: done\nstatus: done\n---\n'
  const system = await systems.keep(System.cairn(edge, { DONE: closed, GOOD: taskText('good') }))
  await system.write('.cairn/config.yaml', 'states: [\n')
  const invalid = async () =>
    (await system.repo.json<{ config: { invalid?: string } }>('/status')).config.invalid
  await expect.poll(invalid, PATIENT).toMatch(/not valid YAML/)
  expect((await system.task('DONE'))?.ready).toBe(false)
  await stillWorks(system)
  await system.write('.cairn/config.yaml', CONFIG)
  await expect.poll(invalid, PATIENT).toBeUndefined()
})
