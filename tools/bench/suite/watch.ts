// First starts of a huge board, and the same board at rest.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, type BenchRun, reporter } from '../bench.ts'
import { type BenchBoard, counted, makeBoard } from '../board.ts'
import { coreOf, mebibytesOf } from '../proc.ts'
import { LABEL, Messages, startTarget } from '../target.ts'

const MAX_AT_REST = { ready: 2_000, memory: 200, cpu: 1 }
/** On Node all is one process; on workerd the sidecar is measured. */
const MAX_FIRST = {
  'signalbox-node': { printed: 3_000, published: 12_000, memory: 300 },
  signalbox: { printed: undefined, published: 15_000, memory: undefined },
}
const FULL = {
  tasks: 100_000,
  starts: 3,
  settleMs: 10_000,
  /** Longer than the pause between two scans of a store of this size. */
  restMs: 120_000,
}
const QUICK: typeof FULL = { tasks: 2_000, starts: 1, settleMs: 1_000, restMs: 3_000 }

export const runWatch: Bench = async (run) => {
  const plan = run.isQuick ? QUICK : FULL
  const board = makeBoard(join(run.workDir, 'board'), plan.tasks)
  await firstStarts(run, board, plan)
  await atRest(run, board, plan)
}

/** Nothing was read before. */
async function firstStarts(run: BenchRun, board: BenchBoard, { starts }: typeof FULL) {
  const dataDir = join(run.workDir, 'data-first')
  for (const system of ['signalbox-node', 'signalbox'] as const) {
    const found: { printed: number; published: number; memory: number }[] = []
    for (let n = 0; n < starts; n++) {
      rmSync(dataDir, { recursive: true, force: true })
      await using target = await startTarget(system, board.dir, dataDir)
      const memory = mebibytesOf(target.pid, 'VmHWM')
      found.push({ printed: target.printedMs, published: target.readyMs, memory })
    }
    rmSync(dataDir, { recursive: true })
    const max = MAX_FIRST[system]
    const show = reporter(run, LABEL[system], `first start, ${counted(board)}: `)
    const all = (of: keyof typeof max) => found.map((it) => it[of])
    show('`signalbox ready` is printed', 'ms', all('printed'), max.printed)
    show('all is at the edge', 'ms', all('published'), max.published)
    show('memory at most', 'MiB', all('memory'), max.memory)
  }
}

async function atRest(run: BenchRun, board: BenchBoard, plan: typeof FULL) {
  for (const system of ['signalbox', 'chokidar'] as const) {
    const start = () => startTarget(system, board.dir, join(run.workDir, `rest-${system}`))
    const readyMs: number[] = []
    for (let n = 0; n < plan.starts; n++) {
      await using target = await start()
      // The first start is no restart.
      if (n > 0) readyMs.push(target.readyMs)
    }
    await using target = await start()
    readyMs.push(target.readyMs)
    // A stream is open, as in use: its pings are part of being idle.
    using _ = await Messages.open(target)
    await sleep(plan.settleMs)
    const cpu = await coreOf(target.pid, plan.restMs)
    const max = system === 'signalbox' ? MAX_AT_REST : undefined
    const show = reporter(run, target.system, `${counted(board)} at rest: `)
    show('ready after a restart', 'ms', readyMs, max?.ready)
    show('memory', 'MiB', mebibytesOf(target.pid, 'VmRSS'), max?.memory)
    show('memory at most', 'MiB', mebibytesOf(target.pid, 'VmHWM'))
    show('of a core', '%', cpu, max?.cpu)
  }
}
