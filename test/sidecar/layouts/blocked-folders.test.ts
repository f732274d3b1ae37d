// A pipe or a file in the place of a folder of a board hides that folder, and never the board.

import { execFileSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findStore } from '../../../sidecar/layouts/registry.ts'
import { LAYOUT_NAMES } from '../../../worker/shared/layouts.ts'
import { Dice } from '../../support/odd-boards.ts'
import { ReadingScan } from '../../support/reading-scan.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { BOARDS } from './boards.ts'

/** A board with nothing else is found by that. */
const SIGN = { '.taskmaster/config.json': '{}' }

describe.each(LAYOUT_NAMES)('a board of %s', (layout) => {
  test.each(['a pipe', 'a file'])('has all but the folder in whose place %s is', async (what) => {
    const files = {
      ...BOARDS[layout](new Dice(`${layout}:1`)),
      ...(layout === 'task-master' && SIGN),
    }
    const found = async (dir: string) => {
      const store = await findStore(dir, { only: [layout] })
      if (!store) throw new Error('There is no board.')
      const { state, changed } = await new ReadingScan(store).run(Date.now())
      return { store, state, changed: changed.map((path) => relative(store.root, path)) }
    }
    const whole = await found(makeFolder(files))
    const folders = whole.store.folders().map((path) => relative(whole.store.root, path))
    for (const folder of folders.filter(Boolean)) {
      const dir = makeFolder(files)
      const place = join((await found(dir)).store.root, folder)
      await rm(place, { recursive: true, force: true })
      await mkdir(dirname(place), { recursive: true })
      if (what === 'a pipe') execFileSync('mkfifo', [place])
      else await writeFile(place, 'no folder')
      const { state, changed } = await found(dir)
      expect(['present', 'bare']).toContain(state)
      const rest = whole.changed.filter((name) => !name.startsWith(`${folder}${sep}`))
      expect(new Set(changed)).toEqual(new Set(rest))
    }
  })
})
