// What watchers do when many files change, and when folders are removed, replaced or created.

import { spawnSync } from 'node:child_process'
import { renameSync, unlinkSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { Watch } from '../../sidecar/watch/watch.ts'
import { PATIENT } from '../support/patience.ts'
import { BoardBed, Listener, openBoard, run } from './board-bed.ts'

/** A program that replaces every file of a folder by rename. */
const REPLACE_ALL = `
  const fs = require('node:fs')
  const dir = process.argv[1]
  for (const name of fs.readdirSync(dir)) {
    fs.writeFileSync(dir + '/.tmp-' + name, 'after')
    fs.renameSync(dir + '/.tmp-' + name, dir + '/' + name)
  }`

export function folderContract(name: string, watch: Watch): void {
  describe.concurrent(`watch folders by ${name}`, () => {
    it('finds every path that git checkout changes between two branches', async (test) => {
      const bed = await BoardBed.make(test, 40)
      await bed.git('init', '--quiet', '--initial-branch=main')
      await bed.git('add', '.')
      await bed.git('commit', '--quiet', '-m', 'main')
      await bed.git('checkout', '--quiet', '-b', 'other')
      const changed = [1, 2, 3].map((n) => bed.task(`T-${n}`))
      const removed = [4, 5].map((n) => bed.task(`T-${n}`))
      const added = [91, 92].map((n) => bed.task(`T-${n}`))
      for (const path of changed) await writeFile(path, 'on the other branch')
      for (const path of removed) await unlink(path)
      for (const path of added) await writeFile(path, 'only on the other branch')
      await bed.git('add', '--all', '.')
      await bed.git('commit', '--quiet', '-m', 'other')
      const listener = await Listener.start(test, bed, watch)
      for (const branch of ['main', 'other']) {
        listener.forget()
        await bed.git('checkout', '--quiet', branch)
        await listener.settles([...changed, ...removed, ...added])
      }
    })

    it('finds every path when git checkout removes the board and creates it again', async (test) => {
      const bed = await BoardBed.make(test, 5)
      const paths = (await readdir(bed.tasks)).map((file) => join(bed.tasks, file))
      await writeFile(join(bed.home, 'readme'), 'x')
      await bed.git('init', '--quiet', '--initial-branch=empty')
      await bed.git('add', 'readme')
      await bed.git('commit', '--quiet', '-m', 'empty')
      await bed.git('checkout', '--quiet', '-b', 'board')
      await bed.git('add', '.')
      await bed.git('commit', '--quiet', '-m', 'board')
      const listener = await Listener.start(test, bed, watch)
      await bed.git('checkout', '--quiet', 'empty')
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
      listener.forget()
      await bed.git('checkout', '--quiet', 'board')
      await listener.settles([bed.store.configFile, ...paths])
    })

    it('finds all of 5,000 files that another process replaces', async (test) => {
      const { bed, listener } = await openBoard(test, watch, 5_000)
      await run(process.execPath, ['-e', REPLACE_ALL, bed.tasks])
      await vi.waitFor(() => expect(listener.known.size).toBe(5_000), {
        timeout: 90_000,
        interval: 100,
      })
    })

    it('hints at enough of 6,000 files, replaced while this process is busy, to cause a scan', async (test) => {
      const { bed, listener } = await openBoard(test, watch, 6_000)
      // This process does not read the system's queue meanwhile: it overflows, and hints are lost.
      spawnSync(process.execPath, ['-e', REPLACE_ALL, bed.tasks])
      await vi.waitFor(() => expect(listener.known.size).toBe(6_000), {
        timeout: 90_000,
        interval: 100,
      })
    })

    it('hints at a save in a folder that was replaced while the queue of the system was full', async (test) => {
      const { bed, listener } = await openBoard(test, watch, 6_000)
      const other = join(bed.home, 'other')
      await mkdir(other)
      const replace = `require('node:fs').renameSync(dir, dir + '-old')
        require('node:fs').renameSync(process.argv[2], dir)`
      spawnSync(process.execPath, ['-e', `${REPLACE_ALL};${replace}`, bed.tasks, other])
      await vi.waitFor(() => expect(listener.reports.at(-1)?.files).toBe(1), PATIENT)
      await listener.hintsSoon(bed, 'after')
    })

    it('hints at a save in a folder that was removed and created again', async (test) => {
      const { bed, listener } = await openBoard(test, watch)
      for (const round of [1, 2, 3]) {
        listener.forget()
        await rm(bed.tasks, { recursive: true })
        await mkdir(bed.tasks)
        await vi.waitFor(
          () => expect([...listener.gaps, ...listener.hinted]).not.toEqual([]),
          PATIENT,
        )
        await listener.hintsSoon(bed, `round ${round}`)
      }
    })

    it('hints at a save in a folder that was replaced by rename', async (test) => {
      const { bed, listener } = await openBoard(test, watch)
      const other = join(bed.home, 'other')
      await mkdir(other)
      await writeFile(join(other, 'T-7.md'), 'new')
      await rename(bed.tasks, join(bed.home, 'away'))
      await rename(other, bed.tasks)
      await vi.waitFor(() => expect(listener.known).toContain(bed.task('T-7')), PATIENT)
      await listener.hintsSoon(bed, 'after')
    })

    it('hints at a save in a folder that replaces a link', async (test) => {
      const { bed, listener } = await openBoard(test, watch)
      const away = join(bed.home, 'away')
      for (const round of [1, 2]) {
        listener.forget()
        await rename(bed.tasks, away)
        await symlink(tmpdir(), bed.tasks)
        await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
        unlinkSync(bed.tasks)
        renameSync(away, bed.tasks)
        await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
        await listener.hintsSoon(bed, `round ${round}`)
      }
    })

    it('hints at a save in a folder that replaces a link that was there at the start', async (test) => {
      const bed = await BoardBed.make(test, 1)
      const away = join(bed.home, 'away')
      await rename(bed.tasks, away)
      await symlink(tmpdir(), bed.tasks)
      const listener = await Listener.start(test, bed, watch)
      unlinkSync(bed.tasks)
      renameSync(away, bed.tasks)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
      await listener.hintsSoon(bed, 'after')
    })

    it('reports a gap when a link replaces the folder above the store, and one when that is back', async (test) => {
      const { bed, listener } = await openBoard(test, watch)
      const away = `${bed.home}-away`
      renameSync(bed.home, away)
      await symlink(away, bed.home)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
      unlinkSync(bed.home)
      renameSync(away, bed.home)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
      await listener.hintsSoon(bed, 'after')
    })

    it('hints at a save in a store that appeared after the start', async (test) => {
      const bed = await BoardBed.make(test)
      const listener = await Listener.start(test, bed, watch)
      const paths = await bed.fill(3)
      await listener.settles([bed.store.configFile, ...paths])
      await listener.hintsSoon(bed, 'after')
    })

    it('hints at a save in a folder that appeared after the start', async (test) => {
      const bed = await BoardBed.make(test)
      await mkdir(bed.root)
      const listener = await Listener.start(test, bed, watch)
      await mkdir(bed.tasks)
      await writeFile(bed.task('T-1'), 'new')
      await listener.settles([bed.task('T-1')])
      await listener.hintsSoon(bed, 'after')
    })

    it('hints at a save in a folder that the layout names after the start', async (test) => {
      const bed = await BoardBed.make(test)
      await mkdir(bed.root)
      const named = [bed.root]
      Object.assign(bed.store, { folders: () => named })
      const listener = await Listener.start(test, bed, watch)
      named.push(bed.tasks)
      await mkdir(bed.tasks)
      await writeFile(bed.task('T-1'), 'new')
      await listener.settles([bed.task('T-1')])
      await listener.hintsSoon(bed, 'after')
    })

    it('reports a gap when the store is removed, and no scan reports its files as removed', async (test) => {
      const { bed, listener } = await openBoard(test, watch)
      await rename(bed.root, join(bed.home, 'away'))
      await vi.waitFor(() => expect(listener.gaps).not.toEqual([]), PATIENT)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
      expect(listener.reports.flatMap((report) => report.gone)).toEqual([])
      expect(await readdir(bed.home)).toEqual(['away'])
      await rename(join(bed.home, 'away'), bed.root)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
      await listener.hintsSoon(bed, 'after')
    })
  })
}
