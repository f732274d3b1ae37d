// What every watcher must do, on real files. A watcher only hints, so what counts is what its hints
// and the scans that its gaps ask for know together: nothing that changed may be missing there, and
// what did not change must not be named.

import { spawnSync } from 'node:child_process'
import { renameSync, unlinkSync } from 'node:fs'
import {
  appendFile,
  mkdir,
  readdir,
  rename,
  rm,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, type TestContext, vi } from 'vitest'
import type { Watch } from '../../sidecar/watch/watch.ts'
import { PATIENT } from '../support/patience.ts'
import { BoardBed, Listener, run } from './board-bed.ts'

/** Replaces every file of a folder by temp and rename, from a process of its own. */
const REPLACE_ALL = `
  const fs = require('node:fs')
  const dir = process.argv[1]
  for (const name of fs.readdirSync(dir)) {
    fs.writeFileSync(dir + '/.tmp-' + name, 'after')
    fs.renameSync(dir + '/.tmp-' + name, dir + '/' + name)
  }`

/** Watches, hears of one save, closes: then nothing may keep the process. */
const WATCH_AND_CLOSE = `
  const [module, name, root] = process.argv.slice(1)
  const watch = (await import(module))[name]
  let heard
  const hint = new Promise((resolve) => { heard = resolve })
  const store = { root, folders: () => [root], classify: (path) => path.endsWith('.md') ? 'task' : undefined }
  const fail = (why) => { throw new Error(why) }
  const watcher = await watch(store, { onHint: heard, onGap: fail, onFailed: fail })
  process.getBuiltinModule('fs').writeFileSync(root + '/T-1.md', 'x')
  await hint
  await watcher.close()
  console.log('closed')`

