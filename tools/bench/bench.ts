// What each benchmark of this folder gets, and what it answers: numbers, machine and verdicts.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { join, resolve } from 'node:path'

export interface Machine {
  platform: string
  cores: number
  cpu: string
  memoryGiB: number
  node: string
}

/** For one benchmark. Both work folders are removed at its end. */
export interface BenchRun {
  /** A work folder on the disk of temporary files. */
  workDir: string
  /** A work folder in memory; undefined if there is no file system in memory. */
  memoryDir: string | undefined
  /** The folder of an earlier version, with its packages, to measure beside this one. */
  beforeDir: string | undefined
  /** Small boards and few repetitions: shows that everything runs, but not how fast. */
  isQuick: boolean
  command: string
  say: (text: string) => void
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

export function save(dir: string, name: string, result: Result, plot: string): void {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, `${name}.json`), `${compact(JSON.stringify(result, null, 2))}\n`)
  writeFileSync(join(dir, `${name}.svg`), plot)
}

/** Lists of numbers are on one line, so that a diff of two runs is readable. */
const compact = (json: string): string =>
  json.replaceAll(/\[[\d\s.,e+-]*\]/g, (list) => list.replaceAll(/\s+/g, ' '))
