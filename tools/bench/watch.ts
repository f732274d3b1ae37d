// Many files replaced at once, first starts, and a huge board at rest.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, type Bench, type BenchRun, reporter } from './bench.ts'
import { type BenchBoard, counted, idOf, makeBoard } from './board.ts'
import { coreOf, mebibytesOf } from './proc.ts'
import type { ReplaceOrder } from './replace.ts'
import { LABEL, Messages, read, startTarget, type Target } from './target.ts'

const MOST_BURST_MS = 2_000
const MOST_AT_REST = { ready: 2_000, memory: 200, cpu: 1 }
/** On Node all is one process; on workerd the sidecar is measured. */
const MOST_FIRST = {
  'signalbox-node': { printed: 3_000, published: 12_000, memory: 300 },
  signalbox: { printed: undefined, published: 15_000, memory: undefined },
}
/** One Node process watches the files with the code of the sidecar: it is not measured twice. */
const BURST_RUNS = { signalbox: 6, chokidar: 1, 'chokidar-tuned': 4 }
/** The client also reads without a message, so that a lost message does not count as a lost id. */
const LOOK_MS = 250
/** A pause after a run, so that late messages do not count for the next run. */
const BETWEEN_MS = 1_500
/** Every run begins elsewhere in the board. */
const STRIDE = 1_237

const FULL = {
  /** A run that is wrong after `longestRunMs` has failed; none begins after `mostMs`. */
  burst: { tasks: 20_000, files: 5_000, longestRunMs: 12_000, mostMs: 75_000 },
  tasks: 100_000,
  starts: 3,
  settleMs: 10_000,
  /** Longer than the pause between two scans of a store of this size. */
  restMs: 120_000,
}
const QUICK: typeof FULL = {
  burst: { tasks: 2_000, files: 500, longestRunMs: 3_000, mostMs: 3_000 },
  tasks: 2_000,
  starts: 1,
  settleMs: 1_000,
  restMs: 3_000,
}

export const runWatch: Bench = async (run) => {
  const plan = run.isQuick ? QUICK : FULL
  for (const measure of [bursts, firstStarts, atRest]) await measure(plan, run)
}

type Measure = (plan: typeof FULL, run: BenchRun) => Promise<void>

const bursts: Measure = async ({ burst }, { workDir, report }) => {
  const board = makeBoard(join(workDir, 'board-burst'), burst.tasks)
  for (const system of ['signalbox', 'chokidar', 'chokidar-tuned'] as const) {
    await using target = await startTarget(system, board.dir, join(workDir, `burst-${system}`))
    const found = await replaceAll(target, board, { ...burst, runs: BURST_RUNS[system] })
    const values = found.filter((ms) => ms !== undefined)
    const wrong = found.length - values.length
    const late = `${wrong} of ${found.length} wrong after ${burst.longestRunMs / 1_000} s`
    const what = `${burst.files.toLocaleString('en')} of ${counted(board)} replaced at once`
    report({ what, system: target.system, unit: 'ms' }, values, {
      aim: system === 'signalbox' ? atMost(MOST_BURST_MS, 'max') : undefined,
      faults: wrong > 0 ? [late] : [],
    })
  }
}

/**
 * By run, ms until all ids were right in what a client reads; undefined: that took too long. The
 * clock runs from the order to replace, so the writing is in it.
 */
async function replaceAll(
  target: Target,
  board: BenchBoard,
  { files, runs, longestRunMs, mostMs }: (typeof FULL)['burst'] & { runs: number },
): Promise<(number | undefined)[]> {
  const writer = fork(join(import.meta.dirname, 'replace.ts'))
  const ended = new AbortController()
  writer.once('exit', () => ended.abort(new Error('The process that replaces files ended.')))
  const found: (number | undefined)[] = []
  const endsAt = performance.now() + mostMs
  using messages = await Messages.open(target)
  const said = () => once(writer, 'message', { signal: ended.signal })
  try {
    await said()
    while (found.length < runs && performance.now() < endsAt) {
      const rank = ++board.lastRank
      const tasks = Array.from({ length: files }, (_, n) => (rank * STRIDE + n) % board.size)
      const order: ReplaceOrder = { dir: board.dir, tasks, rank }
      const startedAt = performance.now()
      const written = said()
      writer.send(order)
      const rightAt = await whenRight(target, messages, order, startedAt + longestRunMs)
      await written
      found.push(rightAt && rightAt - startedAt)
      await sleep(BETWEEN_MS)
    }
  } finally {
    writer.disconnect()
  }
  return found
}

async function whenRight(
  target: Target,
  messages: Messages,
  { tasks: replaced, rank }: ReplaceOrder,
  until: number,
): Promise<number | undefined> {
  const wrong = new Set(replaced.map(idOf))
  let etag: string | undefined
  while (performance.now() < until) {
    // Listens before it reads, so that no message is missed between the two.
    const changed = messages.next(LOOK_MS)
    const answer = await read(target, '/api/tasks', etag ? { 'if-none-match': etag } : {})
    if (answer.status === 200) {
      etag = answer.etag
      const { tasks } = JSON.parse(answer.text) as { tasks: { id: string; rank: number }[] }
      for (const task of tasks) if (task.rank === rank) wrong.delete(task.id)
      if (wrong.size === 0) return performance.now()
    } else if (answer.status !== 304) throw new Error(`The list was answered ${answer.status}.`)
    await changed
  }
  return undefined
}

/** Nothing was read before. */
const firstStarts: Measure = async ({ tasks, starts }, run) => {
  const board = makeBoard(join(run.workDir, 'board-first'), tasks)
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
    const most = MOST_FIRST[system]
    const show = reporter(run, LABEL[system], `first start, ${counted(board)}: `)
    const all = (of: keyof typeof most) => found.map((it) => it[of])
    show('`signalbox ready` is printed', 'ms', all('printed'), most.printed)
    show('all is at the edge', 'ms', all('published'), most.published)
    show('memory at most', 'MiB', all('memory'), most.memory)
  }
}

const atRest: Measure = async ({ tasks, starts, settleMs, restMs }, run) => {
  const board = makeBoard(join(run.workDir, 'board-rest'), tasks)
  for (const system of ['signalbox', 'chokidar'] as const) {
    const start = () => startTarget(system, board.dir, join(run.workDir, `rest-${system}`))
    const readyMs: number[] = []
    for (let n = 0; n < starts; n++) {
      await using target = await start()
      // The first start is no restart.
      if (n > 0) readyMs.push(target.readyMs)
    }
    await using target = await start()
    readyMs.push(target.readyMs)
    // A stream is open, as in use: its pings are part of being idle.
    using _ = await Messages.open(target)
    await sleep(settleMs)
    const cpu = await coreOf(target.pid, restMs)
    const most = system === 'signalbox' ? MOST_AT_REST : undefined
    const show = reporter(run, target.system, `${counted(board)} at rest: `)
    show('ready after a restart', 'ms', readyMs, most?.ready)
    show('memory', 'MiB', mebibytesOf(target.pid, 'VmRSS'), most?.memory)
    show('memory at most', 'MiB', mebibytesOf(target.pid, 'VmHWM'))
    show('of a core', '%', cpu, most?.cpu)
  }
}
