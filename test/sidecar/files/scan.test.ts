import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { chmod, lstat, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type SeenStat, seen } from '../../../sidecar/files/file-stat.ts'
import { FileTable } from '../../../sidecar/files/file-table.ts'
import { intervalMs, scan } from '../../../sidecar/files/scan.ts'
import type { Store } from '../../../sidecar/layouts/layout.ts'
import { ReadingScan } from '../../support/reading-scan.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let home: string
let root: string
let tasks: string

beforeEach(async () => {
  home = tempFolder()
  root = join(home, 'board')
  tasks = join(root, 'tasks')
  await mkdir(tasks, { recursive: true })
  await writeFile(join(root, 'config.yaml'), 'prefix: T\n')
  for (const id of ['T-1', 'T-2', 'T-3']) await old(task(id), id)
})

const task = (id: string) => join(tasks, `${id}.md`)

/** Files of one size and one time of writing: only the inode tells one from another. */
async function old(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  await utimes(path, 1_000_000_000, 1_000_000_000)
}

/** A file as whoever looked at it at `now` saw it. */
const seenAt = async (path: string, now: number): Promise<SeenStat> => seen(await lstat(path), now)

function store(over: Partial<Store> = {}): Store {
  return {
    layout: 'cairn',
    root,
    within: '',
    folders: () => [root, tasks],
    tasksIn: tasks,
    configFile: join(root, 'config.yaml'),
    classify: (path) => {
      if (path === join(root, 'config.yaml')) return 'board'
      return path.endsWith('.md') && !basename(path).startsWith('.') ? 'task' : undefined
    },
    parse: () => ({ state: 'ok', entries: [] }),
    unreadable: () => [],
    fold: (id) => id,
    ...over,
  }
}

/** A minute from now: by then nothing that a test wrote is young. */
const later = () => Date.now() + 60_000

/** A scan that knows the files as they are, looked at long after they were written. */
async function settled(over: Partial<Store> = {}): Promise<ReadingScan> {
  const scan = new ReadingScan(store(over))
  await scan.run(later())
  return scan
}

