// The results of a run: numbers, machine and verdicts.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { join, resolve } from 'node:path'
import type { BoardsRow } from './boards.ts'
import type { BurstRow } from './burst.ts'
import type { FanoutSample } from './fanout/load.ts'
import type { IdleRow } from './idle.ts'
import type { LatencyRow } from './latency.ts'
import type { ChargeTimes, RoundTrips } from './payments/charges.ts'
import type { PaceRun } from './payments/pace-run.ts'
import type { RateSample } from './payments/webhooks.ts'
import type { Device, PhoneRow } from './phone.ts'
import type { RefetchRow } from './refetch.ts'

export interface Machine {
  platform: string
  cores: number
  cpu: string
  memoryGiB: number
  node: string
}

export interface Verdict {
  what: string
  target: string
  measured: string
  reached: boolean
}

export interface Result {
  command: string
  date: string
  /** The measured revision, with `+` if files were changed. */
  commit: string
  machine: Machine
  tookMs: number
  verdicts: Verdict[]
}

export interface LatencyResult extends Result {
  windowMs: number
  targets: { tasks: number; p99Ms: number; nodeP99Ms: number }[]
  rows: LatencyRow[]
}

export interface WatchResult extends Result {
  targets: { burstMs: number; readyMs: number; rssMiB: number; cpuPercent: number }
  bursts: BurstRow[]
  idle: IdleRow[]
}

export interface WebhooksResult extends Result {
  targets: {
    timesNaive: number
    shareOfNoDatabase: number
    /** Of one process of Node, on a database in a file. */
    node: { timesNaive: number; shareOfNoDatabase: number }
    shareWhileHanging: number
    paceMs: number
  }
  /** Concurrency: that of the verdicts, and the levels tried with the naive handler. */
  levels: readonly number[]
  naiveLevels: readonly number[]
  rates: RateSample[]
  pace: PaceRun[]
}

export interface FanoutResult extends Result {
  targets: { timesShared: number }
  /** How many at a time. */
  streams: readonly number[]
  /** Systems that are not installed here. */
  skipped: readonly string[]
  samples: FanoutSample[]
}

export interface ChargeResult extends Result {
  targets: { roundTrips: number }
  /** The response time of the gateway. */
  gatewayMs: number
  roundTrips: RoundTrips[]
  times: ChargeTimes[]
}

export interface RefetchResult extends Result {
  targets: { bytes: number }
  rows: RefetchRow[]
}

export interface PhoneResult extends Result {
  targets: { maxMs: number }
  phone: Device
  rows: PhoneRow[]
}

export interface BoardsResult extends Result {
  targets: { timesMemory: number; readyMs: number }
  tasksEach: number
  rows: BoardsRow[]
}

/** The description of a run. `startedAt` is a value of `performance.now`. */
export function circumstances(command: string, startedAt: number): Omit<Result, 'verdicts'> {
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
  }
}

/** The files that decide what is measured, and how. */
const MEASURED = [
  ...['worker', 'libraries/client', 'console', 'sidecar', 'local', 'tools/bench/*.ts'],
  ...['schema.sql', 'signalbox.config.ts', 'wrangler.toml', 'package-lock.json'],
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

export function save(dir: string, name: string, result: Result, plot: string): void {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, `${name}.json`), `${compact(JSON.stringify(result, null, 2))}\n`)
  writeFileSync(join(dir, `${name}.svg`), plot)
}

/** Lists of numbers are on one line, so that a diff of two runs is readable. */
const compact = (json: string): string =>
  json.replaceAll(/\[[\d\s.,e+-]*\]/g, (list) => list.replaceAll(/\s+/g, ' '))
