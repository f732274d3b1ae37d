// The tasks of a folder's board as clients get them, without an edge.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Board } from '../../sidecar/board/board.ts'
import { FileReader } from '../../sidecar/files/file-reader.ts'
import type { Store } from '../../sidecar/layouts/layout.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import type { DataRecord, Task } from '../../worker/board/wire.ts'
import { hostClock } from '../../worker/shared/clock.ts'

export const listedBoard = async (dir: string) => await listedStore(await openStore(dir))

export async function listedStore(store: Store) {
  const { read } = new FileReader({ store, clock: hostClock, runOutput: 'masked' })
  const board = new Board(store, read)
  for (const folder of new Set(store.folders())) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name)
      if (store.classify(path) === undefined) continue
      const state = read(path)
      if (state.state === 'parsed') board.ingest(path, state.file)
    }
  }
  const records: DataRecord[] = []
  for (const key of board.takeChanged(Date.now())) {
    const record = await board.read(key)
    if (record) records.push(record)
  }
  const tasks = records.flatMap((record): Task[] => (record.kind === 'task' ? [record.task] : []))
  const config = records.find((record) => record.kind === 'board')?.board
  return { tasks, config }
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
  } catch {
    return []
  }
}
