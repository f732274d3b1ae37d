import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { idOf, makeBoard, nextRank, saveTask } from '../../bench/board.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'

it('makes a board that a sidecar reads whole, and saves a task of it by a rename', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-bench-test-'))
  try {
    const board = makeBoard(dir, 20)
    const store = await openStore(dir)
    expect(store.layout).toBe('cairn')
    const rank = nextRank(board)
    saveTask(board, 7, rank)
    expect(readdirSync(board.tasksDir)).toHaveLength(20)
    for (let n = 0; n < 20; n++) {
      const path = join(board.tasksDir, `${idOf(n)}.md`)
      const { entries } = store.parse(path, 'task', readFileSync(path, 'utf8'))
      const [entry] = entries
      expect(entry).toMatchObject({ id: idOf(n), task: { rank: n === 7 ? rank : 0 } })
      expect(entry).not.toHaveProperty('task.invalid')
    }
    expect(nextRank(board)).not.toBe(rank)
  } finally {
    await rm(dir, { recursive: true })
  }
})
