// Boards for measurements: task files as large as real ones, in the cairn layout. The same number
// makes the same file, so a run can be repeated.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const STATES = ['backlog', 'in_progress', 'in_review', 'done']
const CONFIG = `prefix: BENCH
states: [${STATES.join(', ')}]
closed: [done]
initial: backlog
`
const BODY = `The lamp must know how dark its room is before it can decide anything. One reading a second is
enough: people do not notice a slower change, and the battery does notice a quicker one.

- read the sensor once a second
- keep the median of the last five readings
- tell nobody unless it moved by more than a step
`

export interface BenchBoard {
  /** The folder for the sidecar. */
  dir: string
  tasksDir: string
  size: number
  /**
   * The last rank that was used. No rank is used twice, also for different systems. Otherwise a
   * file would already have the expected content before it was written.
   */
  lastRank: number
}

export const boardIn = (dir: string, size: number): BenchBoard => ({
  dir,
  tasksDir: join(dir, '.cairn', 'tasks'),
  size,
  lastRank: 0,
})

export function nextRank(board: BenchBoard): number {
  board.lastRank += 1
  return board.lastRank
}

export function makeBoard(dir: string, size: number): BenchBoard {
  const board = boardIn(dir, size)
  mkdirSync(board.tasksDir, { recursive: true })
  writeFileSync(join(dir, '.cairn', 'config.yaml'), CONFIG)
  for (let n = 0; n < size; n++) writeFileSync(pathOf(board, n), taskText(n, 0))
  return board
}

export const idOf = (n: number): string => `BENCH-${n}`

/** About a kilobyte. Each save changes `rank`, so a client can see which save it reads. */
const taskText = (n: number, rank: number): string => `---
id: ${idOf(n)}
title: Task ${n} of the board that is measured
status: ${STATES[n % STATES.length]}
labels: [firmware, area-${n % 17}]
checks:
  - desc: the median of five readings is right
    cmd: make test-sensor
    result: pass
provenance:
  - {who: 'human:mira', at: '2026-03-02T08:15:00Z', did: created}
  - {who: 'agent:otto', at: '2026-03-02T10:41:12Z', did: claimed}
  - {who: 'agent:otto', at: '2026-03-02T10:58:40Z', did: note, text: 'The first reading after sleep is noise: dropped.'}
assignee: agent:otto
rank: ${rank}
---
${BODY}`

/** Saves as editors and agents do: a temporary file in the same folder, then a rename. */
export function saveTask(board: BenchBoard, n: number, rank: number): void {
  replaceFile(board, n, taskText(n, rank))
}

/** Its card stays where it is. */
export function retitleTask(board: BenchBoard, n: number, title: string): void {
  replaceFile(board, n, taskText(n, 0).replace(/^title: .*$/m, `title: ${title}`))
}

function replaceFile(board: BenchBoard, n: number, text: string): void {
  const temp = join(board.tasksDir, `.tmp-${idOf(n)}`)
  writeFileSync(temp, text)
  renameSync(temp, pathOf(board, n))
}

const pathOf = (board: BenchBoard, n: number): string => join(board.tasksDir, `${idOf(n)}.md`)
