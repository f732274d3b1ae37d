// What watchers do when many files change, and when folders are removed, replaced or created.

import { spawnSync } from 'node:child_process'
import { renameSync, unlinkSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Watch } from '../../sidecar/watch/watch.ts'
import { PATIENT } from '../support/patience.ts'
import { BoardFolder, Listener, openBoard, run } from './board-folder.ts'

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
    it('watches copies in worktrees after the board itself, from a gap on', async (test) => {
      const folder = await BoardFolder.make(2)
      // One is within the board, as under `.worktrees`.
      const copies = [await BoardFolder.make(2), new BoardFolder(join(folder.root, 'copy'))]
      await copies[1]?.fill(2)
      const boards = [folder, ...copies]
      const store = {
        ...folder.store,
        roots: () => copies.map(({ root }) => root),
        folders: () => boards.flatMap((board) => board.store.folders()),
        classify: (path: string) => boards.flatMap((it) => it.store.classify(path) ?? [])[0],
      }
      const listener = await Listener.start(test, { store }, watch)
      await vi.waitFor(() => expect(listener.gaps).not.toEqual([]), PATIENT)
      listener.forget()
      const saved = boards.map((board) => board.task('T-1'))
      for (const path of saved) await folder.save(path, 'after')
      await vi.waitFor(() => expect(listener.hinted).toEqual(new Set(saved)), PATIENT)
      // What is opened again for one of them leaves the others as they are.
      for (const copy of copies) {
        await rename(copy.tasks, `${copy.tasks}-old`)
        await mkdir(copy.tasks)
        await copy.save(copy.task('T-1'), 'in a new folder')
        await listener.hintsSoon(copy, 'in a new folder')
      }
      await listener.hintsSoon(folder, 'in the board itself')
    })

    it('finds every path that git checkout changes between two branches', async (test) => {
      const folder = await BoardFolder.make(40)
      await folder.git('init', '--quiet', '--initial-branch=main')
      await folder.git('add', '.')
      await folder.git('commit', '--quiet', '-m', 'main')
      await folder.git('checkout', '--quiet', '-b', 'other')
      const changed = [1, 2, 3].map((n) => folder.task(`T-${n}`))
      const removed = [4, 5].map((n) => folder.task(`T-${n}`))
      const added = [91, 92].map((n) => folder.task(`T-${n}`))
      for (const path of changed) await writeFile(path, 'on the other branch')
      for (const path of removed) await unlink(path)
      for (const path of added) await writeFile(path, 'only on the other branch')
      await folder.git('add', '--all', '.')
      await folder.git('commit', '--quiet', '-m', 'other')
      const listener = await Listener.start(test, folder, watch)
      for (const branch of ['main', 'other']) {
        listener.forget()
        await folder.git('checkout', '--quiet', branch)
        await listener.settles([...changed, ...removed, ...added])
      }
    })

    it('finds every path when git checkout removes the board and creates it again', async (test) => {
      const folder = await BoardFolder.make(5)
      const paths = (await readdir(folder.tasks)).map((file) => join(folder.tasks, file))
      await writeFile(join(folder.home, 'readme'), 'x')
      await folder.git('init', '--quiet', '--initial-branch=empty')
      await folder.git('add', 'readme')
      await folder.git('commit', '--quiet', '-m', 'empty')
      await folder.git('checkout', '--quiet', '-b', 'board')
      await folder.git('add', '.')
      await folder.git('commit', '--quiet', '-m', 'board')
      const listener = await Listener.start(test, folder, watch)
      await folder.git('checkout', '--quiet', 'empty')
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
      listener.forget()
      await folder.git('checkout', '--quiet', 'board')
      await listener.settles([folder.store.configFile ?? '', ...paths])
    })

    it('finds all of 2,000 files that another process replaces', async (test) => {
      const { folder, listener } = await openBoard(test, watch, 2_000)
      await run(process.execPath, ['-e', REPLACE_ALL, folder.tasks])
      await vi.waitFor(() => expect(listener.known.size).toBe(2_000), {
        timeout: 90_000,
        interval: 100,
      })
    })

    it('hints at enough of 6,000 files, replaced while this process is busy, to cause a scan', async (test) => {
      const { folder, listener } = await openBoard(test, watch, 6_000)
      // This process does not read the system's queue meanwhile: it overflows, and hints are lost.
      expect(spawnSync(process.execPath, ['-e', REPLACE_ALL, folder.tasks]).status).toBe(0)
      await vi.waitFor(() => expect(listener.known.size).toBe(6_000), {
        timeout: 90_000,
        interval: 100,
      })
    })

    it('hints at a save in a folder that was replaced while the queue of the system was full', async (test) => {
      const { folder, listener } = await openBoard(test, watch, 6_000)
      const other = join(folder.home, 'other')
      await mkdir(other)
      const replace = `require('node:fs').renameSync(dir, dir + '-old')
        require('node:fs').renameSync(process.argv[2], dir)`
      spawnSync(process.execPath, ['-e', `${REPLACE_ALL};${replace}`, folder.tasks, other])
      await vi.waitFor(() => expect(listener.reports.at(-1)?.files).toBe(1), PATIENT)
      await listener.hintsSoon(folder, 'after')
    })

    it('hints at a save in a folder that was removed and created again', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      for (const round of [1, 2, 3]) {
        listener.forget()
        await rm(folder.tasks, { recursive: true })
        await mkdir(folder.tasks)
        await vi.waitFor(
          () => expect([...listener.gaps, ...listener.hinted]).not.toEqual([]),
          PATIENT,
        )
        await listener.hintsSoon(folder, `round ${round}`)
      }
    })

    it('hints at a save in a folder that was replaced by rename', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      const other = join(folder.home, 'other')
      await mkdir(other)
      await writeFile(join(other, 'T-7.md'), 'new')
      await rename(folder.tasks, join(folder.home, 'away'))
      await rename(other, folder.tasks)
      await vi.waitFor(() => expect(listener.known).toContain(folder.task('T-7')), PATIENT)
      await listener.hintsSoon(folder, 'after')
    })

    it('hints at a save in a folder that replaces a link', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      const away = join(folder.home, 'away')
      for (const round of [1, 2]) {
        listener.forget()
        await rename(folder.tasks, away)
        await symlink(tmpdir(), folder.tasks)
        await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
        unlinkSync(folder.tasks)
        renameSync(away, folder.tasks)
        await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
        await listener.hintsSoon(folder, `round ${round}`)
      }
    })

    it('hints at a save in a folder that replaces a link that was there at the start', async (test) => {
      const folder = await BoardFolder.make(1)
      const away = join(folder.home, 'away')
      await rename(folder.tasks, away)
      await symlink(tmpdir(), folder.tasks)
      const listener = await Listener.start(test, folder, watch)
      unlinkSync(folder.tasks)
      renameSync(away, folder.tasks)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
      await listener.hintsSoon(folder, 'after')
    })

    it('reports a gap when a link replaces the folder above the store, and one when that is back', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      const away = `${folder.home}-away`
      renameSync(folder.home, away)
      await symlink(away, folder.home)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
      unlinkSync(folder.home)
      renameSync(away, folder.home)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
      await listener.hintsSoon(folder, 'after')
    })

    it('hints at a save in a store that appeared after the start', async (test) => {
      const folder = await BoardFolder.make()
      const listener = await Listener.start(test, folder, watch)
      const paths = await folder.fill(3)
      await listener.settles([folder.store.configFile ?? '', ...paths])
      await listener.hintsSoon(folder, 'after')
    })

    it('hints at a save in a folder that appeared after the start', async (test) => {
      const folder = await BoardFolder.make()
      await mkdir(folder.root)
      const listener = await Listener.start(test, folder, watch)
      await mkdir(folder.tasks)
      await writeFile(folder.task('T-1'), 'new')
      await listener.settles([folder.task('T-1')])
      await listener.hintsSoon(folder, 'after')
    })

    it('starts, and hints at a save, when a folder appears while it starts', async (test) => {
      const round = async (afterMs: number) => {
        const folder = await BoardFolder.make()
        await mkdir(folder.root)
        const starting = Listener.start(test, folder, watch)
        await setTimeout(afterMs)
        await mkdir(folder.tasks)
        await writeFile(folder.task('T-1'), 'new')
        const listener = await starting
        await listener.hintsSoon(folder, 'after')
      }
      // The moment that matters is not known, so the rounds try many.
      await Promise.all(Array.from({ length: 150 }, (_, index) => round(index / 10)))
    })

    it('hints at a save in a folder that the layout names after the start', async (test) => {
      const folder = await BoardFolder.make()
      await mkdir(folder.root)
      const named = [folder.root]
      Object.assign(folder.store, { folders: () => named })
      const listener = await Listener.start(test, folder, watch)
      named.push(folder.tasks)
      await mkdir(folder.tasks)
      await writeFile(folder.task('T-1'), 'new')
      await listener.settles([folder.task('T-1')])
      await listener.hintsSoon(folder, 'after')
    })

    it('reports a gap when the store is removed, and no scan reports its files as removed', async (test) => {
      const { folder, listener } = await openBoard(test, watch)
      await rename(folder.root, join(folder.home, 'away'))
      await vi.waitFor(() => expect(listener.gaps).not.toEqual([]), PATIENT)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('missing'), PATIENT)
      expect(listener.reports.flatMap((report) => report.gone)).toEqual([])
      expect(await readdir(folder.home)).toEqual(['away'])
      await rename(join(folder.home, 'away'), folder.root)
      await vi.waitFor(() => expect(listener.reports.at(-1)?.state).toBe('present'), PATIENT)
      await listener.hintsSoon(folder, 'after')
    })
  })
}
