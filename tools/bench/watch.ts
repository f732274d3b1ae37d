// The benchmark `watch`: bursts on two boards, first starts, then a huge board at rest.

import { join } from 'node:path'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { makeBoard } from './board.ts'
import { type BurstRow, type Medium, measureBursts } from './burst.ts'
import { type FirstStartRow, firstStartVerdicts, measureFirstStarts } from './first-start.ts'
import { type IdleRow, measureIdle } from './idle.ts'
import type { DotRow } from './plot/dot-rows.ts'
import { LOOKS, measuredOn, type Picture, TUNED } from './plot/picture.ts'
import { percentile } from './statistics.ts'
import { type System, startTarget } from './target.ts'

/** One Node process watches the files with the code of the sidecar: it is not measured twice. */
const SYSTEMS = ['signalbox', 'chokidar', 'chokidar-tuned'] as const satisfies readonly System[]
type Watching = (typeof SYSTEMS)[number]

const TARGETS = { burstMs: 2_000, readyMs: 2_000, rssMiB: 200, cpuPercent: 1 }
const FULL = {
  burstBoards: [5_000, 20_000],
  files: 5_000,
  runs: { signalbox: 20, chokidar: 2, 'chokidar-tuned': 8 } satisfies Record<Watching, number>,
  /** Shows what the disk adds; held against no target. */
  diskRuns: { signalbox: 6, chokidar: 1, 'chokidar-tuned': 4 } satisfies Record<Watching, number>,
  longestRunMs: 12_000,
  /** For all runs of one system on one board. */
  maxMs: 75_000,
  firstStarts: { boards: [20_000, 100_000], starts: 3 },
  idleTasks: 100_000,
  warmStarts: 3,
  settleMs: 10_000,
  /** Longer than the pause between two scans of a store of this size. */
  idleMs: 120_000,
}
const QUICK: typeof FULL = {
  ...FULL,
  burstBoards: [2_000],
  files: 500,
  runs: { signalbox: 2, chokidar: 1, 'chokidar-tuned': 1 },
  diskRuns: { signalbox: 1, chokidar: 1, 'chokidar-tuned': 1 },
  longestRunMs: 3_000,
  firstStarts: { boards: [2_000], starts: 1 },
  idleTasks: 2_000,
  warmStarts: 1,
  settleMs: 1_000,
  idleMs: 3_000,
}

export interface WatchResult extends Result {
  targets: { burstMs: number; readyMs: number; rssMiB: number; cpuPercent: number }
  bursts: BurstRow[]
  firstStarts: FirstStartRow[]
  idle: IdleRow[]
}

export async function runWatch(run: BenchRun): Promise<WatchResult> {
  const startedAt = performance.now()
  const plan = run.isQuick ? QUICK : FULL
  const bursts: BurstRow[] = []
  const { memoryDir, workDir } = run
  const dir = memoryDir ?? workDir
  const place = memoryDir === undefined ? 'disk' : 'memory'
  for (const tasks of plan.burstBoards) {
    bursts.push(...(await burstsOn(tasks, { ...plan, dir, place }, run)))
  }
  if (place === 'memory') {
    const onDisk = { ...plan, dir: workDir, place: 'disk', runs: plan.diskRuns } as const
    bursts.push(...(await burstsOn(plan.burstBoards.at(-1) ?? 0, onDisk, run)))
  }
  const firstStarts = await measureFirstStarts(plan.firstStarts, run)
  const idle = await idleOn(plan, run)
  const verdicts = [
    ...bursts.filter((row) => row.system === 'signalbox' && row.place === place).map(burstVerdict),
    ...firstStartVerdicts(firstStarts),
    ...idle.filter(({ system }) => system === 'signalbox').flatMap(idleVerdicts),
  ]
  return {
    ...circumstances(run.command, startedAt),
    targets: TARGETS,
    verdicts,
    bursts,
    firstStarts,
    idle,
  }
}

async function burstsOn(
  tasks: number,
  plan: typeof FULL & { dir: string; place: Medium },
  run: BenchRun,
): Promise<BurstRow[]> {
  const rows: BurstRow[] = []
  const board = makeBoard(join(plan.dir, `board-${tasks}`), tasks)
  // What the edge stores is always on the disk, where it is flushed at every change.
  const dataDir = join(run.workDir, `data-${plan.place}-${tasks}`)
  for (const system of SYSTEMS) {
    const target = await startTarget(system, board.dir, dataDir)
    try {
      const row = await measureBursts(target, board, { ...plan, runs: plan.runs[system] })
      rows.push(row)
      run.say(inWords(row))
    } finally {
      await target.stop()
    }
  }
  return rows
}

async function idleOn(plan: typeof FULL, run: BenchRun): Promise<IdleRow[]> {
  const tasks = plan.idleTasks
  const board = makeBoard(join(run.workDir, `board-idle-${tasks}`), tasks)
  const rows = await measureIdle(
    SYSTEMS.filter((system) => system !== 'chokidar-tuned'),
    {
      boardDir: board.dir,
      tasks,
      dataDir: (system) => join(run.workDir, `data-idle-${system}`),
      warmStarts: plan.warmStarts,
      settleMs: plan.settleMs,
      idleMs: plan.idleMs,
    },
    run.say,
  )
  for (const { system, rssMiB, peakMiB, cpuPercent, idleMs } of rows) {
    const memory = `${rssMiB} MiB (peak ${peakMiB})`
    run.say(`${system} at ${tasks}: ${memory}, ${cpuPercent} % of a core in ${idleMs} ms`)
  }
  return rows
}

