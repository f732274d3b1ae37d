// How long a first start on a large board takes, when no file was ever read, and what memory.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchRun, Verdict } from './bench.ts'
import { makeBoard } from './board.ts'
import { memoryOf } from './proc.ts'
import { percentile } from './statistics.ts'
import { HOME, startTarget } from './target.ts'

/** On Node all is one process; on workerd it is the sidecar that is measured. */
const SYSTEMS = ['signalbox-node', 'signalbox'] as const

export interface FirstStartRow {
  system: (typeof SYSTEMS)[number]
  version: 'this' | 'before'
  tasks: number
  /** Medians of all starts, as those below: until `signalbox ready` was printed. */
  printedMs: number
  /** Until the edge had all of it. */
  publishedMs: number
  peakMiB: number
  /** The start that follows, with nothing changed. */
  restartMs: number
}

interface FirstStartPlan {
  boards: readonly number[]
  starts: number
}

const AIMS: Readonly<Record<string, Partial<FirstStartRow>>> = {
  'signalbox-node 100000': {
    printedMs: 3_000,
    publishedMs: 12_000,
    peakMiB: 300,
    restartMs: 2_000,
  },
  'signalbox-node 20000': { publishedMs: 2_500, peakMiB: 150 },
  'signalbox 100000': { publishedMs: 15_000 },
}

export async function measureFirstStarts(
  { boards, starts }: FirstStartPlan,
  { workDir, beforeDir, say }: BenchRun,
): Promise<FirstStartRow[]> {
  const rows: FirstStartRow[] = []
  for (const tasks of boards) {
    const board = makeBoard(join(workDir, `board-first-${tasks}`), tasks)
    for (const system of SYSTEMS) {
      for (const version of beforeDir === undefined ? (['this'] as const) : BOTH) {
        const home = version === 'this' ? HOME : beforeDir
        const dataDir = join(workDir, `data-first-${version}-${tasks}`)
        const found: Omit<FirstStartRow, 'system' | 'version' | 'tasks'>[] = []
        for (let n = 0; n < starts; n++) {
          found.push(await startTwice(() => startTarget(system, board.dir, dataDir, home)))
          rmSync(dataDir, { recursive: true, force: true })
        }
        const median = (of: keyof (typeof found)[number]) =>
          Math.round(
            percentile(
              found.map((it) => it[of]),
              50,
            ),
          )
        const row = {
          system,
          version,
          tasks,
          printedMs: median('printedMs'),
          publishedMs: median('publishedMs'),
          peakMiB: median('peakMiB'),
          restartMs: median('restartMs'),
        }
        rows.push(row)
        say(
          `${system} (${version}), first start at ${tasks}: ready printed after ${row.printedMs} ms, ` +
            `published after ${row.publishedMs} ms, peak ${row.peakMiB} MiB; restart ${row.restartMs} ms`,
        )
      }
    }
  }
  return rows
}

const BOTH = ['before', 'this'] as const

async function startTwice(start: () => ReturnType<typeof startTarget>) {
  const first = await start()
  const { peakMiB } = memoryOf(first.pid)
  await first.stop()
  const second = await start()
  await second.stop()
  const { printedMs, readyMs } = first
  return { printedMs, publishedMs: readyMs, peakMiB, restartMs: second.readyMs }
}

export function firstStartVerdicts(rows: readonly FirstStartRow[]): Verdict[] {
  return rows.flatMap((row) => {
    const aims = row.version === 'this' ? (AIMS[`${row.system} ${row.tasks}`] ?? {}) : {}
    const verdict = (what: string, of: 'printedMs' | 'publishedMs' | 'peakMiB' | 'restartMs') => {
      const aim = aims[of]
      if (aim === undefined) return []
      const unit = of === 'peakMiB' ? 'MiB' : 'ms'
      return {
        what: `${row.system}, first start at ${row.tasks} tasks: ${what}`,
        target: `${aim} ${unit}`,
        measured: `${row[of]} ${unit}`,
        reached: row[of] <= aim,
      }
    }
    return [
      verdict('signalbox ready', 'printedMs'),
      verdict('all at the edge', 'publishedMs'),
      verdict('memory at most', 'peakMiB'),
      verdict('the restart after it', 'restartMs'),
    ].flat()
  })
}
