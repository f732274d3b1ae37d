// The latency from a saved file to a client: saves one task at intervals and measures the time
// until the message arrives. The window of 100 ms, which both systems wait on purpose, is
// subtracted.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { type BenchBoard, idOf, makeBoard, nextRank, saveTask } from './board.ts'
import { type Message, openEvents, read } from './client.ts'
import type { DotRow } from './plot/dot-rows.ts'
import { LOOKS, measuredOn, type Picture, TUNED } from './plot/picture.ts'
import { randomFrom, rounded, type Summary, summarize } from './statistics.ts'
import { SYSTEMS, type System, startTarget, type Target } from './target.ts'

const WINDOW_MS = 100
/** A later message counts as lost: people reload a board sooner than that. */
const LOST_MS = 5_000
const PAUSE_MS = 300
const PAUSE_JITTER_MS = 100
/** The first saves run cold code on both sides, which is not typical of a board. */
const WARM_UP_SAVES = 5
const SEED = 20_260_101

export interface LatencyPlan {
  saves: number
  /** Stops after this, with fewer saves. */
  maxMs: number
}

export interface LatencyRow {
  system: System
  tasks: number
  saves: number
  lost: number
  /** The client got the message, but read the task as it was before the save. */
  stale: number
  /** Beyond the window, in ms. */
  latency: Summary
  values: number[]
}

async function measureLatency(
  target: Target,
  board: BenchBoard,
  plan: LatencyPlan,
): Promise<LatencyRow> {
  const random = randomFrom(SEED)
  let onMessage: (message: Message, at: number) => void = () => undefined
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  const events = await openEvents(
    target,
    (message, at) => onMessage(message, at),
    (why) => broken.reject(new Error(`The stream of ${target.system} broke: ${why}`)),
  )
  const row = { system: target.system, tasks: board.size, saves: 0, lost: 0, stale: 0 }
  const values: number[] = []
  const endsAt = performance.now() + plan.maxMs
  try {
    for (let save = 1; save <= plan.saves + WARM_UP_SAVES; save++) {
      if (performance.now() > endsAt) break
      const n = Math.floor(random() * board.size)
      const rank = nextRank(board)
      const isCounted = save > WARM_UP_SAVES
      const heard = Promise.withResolvers<number | undefined>()
      onMessage = (message, at) => {
        if (message.type === 'tasks-changed' || message.id === idOf(n)) heard.resolve(at)
      }
      saveTask(board, n, rank)
      const savedAt = performance.now()
      const timer = setTimeout(() => heard.resolve(undefined), LOST_MS)
      const at = await Promise.race([heard.promise, broken.promise])
      clearTimeout(timer)
      if (isCounted) row.saves++
      if (at === undefined) row.lost += isCounted ? 1 : 0
      else {
        if (isCounted) values.push(at - savedAt - WINDOW_MS)
        if (!(await shows(target, n, rank))) row.stale++
      }
      const pauseMs = PAUSE_MS + random() * PAUSE_JITTER_MS
      // Not less than half: what a late message leaves behind must not run into the next save.
      await sleep(Math.max(pauseMs / 2, savedAt + pauseMs - performance.now()))
    }
  } finally {
    events.close()
  }
  return { ...row, latency: roundedSummary(values), values: values.map(rounded) }
}

async function shows(target: Target, n: number, rank: number): Promise<boolean> {
  const { status, text } = await read(target, `/api/tasks/${idOf(n)}`)
  return status === 200 && JSON.parse(text).rank === rank
}

function roundedSummary(values: readonly number[]): Summary {
  const { count, p50, p90, p99, max } = summarize(values)
  return { count, p50: rounded(p50), p90: rounded(p90), p99: rounded(p99), max: rounded(max) }
}

/** `nodeP99Ms`: of signalbox-node. */
const TARGETS = [
  { tasks: 1_000, p99Ms: 20, nodeP99Ms: 10 },
  { tasks: 20_000, p99Ms: 20, nodeP99Ms: 10 },
  { tasks: 100_000, p99Ms: 40, nodeP99Ms: 40 },
]
const SAVES = 200
/** The alternatives get half as many, and less time where each save takes long. */
const SAVES_OF_OTHERS = 100
const MAX_MS = {
  signalbox: 120_000,
  'signalbox-node': 120_000,
  chokidar: 45_000,
  'chokidar-tuned': 60_000,
}
const isOurs = (system: System): boolean => system.startsWith('signalbox')