function inWords({ system, place, tasks, runs }: BurstRow): string {
  const times = runs.map(({ ms, wrong }) => (ms === null ? `never (${wrong} wrong)` : ms))
  const written = percentile(
    runs.map(({ writtenMs }) => writtenMs),
    50,
  )
  const signals = percentile(
    runs.map((it) => it.signals),
    50,
  )
  const medians = `medians: written in ${written} ms, ${signals} signals`
  return `${system} at ${tasks} (${place}): all right after ${times.join(', ')} ms; ${medians}`
}

function burstVerdict({ tasks, files, runs }: BurstRow): Verdict {
  const inTime = runs.filter(({ ms }) => ms !== null && ms <= TARGETS.burstMs).length
  const worst = percentile(
    runs.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY),
    100,
  )
  return {
    what: `${files} of ${tasks} files replaced at once, all right in the read model`,
    target: `${TARGETS.burstMs} ms in every run`,
    measured: `${inTime} of ${runs.length} runs in time, worst ${worst} ms`,
    reached: inTime === runs.length,
  }
}

function idleVerdicts({ tasks, readyMedianMs, rssMiB, peakMiB, cpuPercent }: IdleRow): Verdict[] {
  const verdict = (what: string, limit: number, value: number, unit: string): Verdict => ({
    what: `sidecar at ${tasks} tasks, ${what}`,
    target: `${limit} ${unit}`,
    measured: `${value} ${unit}`,
    reached: value <= limit,
  })
  return [
    verdict('ready when nothing changed', TARGETS.readyMs, readyMedianMs, 'ms'),
    verdict(`memory (at most ${peakMiB} MiB, at the start)`, TARGETS.rssMiB, rssMiB, 'MiB'),
    verdict('CPU while idle', TARGETS.cpuPercent, cpuPercent, '%'),
  ]
}

export function watchPicture({ bursts, idle, targets, machine }: WatchResult): Picture {
  const boards = Map.groupBy(
    bursts,
    ({ tasks, place }) => `${countOf(tasks)}, ${place === 'memory' ? 'in memory' : 'on a disk'}`,
  )
  const target = { value: targets.burstMs / 1_000, label: `target ${targets.burstMs / 1_000} s` }
  const most = Math.max(...bursts.flatMap(({ runs }) => runs.map(({ ms }) => ms ?? 0)))
  const bars = (value: (row: IdleRow) => number) =>
    idle.map((row) => ({ color: LOOKS[row.system].color, value: value(row) }))
  return {
    title: `${bursts[0]?.files.toLocaleString('en')} files replaced at once, and a huge board at rest`,
    about: [
      'One dot is one run: time until every id was right in what clients read, the writing itself included.',
      TUNED,
      'A cross: some were still wrong when time was up. Stroke: median.',
      measuredOn(machine, 'all on the same machine'),
    ],
    parts: [
      {
        axis: {
          from: 0.2,
          to: Math.max(10, (most / 1_000) * 1.2),
          label: 'seconds from the order to replace, logarithmic',
          format: (seconds) => `${seconds} s`,
        },
        groups: [...boards].map(([label, rows]) => ({ label, target, rows: rows.map(dotRowOf) })),
      },
      {
        note: `${countOf(idle[0]?.tasks ?? 0)}, nothing changes: the process that watches`,
        legend: idle.map(({ system }) => system),
        bars: [
          {
            title: 'Ready after a restart',
            target: targets.readyMs / 1_000,
            format: (seconds) => `${Number(seconds.toFixed(2))} s`,
            bars: bars(({ readyMedianMs }) => readyMedianMs / 1_000),
          },
          {
            title: 'Memory (resident)',
            target: targets.rssMiB,
            format: (mebibytes) => `${Math.round(mebibytes)} MiB`,
            bars: bars(({ rssMiB }) => rssMiB),
          },
          {
            title: 'CPU while idle, of one core',
            target: targets.cpuPercent,
            format: (percent) => `${Number(percent.toFixed(2))} %`,
            bars: bars(({ cpuPercent }) => cpuPercent),
          },
        ],
      },
    ],
  }
}

function dotRowOf({ system, runs, withinMs }: BurstRow): DotRow {
  const values = runs.flatMap(({ ms }) => (ms === null ? [] : [ms / 1_000]))
  const missing = runs.length - values.length
  const median = percentile(values, 50)
  const written = runs.map(({ writtenMs }) => writtenMs / 1_000)
  const worst = `worst ${seconds(percentile(values, 100))}`
  const good = `${seconds(median)} s, ${worst} (writing ${seconds(percentile(written, 50))})`
  return {
    ...LOOKS[system],
    values,
    marks: values.length > 0 ? [median] : [],
    note: missing > 0 ? `${missing} of ${runs.length} not right in ${withinMs / 1_000} s` : good,
    missing,
  }
}

const countOf = (tasks: number): string => `${tasks.toLocaleString('en')} tasks`
const seconds = (value: number): string => value.toFixed(2)
