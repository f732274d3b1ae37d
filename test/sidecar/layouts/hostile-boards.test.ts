// Files that were made to take long: each is read, taken into the board and derived, or is invalid.
// `HOSTILE_BOARDS_MINUTES=10` goes on for so long; a file that takes the process over 300 ms of a
// processor at once fails by its seed.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { Board } from '../../../sidecar/board/board.ts'
import { FileReader } from '../../../sidecar/files/file-reader.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { hostileFile, LAYOUTS, WHOLE } from '../../support/hostile-boards.ts'
import { Dice } from '../../support/odd-boards.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const { HOSTILE_BOARDS_SEED = '1', HOSTILE_BOARDS_MINUTES } = process.env
const BUDGET_MS = HOSTILE_BOARDS_MINUTES && (Number(HOSTILE_BOARDS_MINUTES) * 60_000) / 7
const COUNT = 25
const MOST_MS = 300

it.each(LAYOUTS)('a hostile file of %s ends', { timeout: 900_000 }, async (layout) => {
  const until = performance.now() + Number(BUDGET_MS ?? 0)
  const slow: string[] = []
  for (let n = 0; BUDGET_MS ? performance.now() < until : n < COUNT; n++) {
    const { path, text, made } = hostileFile(
      new Dice(`${HOSTILE_BOARDS_SEED}:${layout}:${n}`),
      layout,
    )
    const dir = makeFolder(WHOLE[layout])
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
    const store = await openStore(dir)
    const { read } = new FileReader({ store, clock: { now: Date.now }, runOutput: 'masked' })
    const board = new Board(store, read)
    const file = join(dir, path)
    store.folders()
    const seen = store.classify(file) && read(file)
    const name = `board ${n} of seed ${HOSTILE_BOARDS_SEED}: ${made}`
    if (store.classify(file)) expect(seen, name).toHaveProperty('state', 'parsed')
    const ms = await cpuMs(() => {
      read(file)
    })
    const taken = await cpuMs(() => {
      if (seen && seen.state === 'parsed') board.ingest(file, seen.file)
      board.takeChanged(Date.now())
    })
    if (Math.max(ms, taken) > MOST_MS) slow.push(`${name}: ${Math.round(ms)}, ${Math.round(taken)}`)
  }
  // By hand, on a quiet machine: beside other tests a thread is charged for what they do, too.
  if (BUDGET_MS) expect(slow).toEqual([])
})