describe('Scan', () => {
  it('reports every file of the layout at first, and no other', async () => {
    await writeFile(join(tasks, '.tmp-1.md'), 'x')
    await writeFile(join(tasks, 'write.lock'), 'x')
    await mkdir(join(tasks, 'folder.md'))
    const report = await new ReadingScan(store()).run(later())
    expect(report.state).toBe('present')
    expect(report.files).toBe(5)
    expect(new Set(report.changed)).toEqual(
      new Set([
        join(root, 'config.yaml'),
        task('T-1'),
        task('T-2'),
        task('T-3'),
        // Reading it says what it is: else it were listed by a hint, and not after a restart.
        join(tasks, 'folder.md'),
      ]),
    )
  })

  it('finds the config file where no watched folder holds it', async () => {
    const report = await new ReadingScan(store({ folders: () => [tasks] })).run(later())
    expect(report.changed).toContain(join(root, 'config.yaml'))
  })

  it('asks for the folders at every scan, and looks for the files of one that is named no longer', async () => {
    let folders = [root, tasks]
    const scan = await settled({ folders: () => folders })
    folders = [root]
    expect(await scan.run(later())).toMatchObject({ changed: [], gone: [] })
    await rm(task('T-1'))
    expect(await scan.run(later())).toMatchObject({ changed: [], gone: [task('T-1')] })
    folders = [root, tasks]
    await writeFile(task('T-8'), 'new')
    expect(await scan.run(later())).toMatchObject({ changed: [task('T-8')], gone: [] })
  })

  it('reports nothing when nothing changed', async () => {
    const scan = await settled()
    const report = await scan.run(later())
    expect(report).toMatchObject({
      state: 'present',
      changed: [],
      gone: [],
      suspects: [],
      files: 4,
    })
  })

  it('reports what it found until it was read', async () => {
    const table = new FileTable()
    const report = () => scan(store(), table)
    expect((await report()).changed).toHaveLength(4)
    expect((await report()).changed).toHaveLength(4)
    const stat = await seenAt(task('T-1'), later())
    table.put(task('T-1'), { hash: 'read', facts: [], stat })
    expect((await report()).changed).not.toContain(task('T-1'))
    table.distrust(task('T-1'))
    expect((await report()).changed).toContain(task('T-1'))
    await rm(task('T-1'))
    expect((await report()).gone).toEqual([task('T-1')])
    expect((await report()).gone).toEqual([task('T-1')])
  })

  it('reports what is new, what differs and what is gone, once', async () => {
    const scan = await settled()
    await writeFile(task('T-1'), 'longer than before')
    await writeFile(task('T-4'), 'new')
    await rm(task('T-2'))
    const report = await scan.run(later())
    expect(new Set(report.changed)).toEqual(new Set([task('T-1'), task('T-4')]))
    expect(report.gone).toEqual([task('T-2')])
    expect(await scan.run(later())).toMatchObject({ changed: [], gone: [], files: 4 })
  })

  it('sees a file replaced by another of the same size and time', async () => {
    const scan = await settled()
    await old(join(tasks, '.tmp-1'), 'T-9')
    await rename(join(tasks, '.tmp-1'), task('T-1'))
    expect((await scan.run(later())).changed).toEqual([task('T-1')])
  })

  it('suspects a file that was looked at right after its write, and not for ever', async () => {
    const scan = await settled()
    const { ctimeMs } = await lstat(task('T-1'))
    scan.read(task('T-1'), await seenAt(task('T-1'), ctimeMs + 1))
    expect(await scan.run(later())).toMatchObject({ changed: [], suspects: [task('T-1')] })
    expect(await scan.run(later())).toMatchObject({ changed: [], suspects: [] })
  })

  it('does not report what a cache or a hint already told of', async () => {
    const scan = new ReadingScan(store())
    for (const id of ['T-1', 'T-2']) scan.read(task(id), await seenAt(task(id), later()))
    for (const path of [task('T-3'), join(root, 'config.yaml')]) {
      scan.read(path, await seenAt(path, later()))
    }
    scan.read(task('T-8'), await seenAt(task('T-1'), later()))
    await rm(task('T-3'))
    scan.table.delete(task('T-3'))
    expect(await scan.run(later())).toMatchObject({
      changed: [],
      suspects: [],
      gone: [task('T-8')],
    })
  })

  it('calls a store without its root missing, and nothing of it gone', async () => {
    const scan = await settled()
    await rename(root, `${root}-away`)
    expect(await scan.run(later())).toMatchObject({ state: 'missing', changed: [], gone: [] })
    await rename(`${root}-away`, root)
    await rm(task('T-2'))
    expect(await scan.run(later())).toMatchObject({ state: 'present', gone: [task('T-2')] })
  })

  it('calls the files of a removed folder gone while the folder of all tasks stands', async () => {
    const scan = await settled({ tasksIn: root })
    await rm(tasks, { recursive: true })
    const report = await scan.run(later())
    expect(report.state).toBe('present')
    expect(new Set(report.gone)).toEqual(new Set([task('T-1'), task('T-2'), task('T-3')]))
  })

  it('calls a store missing whose tasks went away as a whole, and an empty folder empty', async () => {
    const scan = await settled()
    await rename(tasks, join(home, 'away'))
    const why = `${tasks} is missing`
    expect(await scan.run(later())).toMatchObject({ state: 'missing', why, changed: [], gone: [] })
    await rename(join(home, 'away'), tasks)
    expect(await scan.run(later())).toMatchObject({ state: 'present', changed: [], gone: [] })
    for (const id of ['T-1', 'T-2', 'T-3']) await rm(task(id))
    const report = await scan.run(later())
    expect([report.state, report.gone.length]).toEqual(['present', 3])
  })

  it('calls tasks gone, and not missing, that moved to another folder before theirs was removed', async () => {
    const completed = join(root, 'completed')
    const scan = await settled({ folders: () => [root, tasks, completed] })
    await rename(tasks, completed)
    const report = await scan.run(later())
    expect(report).toMatchObject({ state: 'present', files: 4 })
    expect([report.changed.length, report.gone.length]).toEqual([3, 3])
    await rm(join(completed, 'T-1.md'))
    await rename(completed, join(root, 'away'))
    expect((await scan.run(later())).state).toBe('bare')
  })

  it('calls a store bare that has no folder of tasks yet', async () => {
    await rm(tasks, { recursive: true })
    expect((await new ReadingScan(store()).run(later())).state).toBe('bare')
  })

  it.skipIf(process.getuid?.() === 0)(
    'calls nothing gone in a folder it may not read',
    async () => {
      const scan = await settled()
      await chmod(tasks, 0)
      const report = await scan.run(later())
      await chmod(tasks, 0o755)
      expect(report).toMatchObject({ state: 'unreadable', gone: [] })
      expect(report.why).toContain('EACCES')
    },
  )

  it('calls nothing gone where the system refuses to say, and still reports the rest', async () => {
    const refused = join(root, 'x'.repeat(300))
    const scan = await settled({ folders: () => [tasks, refused] })
    scan.read(join(refused, 'T-6.md'), await seenAt(task('T-1'), later()))
    await writeFile(task('T-1'), 'changed')
    const report = await scan.run(later())
    expect(report).toMatchObject({ state: 'unreadable', changed: [task('T-1')], gone: [] })
    expect(report.why).toContain('ENAMETOOLONG')
  })

  it('follows no link in place of a folder, and calls nothing behind it gone', async () => {
    const scan = await settled()
    await rename(tasks, join(home, 'elsewhere'))
    await symlink(join(home, 'elsewhere'), tasks)
    await writeFile(join(home, 'elsewhere', 'T-7.md'), 'x')
    const report = await scan.run(later())
    expect(report).toMatchObject({ state: 'missing', changed: [], gone: [] })
    expect(report.why).toContain('link')
  })

  it.each(['a pipe', 'a file'])(
    'passes over %s in place of a folder: the others are read, and what was known of it stands',
    async (what) => {
      const done = join(root, 'done')
      await mkdir(done)
      await old(join(done, 'T-8.md'), 'T-8')
      const folders = () => [root, tasks, done]
      const [fresh, known] = [new ReadingScan(store({ folders })), await settled({ folders })]
      await rm(done, { recursive: true })
      if (what === 'a pipe') execFileSync('mkfifo', [done])
      else await writeFile(done, 'no folder')
      await writeFile(task('T-1'), 'changed')
      const why = `${done} is not a folder`
      const both = { state: 'present', why, gone: [] }
      expect(await known.run(later())).toMatchObject({ ...both, changed: [task('T-1')] })
      const { changed, ...first } = await fresh.run(later())
      expect([changed.length, first]).toEqual([4, expect.objectContaining(both)])
    },
  )

  it('does so with the folder of all tasks, and is bare only if nothing was known of it', async () => {
    const known = await settled()
    await rm(tasks, { recursive: true })
    execFileSync('mkfifo', [tasks])
    expect(await known.run(later())).toMatchObject({ state: 'present', gone: [] })
    expect(await new ReadingScan(store()).run(later())).toMatchObject({ state: 'bare' })
  })

  it('says so when a link has replaced a folder above the store', async () => {
    const scan = await settled()
    await rename(home, `${home}-away`)
    await symlink(`${home}-away`, home)
    const report = await scan.run(later())
    await rm(home)
    await rename(`${home}-away`, home)
    expect(report).toMatchObject({ state: 'missing', changed: [], gone: [] })
    expect(report.why).toContain('link')
    expect(await scan.run(later())).toMatchObject({ state: 'present', changed: [], gone: [] })
  })

  it('stats a link itself, not what it points to', async () => {
    const scan = await settled()
    await writeFile(join(home, 'secret'), 'x')
    await symlink(join(home, 'secret'), task('T-5'))
    expect((await scan.run(later())).changed).toEqual([task('T-5')])
    await scan.run(later())
    await writeFile(join(home, 'secret'), 'changed')
    expect((await scan.run(later())).changed).toEqual([])
  })

  it('voids what it found when the root vanishes in the middle, and finds it again later', async () => {
    let vanish = false
    const scan = await settled({
      classify: (path) => {
        if (!path.endsWith('.md')) return undefined
        if (vanish) renameSync(root, `${root}-away`)
        vanish = false
        return 'task'
      },
    })
    await writeFile(task('T-1'), 'changed while the root is about to go')
    vanish = true
    expect(await scan.run(later())).toMatchObject({ state: 'missing', changed: [], gone: [] })
    await rename(`${root}-away`, root)
    expect((await scan.run(later())).changed).toContain(task('T-1'))
  })

  it('gives others their turn while it reads a large folder', async () => {
    for (let i = 0; i < 2_000; i++) writeFileSync(task(`L-${i}`), '')
    let turns = 0
    let scanning = true
    const count = () => {
      turns += 1
      if (scanning) setImmediate(count)
    }
    setImmediate(count)
    const report = await new ReadingScan(store()).run(later())
    scanning = false
    expect(report.files).toBe(2_004)
    expect(turns).toBeGreaterThan(1)
  })
})

describe('intervalMs', () => {
  it('is half a minute in a small store', () => {
    expect(intervalMs(0, true)).toBe(30_000)
    expect(intervalMs(60, true)).toBe(30_000)
  })

  it('spends at most 0.5 % of a core in a huge store', () => {
    expect(intervalMs(400, true)).toBe(80_000)
  })

  it('is a second without a watcher, and a fifth of a core in a huge or slow store', () => {
    expect(intervalMs(0, false)).toBe(1_000)
    expect(intervalMs(400, false)).toBe(2_000)
  })
})