export interface LatencyResult extends Result {
  windowMs: number
  targets: { tasks: number; p99Ms: number; nodeP99Ms: number }[]
  rows: LatencyRow[]
}

export async function runLatency(run: BenchRun): Promise<LatencyResult> {
  const startedAt = performance.now()
  const targets = run.isQuick ? TARGETS.slice(0, 1) : TARGETS
  const rows: LatencyRow[] = []
  for (const [n, { tasks }] of targets.entries()) {
    const board = makeBoard(join(run.workDir, `board-${tasks}`), tasks)
    // Every second size has the other order, since the first system runs on a cold machine.
    const order = n % 2 === 0 ? SYSTEMS : SYSTEMS.toReversed()
    const found = new Map<System, LatencyRow>()
    for (const system of order) {
      const data = join(run.workDir, `data-${system}-${tasks}`)
      const target = await startTarget(system, board.dir, data)
      try {
        const saves = run.isQuick ? 10 : isOurs(system) ? SAVES : SAVES_OF_OTHERS
        const row = await measureLatency(target, board, { saves, maxMs: MAX_MS[system] })
        found.set(system, row)
        run.say(inWords(row))
      } finally {
        await target.stop()
      }
    }
    for (const system of SYSTEMS) rows.push(...[found.get(system)].filter((it) => it !== undefined))
  }
  const verdicts = verdictsOf(rows, targets)
  return {
    ...circumstances(run.command, startedAt),
    windowMs: WINDOW_MS,
    targets,
    verdicts,
    rows,
  }
}

const inWords = ({ system, tasks, saves, lost, stale, latency }: LatencyRow): string => {
  const { p50, p90, p99, max } = latency
  const counts = `${saves} saves, ${lost} lost, ${stale} stale`
  return `${system} at ${tasks}: p50 ${p50}, p90 ${p90}, p99 ${p99}, max ${max} ms; ${counts}`
}

/** A lost or stale message is a miss, however quick the others were. */
function verdictsOf(rows: LatencyRow[], targets: LatencyResult['targets']): Verdict[] {
  return targets.flatMap(({ tasks, p99Ms, nodeP99Ms }) =>
    rows
      .filter((row) => isOurs(row.system) && row.tasks === tasks)
      .map(({ system, latency, lost, stale, saves }) => {
        const maxMs = system === 'signalbox' ? p99Ms : nodeP99Ms
        return {
          what: `save to client at ${tasks} tasks, p99 (${system})`,
          target: `${maxMs} ms`,
          measured: `${latency.p99} ms, ${lost} of ${saves} lost, ${stale} stale`,
          reached: latency.p99 <= maxMs && lost === 0 && stale === 0,
        }
      }),
  )
}

const MAX_SHOWN_MS = 10_000

export function latencyPicture({ rows, targets, machine }: LatencyResult): Picture {
  const most = Math.max(100, ...rows.map(({ latency }) => latency.max))
  return {
    title: 'From a saved file to a client',
    about: [
      'One dot is one save: time until the client had the message, less the 100 ms window that all wait on purpose.',
      TUNED,
      `Strokes: p50 and p99. ${measuredOn(machine, 'load and systems on the same machine')}`,
    ],
    parts: [
      {
        axis: {
          from: 0.5,
          to: Math.min(most * 1.1, MAX_SHOWN_MS),
          label: 'milliseconds beyond the window, logarithmic',
          format: (ms) => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`),
        },
        groups: targets.map(({ tasks, p99Ms }) => ({
          label: `${tasks.toLocaleString('en')} tasks`,
          target: { value: p99Ms, label: `target: p99 ${p99Ms} ms` },
          rows: rows.filter((row) => row.tasks === tasks).map(dotRowOf),
        })),
      },
    ],
  }
}

function dotRowOf({ system, latency, lost, values, saves }: LatencyResult['rows'][number]): DotRow {
  const note = `p50 ${short(latency.p50)} · p99 ${short(latency.p99)} ms`
  return {
    ...LOOKS[system],
    values,
    marks: [latency.p50, latency.p99],
    note: lost > 0 ? `${lost} of ${saves} lost` : note,
    missing: lost,
  }
}

const short = (ms: number): string =>
  ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')
