// What each benchmark of this folder gets, and the one shape of what it answers.

import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { resolve } from 'node:path'

export interface BenchRun {
  /** On the disk of temporary files. Removed at the end of the benchmark. */
  workDir: string
  /** Small boards and few repetitions: shows that everything runs, but not how fast. */
  isQuick: boolean
}

/** Returns its rows; `report` gets each as soon as it is measured. */
export type Bench = (run: BenchRun, report: (row: Row) => void) => Promise<void>

export type Statistic = 'p50' | 'p95' | 'p99' | 'max'

/** A limit of one statistic of a row, in the unit of the row. */
export type Aim = { of: Statistic } & ({ most: number } | { least: number })

/** What was measured of one system. Rows with the same `what` are compared with each other. */
export interface Row extends Readonly<Record<Statistic, number>> {
  what: string
  system: string
  /** Of the statistics, such as `ms`. */
  unit: string
  count: number
  aim?: Aim
  /** What must never be, such as a lost message: with it no aim is reached, however quick. */
  faults?: readonly string[]
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.ceil((percent / 100) * sorted.length)
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1] ?? Number.NaN
}

/** Two decimals: across processes, the clock is not more precise. */
const rounded = (value: number): number => Math.round(value * 100) / 100

/** The row of measured values. `values` may be one number: a memory, a count. */
export function rowOf(
  { what, system, unit }: Pick<Row, 'what' | 'system' | 'unit'>,
  values: readonly number[],
  { aim, faults = [] }: Pick<Row, 'aim' | 'faults'> = {},
): Row {
  const at = (percent: number) => rounded(percentile(values, percent))
  return {
    what,
    system,
    unit,
    count: values.length,
    p50: at(50),
    p95: at(95),
    p99: at(99),
    max: at(100),
    ...(aim && { aim }),
    ...(faults.length > 0 && { faults }),
  }
}

/** Reports values of one system. `most`: an aim of their median. */
export const reporter =
  (report: (row: Row) => void, system: string) =>
  (what: string, unit: string, values: number | readonly number[], most?: number): void => {
    const aim = most !== undefined && { aim: { of: 'p50', most } as const }
    report(rowOf({ what, system, unit }, [values].flat(), { ...aim }))
  }

/** Of a rival without an aim, too. One without values, since all were lost, reaches nothing. */
export function isReached({ aim, faults, ...row }: Row): boolean {
  if (!aim) return true
  if (faults) return false
  return 'most' in aim ? row[aim.of] <= aim.most : row[aim.of] >= aim.least
}

export interface Result {
  command: string
  date: string
  /** The measured revision, with `+` if files were changed. */
  commit: string
  machine: { platform: string; cores: number; cpu: string; memoryGiB: number; node: string }
  tookMs: number
  rows: Row[]
}

/** `startedAt`: a value of `performance.now`. */
export function resultOf(command: string, startedAt: number, rows: Row[]): Result {
  const [first] = cpus()
  return {
    command,
    date: new Date().toISOString(),
    commit: commit(),
    machine: {
      platform: `${type()} ${release()}`,
      cores: availableParallelism(),
      cpu: first?.model ?? 'unknown',
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      node: process.versions.node,
    },
    tookMs: Math.round(performance.now() - startedAt),
    rows,
  }
}

/** The files that decide what is measured, and how. */
// biome-ignore format: several names a line.
const MEASURED = [
  'worker', 'libraries/client', 'console', 'sidecar', 'system', 'tools/bench/*.ts',
  'schema.sql', 'signalbox.config.ts', 'wrangler.toml', 'package-lock.json',
]

function commit(): string {
  const cwd = resolve(import.meta.dirname, '../..')
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    const isChanged = git('status', '--porcelain', ...MEASURED) !== ''
    return `${git('rev-parse', '--short=12', 'HEAD')}${isChanged ? '+' : ''}`
  } catch {
    // An unpacked archive has no git history.
    return 'unknown'
  }
}
