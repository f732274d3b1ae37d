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
  size: number
  /** No rank is used twice, by other systems neither: a file must not have what is written. */
  lastRank: number
}

export function makeBoard(dir: string, size: number): BenchBoard {
  const board = { dir, size, lastRank: 0 }
  mkdirSync(join(dir, '.cairn/tasks'), { recursive: true })
  writeFileSync(join(dir, '.cairn/config.yaml'), CONFIG)
  for (let n = 0; n < size; n++) writeFileSync(pathOf(board, n), taskText(n, 0))
  return board
}

export const idOf = (n: number): string => `BENCH-${n}`

export const counted = ({ size }: BenchBoard): string => `${size.toLocaleString('en')} tasks`

/** About a kilobyte. */
const taskText = (n: number, rank: number): string => `---
id: ${idOf(n)}
title: Task ${n} of the board
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

/**
 * Saves as editors and agents do: a temporary file in the same folder, then a rename. By the rank a
 * client sees which save it reads.
 */
export function saveTask(board: BenchBoard, n: number, rank: number): void {
  const temp = join(board.dir, '.cairn/tasks', `.tmp-${idOf(n)}`)
  writeFileSync(temp, taskText(n, rank))
  renameSync(temp, pathOf(board, n))
}

const pathOf = ({ dir }: BenchBoard, n: number): string =>
  join(dir, '.cairn/tasks', `${idOf(n)}.md`)