/** `watch` is what the module at `url` exports under \`watch.name\`. */
export function watchContract(name: string, watch: Watch, url: URL): void {
  async function bedOf(test: TestContext, tasks: number): Promise<BoardBed> {
    const bed = await BoardBed.make()
    test.onTestFinished(() => bed.remove())
    if (tasks > 0) await bed.fill(tasks)
    return bed
  }

  async function listen(test: TestContext, bed: BoardBed): Promise<Listener> {
    const listener = await Listener.start(bed, watch)
    test.onTestFinished(() => listener.close())
    return listener
  }

  async function board(test: TestContext, tasks = 5): Promise<{ bed: BoardBed; told: Listener }> {
    const bed = await bedOf(test, tasks)
    return { bed, told: await listen(test, bed) }
  }

  /** Waits until exactly these paths are known. */
  const settles = (told: Listener, paths: readonly string[]) =>
    vi.waitFor(() => expect(told.known).toEqual(new Set(paths)), PATIENT)

  describe.concurrent(`watch by ${name}`, () => {
    it('hints at a save by temp and rename', async (test) => {
      const { bed, told } = await board(test)
      await bed.save(bed.task('T-1'), 'after')
      await vi.waitFor(() => expect(told.hinted).toEqual(new Set([bed.task('T-1')])), PATIENT)
    })

    it('hints at a write in place', async (test) => {
      const { bed, told } = await board(test)
      await writeFile(bed.task('T-1'), 'after, in place')
      await vi.waitFor(() => expect(told.hinted).toEqual(new Set([bed.task('T-1')])), PATIENT)
    })

    it('hints at a new file', async (test) => {
      const { bed, told } = await board(test)
      await bed.save(bed.task('T-9'), 'new')
      await vi.waitFor(() => expect(told.hinted).toEqual(new Set([bed.task('T-9')])), PATIENT)
    })

    it("hints at a save by vim's backup dance", async (test) => {
      const { bed, told } = await board(test)
      const path = bed.task('T-1')
      await rename(path, `${path}~`)
      await writeFile(path, 'after, by vim')
      await unlink(`${path}~`)
      await settles(told, [path])
    })

    it('hints at both names of a rename', async (test) => {
      const { bed, told } = await board(test)
      await rename(bed.task('T-1'), bed.task('T-8'))
      await settles(told, [bed.task('T-1'), bed.task('T-8')])
    })

    it('hints at a removal', async (test) => {
      const { bed, told } = await board(test)
      await unlink(bed.task('T-1'))
      await settles(told, [bed.task('T-1')])
    })

    it('hints at a file that was replaced and removed at once', async (test) => {
      const { bed, told } = await board(test)
      await bed.save(bed.task('T-1'), 'after')
      await unlink(bed.task('T-1'))
      await settles(told, [bed.task('T-1')])
    })

    it('hints at a file that was caught half-written again when it is whole', async (test) => {
      const { bed, told } = await board(test)
      await writeFile(bed.task('T-1'), 'first half, ')
      await vi.waitFor(() => expect(told.hinted).toContain(bed.task('T-1')), PATIENT)
      told.forget()
      await sleep(30)
      await appendFile(bed.task('T-1'), 'second half')
      await vi.waitFor(() => expect(told.hinted).toContain(bed.task('T-1')), PATIENT)
    })

    it('hints at nothing else when a file is touched without a change', async (test) => {
      const { bed, told } = await board(test)
      await utimes(bed.task('T-1'), new Date(), new Date())
      await bed.save(bed.task('T-2'), 'after')
      await vi.waitFor(() => expect(told.known).toContain(bed.task('T-2')), PATIENT)
      expect([...told.known].filter((path) => path !== bed.task('T-1'))).toEqual([bed.task('T-2')])
    })

    it('knows every path that git checkout changed between two branches', async (test) => {
      const bed = await bedOf(test, 40)
      await bed.git('init', '--quiet', '--initial-branch=main')
      await bed.git('add', '.')
      await bed.git('commit', '--quiet', '-m', 'main')
      await bed.git('checkout', '--quiet', '-b', 'other')
      const changed = [1, 2, 3].map((n) => bed.task(`T-${n}`))
      const gone = [4, 5].map((n) => bed.task(`T-${n}`))
      const made = [91, 92].map((n) => bed.task(`T-${n}`))
      for (const path of changed) await writeFile(path, 'on the other branch')
      for (const path of gone) await unlink(path)
      for (const path of made) await writeFile(path, 'only on the other branch')
      await bed.git('add', '--all', '.')
      await bed.git('commit', '--quiet', '-m', 'other')
      const told = await listen(test, bed)
      for (const branch of ['main', 'other']) {
        told.forget()
        await bed.git('checkout', '--quiet', branch)
        await settles(told, [...changed, ...gone, ...made])
      }
    })

    it('knows every path when git checkout removes the board and brings it back', async (test) => {
      const bed = await bedOf(test, 5)
      const paths = (await readdir(bed.tasks)).map((file) => join(bed.tasks, file))
      await writeFile(join(bed.home, 'readme'), 'x')
      await bed.git('init', '--quiet', '--initial-branch=empty')
      await bed.git('add', 'readme')
      await bed.git('commit', '--quiet', '-m', 'empty')
      await bed.git('checkout', '--quiet', '-b', 'board')
      await bed.git('add', '.')
      await bed.git('commit', '--quiet', '-m', 'board')
      const told = await listen(test, bed)
      await bed.git('checkout', '--quiet', 'empty')
      await vi.waitFor(() => expect(told.reports.at(-1)?.state).toBe('missing'), PATIENT)
      told.forget()
      await bed.git('checkout', '--quiet', 'board')
      await settles(told, [bed.store.configFile, ...paths])
    })

    it('knows all of 5,000 files that another process replaced', async (test) => {
      const { bed, told } = await board(test, 5_000)
      await run(process.execPath, ['-e', REPLACE_ALL, bed.tasks])
      await vi.waitFor(() => expect(told.known.size).toBe(5_000), {
        timeout: 90_000,
        interval: 100,
      })
    })

    it('hints at enough of 6,000 files, replaced while this process was busy, to be scanned for the rest', async (test) => {
      const { bed, told } = await board(test, 6_000)
      // Nobody empties the system's queue meanwhile, so it overflows: some hints are lost for good.
      spawnSync(process.execPath, ['-e', REPLACE_ALL, bed.tasks])
      await vi.waitFor(() => expect(told.known.size).toBe(6_000), {
        timeout: 90_000,
        interval: 100,
      })
    })

    it('hints at a save in a folder that was removed and made again', async (test) => {
      const { bed, told } = await board(test)
      for (const round of [1, 2, 3]) {
        told.forget()
        await rm(bed.tasks, { recursive: true })
        await mkdir(bed.tasks)
        await vi.waitFor(() => expect([...told.gaps, ...told.hinted]).not.toEqual([]), PATIENT)
        await hintsSoon(bed, told, `round ${round}`)
      }
    })

    it('hints at a save in a folder that was replaced by rename', async (test) => {
      const { bed, told } = await board(test)
      const other = join(bed.home, 'other')
      await mkdir(other)
      await writeFile(join(other, 'T-7.md'), 'new')
      await rename(bed.tasks, join(bed.home, 'away'))
      await rename(other, bed.tasks)
      await vi.waitFor(() => expect(told.known).toContain(bed.task('T-7')), PATIENT)
      await hintsSoon(bed, told, 'after')
    })

    it('hints at a save in a folder in whose place a link had stood', async (test) => {
      const { bed, told } = await board(test)
      const away = join(bed.home, 'away')
      for (const round of [1, 2]) {
        told.forget()
        await rename(bed.tasks, away)
        await symlink(tmpdir(), bed.tasks)
        await vi.waitFor(() => expect(told.reports.at(-1)?.state).toBe('unreadable'), PATIENT)
        unlinkSync(bed.tasks)
        renameSync(away, bed.tasks)
        await vi.waitFor(() => expect(told.reports.at(-1)?.state).toBe('present'), PATIENT)
        await hintsSoon(bed, told, `round ${round}`)
      }
    })

    it('hints at a save in a folder in whose place a link stood at the start', async (test) => {
      const bed = await bedOf(test, 1)
      const away = join(bed.home, 'away')
      await rename(bed.tasks, away)
      await symlink(tmpdir(), bed.tasks)
      const told = await listen(test, bed)
      unlinkSync(bed.tasks)
      renameSync(away, bed.tasks)
      await vi.waitFor(() => expect(told.reports.at(-1)?.state).toBe('present'), PATIENT)
      await hintsSoon(bed, told, 'after')
    })

    it('hints at a save in a store that appeared after the start', async (test) => {
      const bed = await bedOf(test, 0)
      const told = await listen(test, bed)
      const paths = await bed.fill(3)
      await settles(told, [bed.store.configFile, ...paths])
      await hintsSoon(bed, told, 'after')
    })

    it('hints at a save in a folder that appeared after the start', async (test) => {
      const bed = await bedOf(test, 0)
      await mkdir(bed.root)
      const told = await listen(test, bed)
      await mkdir(bed.tasks)
      await writeFile(bed.task('T-1'), 'new')
      await settles(told, [bed.task('T-1')])
      await hintsSoon(bed, told, 'after')
    })

    it('tells of a gap when the store vanishes, and no scan calls its files gone', async (test) => {
      const { bed, told } = await board(test)
      await rename(bed.root, join(bed.home, 'away'))
      await vi.waitFor(() => expect(told.gaps).not.toEqual([]), PATIENT)
      await vi.waitFor(() => expect(told.reports.at(-1)?.state).toBe('missing'), PATIENT)
      expect(told.reports.flatMap((report) => report.gone)).toEqual([])
      expect(await readdir(bed.home)).toEqual(['away'])
      await rename(join(bed.home, 'away'), bed.root)
      await vi.waitFor(() => expect(told.reports.at(-1)?.state).toBe('present'), PATIENT)
      await hintsSoon(bed, told, 'after')
    })

    it('goes on hinting under a writer that saves every 50 ms', async (test) => {
      const { bed, told } = await board(test)
      let rounds = 0
      for (let i = 0; rounds < 5; i++) {
        await bed.save(bed.task('T-1'), `save ${i}`)
        await sleep(50)
        if (!told.hinted.has(bed.task('T-1'))) continue
        rounds += 1
        told.forget()
      }
      await bed.save(bed.task('T-2'), 'after')
      await vi.waitFor(() => expect(told.known).toContain(bed.task('T-2')), PATIENT)
    })

    it('is not starved by the churn of a lock file', async (test) => {
      const { bed, told } = await board(test)
      const lock = join(bed.root, 'write.lock')
      for (let i = 0; i < 300; i++) {
        await writeFile(lock, `${i}`)
        await unlink(lock)
        if (i === 150) await bed.save(bed.task('T-1'), 'after')
      }
      await settles(told, [bed.task('T-1')])
    })

    it('says nothing after it was closed', async (test) => {
      const { bed, told } = await board(test)
      await told.close()
      await bed.save(bed.task('T-1'), 'after')
      await rm(bed.root, { recursive: true })
      await sleep(1_500)
      expect([...told.known, ...told.gaps]).toEqual([])
    })

    it('leaves no handle that keeps the process after it was closed', async (test) => {
      const bed = await bedOf(test, 2)
      const args = ['--input-type=module', '-e', WATCH_AND_CLOSE, url.href, watch.name, bed.root]
      const { stdout } = await run(process.execPath, args)
      expect(stdout).toBe('closed\n')
    })
  })

  /** Saves until one save is hinted: what is made right after a gap may be the scan's to find. */
  async function hintsSoon(bed: BoardBed, told: Listener, text: string): Promise<void> {
    let saves = 0
    told.forget()
    await vi.waitFor(
      async () => {
        if (!told.hinted.has(bed.task('T-0'))) await bed.save(bed.task('T-0'), `${text} ${saves++}`)
        expect(told.hinted).toContain(bed.task('T-0'))
      },
      { ...PATIENT, interval: 1_500 },
    )
  }
}
