// The contract of watchers, on real files. A watcher only hints: its hints and the scans after its
// gaps together must find every changed file, and no other.

import { closeSync, openSync, writeSync } from 'node:fs'
import { appendFile, rename, rm, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Watch } from '../../sidecar/watch/watch.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { PATIENT } from '../support/patience.ts'
import { BoardFolder, openBoard, run } from './board-folder.ts'
import { folderContract } from './watch-folders.ts'

/** A program that watches, waits for one hint and closes. Then nothing may keep it running. */
const WATCH_AND_CLOSE = `
  const [module, name, root] = process.argv.slice(1)
  const watch = (await import(module))[name]
  let heard
  const hint = new Promise((resolve) => { heard = resolve })
  const classify = (path) => path.endsWith('.md') ? 'task' : undefined
  const store = { root, folders: () => [root], classify }
  const fail = (why) => { throw new Error(why) }
  const after = (ms, call) => { const t = setTimeout(call, ms); return () => clearTimeout(t) }
  const patience = { clock: { after }, withinMs: 60_000 }
  const watcher = await watch(store, { onHint: heard, onGap: fail, onFailed: fail }, patience)
  process.getBuiltinModule('fs').writeFileSync(root + '/T-1.md', 'x')
  await hint
  await watcher.close()
  console.log('closed')`

/** `watch`: what the module at `url` exports under `watch.name`. */
export function watchContract(name: string, watch: Watch, url: URL): void {
  folderContract(name, watch)

  describe.concurrent(`watch by ${name}`, () => {
    it('hints at a save with a temporary file and a rename', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await folder.save(folder.task('T-1'), 'after')
      await vi.waitFor(
        () => expect(listener.hinted).toEqual(new Set([folder.task('T-1')])),
        PATIENT,
      )
    })

    it('hints at a write in place', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await writeFile(folder.task('T-1'), 'after, in place')
      await vi.waitFor(
        () => expect(listener.hinted).toEqual(new Set([folder.task('T-1')])),
        PATIENT,
      )
    })

    it('hints at a new file', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await folder.save(folder.task('T-9'), 'new')
      await vi.waitFor(
        () => expect(listener.hinted).toEqual(new Set([folder.task('T-9')])),
        PATIENT,
      )
    })

    it('hints at a save by vim, which renames the old file first', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      const path = folder.task('T-1')
      await rename(path, `${path}~`)
      await writeFile(path, 'after, by vim')
      await unlink(`${path}~`)
      await listener.settles([path])
    })

    it('hints at both names of a rename', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await rename(folder.task('T-1'), folder.task('T-8'))
      await listener.settles([folder.task('T-1'), folder.task('T-8')])
    })

    it('hints at a removal', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await unlink(folder.task('T-1'))
      await listener.settles([folder.task('T-1')])
    })

    it('hints at a file that was replaced and removed at once', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await folder.save(folder.task('T-1'), 'after')
      await unlink(folder.task('T-1'))
      await listener.settles([folder.task('T-1')])
    })

    it('hints again at a file when the second half is written', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await writeFile(folder.task('T-1'), 'first half, ')
      await vi.waitFor(() => expect(listener.hinted).toContain(folder.task('T-1')), PATIENT)
      listener.forget()
      await sleep(30)
      await appendFile(folder.task('T-1'), 'second half')
      await vi.waitFor(() => expect(listener.hinted).toContain(folder.task('T-1')), PATIENT)
    })

    it('hints at no other file when a file is touched without a change', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await utimes(folder.task('T-1'), new Date(), new Date())
      await folder.save(folder.task('T-2'), 'after')
      await vi.waitFor(() => expect(listener.known).toContain(folder.task('T-2')), PATIENT)
      expect([...listener.known].filter((path) => path !== folder.task('T-1'))).toEqual([
        folder.task('T-2'),
      ])
    })

    it('hints while a file is saved every 50 ms', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      let rounds = 0
      for (let i = 0; rounds < 5; i++) {
        await folder.save(folder.task('T-1'), `save ${i}`)
        await sleep(50)
        if (!listener.hinted.has(folder.task('T-1'))) continue
        rounds += 1
        listener.forget()
      }
      await folder.save(folder.task('T-2'), 'after')
      await vi.waitFor(() => expect(listener.known).toContain(folder.task('T-2')), PATIENT)
    })

    it('hints while a lock file is created and removed all the time', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      const lock = join(folder.root, 'write.lock')
      for (let i = 0; i < 300; i++) {
        await writeFile(lock, `${i}`)
        await unlink(lock)
        if (i === 150) await folder.save(folder.task('T-1'), 'after')
      }
      await listener.settles([folder.task('T-1')])
    })

    it('reports nothing after it was closed', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await listener.close()
      await folder.save(folder.task('T-1'), 'after')
      await rm(folder.root, { recursive: true })
      await sleep(1_500)
      expect([...listener.known, ...listener.gaps]).toEqual([])
    })

    it('does not keep the process running after it was closed', async () => {
      const folder = await BoardFolder.make(2)
      const args = ['--input-type=module', '-e', WATCH_AND_CLOSE, url.href, watch.name, folder.root]
      const { stdout } = await run(process.execPath, args)
      expect(stdout).toBe('closed\n')
    })
  })

  // Alone, since nothing else of this process has a turn meanwhile.
  describe(`a flood of events by ${name}`, () => {
    it('ends the watcher, which says so once', async (test) => {
      const folder = await BoardFolder.make(2)
      const path = folder.task('T-1')
      const file = openSync(path, 'a')
      test.onTestFinished(() => closeSync(file))
      let hints = 0
      const events = {
        // The next event is there before this one is over.
        onHint: () => hints++ < 100_000 && writeSync(file, '.'),
        onGap: () => undefined,
        onFailed: vi.fn(),
      }
      const watcher = await watch(folder.store, events, { clock: hostClock, withinMs: 60_000 })
      test.onTestFinished(() => watcher.close())
      writeSync(file, '.')
      await vi.waitFor(() => expect(events.onFailed).toHaveBeenCalled(), PATIENT)
      const before = hints
      await folder.save(path, 'last')
      await sleep(500)
      expect(events.onFailed.mock.calls).toEqual([['its events come faster than they can be read']])
      expect(hints).toBe(before)
    })
  })
}
