// What each benchmark of this folder gets, the one shape of what it answers, and its table.

import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

export interface BenchRun {
  /** On the disk of temporary files. Removed at the end of the benchmark. */
  workDir: string
  /** Small boards and few repetitions: shows that everything runs, but not how fast. */
  isQuick: boolean
  /** Takes what was measured of one system, as soon as it is. One number: a memory, a count. */
  report(of: Measured, values: Values, judged?: Judged): void
}

export type Bench = (run: BenchRun) => Promise<void>

type Values = number | readonly number[]

/** Reports of one system, `about` one thing. `most`: an aim of the median. */
export const reporter =
  ({ report }: Pick<BenchRun, 'report'>, system: string, about = '') =>
  (words: string, unit: string, values: Values, most?: number, faults?: string[]): void => {
    const aim = most === undefined ? undefined : atMost(most)
    report({ what: `${about}${words}`, system, unit }, values, { aim, ...(faults && { faults }) })
  }

type Statistic = 'p50' | 'p95' | 'p99' | 'max'

/** A limit of one statistic of a row, in the unit of the row. */
type Aim = { of: Statistic } & ({ most: number } | { least: number })

export const atMost = (most: number, of: Statistic = 'p50'): Aim => ({ of, most })
export const atLeast = (least: number, of: Statistic = 'p50'): Aim => ({ of, least })

/** Rows with the same `what` are compared with each other. */
export interface Measured {
  what: string
  system: string
  /** Of the statistics, such as `ms`. */
  unit: string
}

export interface Judged {
  aim?: Aim | undefined
  /** What must never be, such as a lost message: with it no aim is reached, however quick. */
  faults?: readonly string[]
}

export interface Row extends Measured, Judged, Readonly<Record<Statistic, number>> {
  count: number
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank). */
function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.max(Math.ceil((percent / 100) * sorted.length), 1)
  return sorted[rank - 1] ?? Number.NaN
}

export function rowOf(
  of: Measured,
  values: readonly number[],
  { aim, faults = [] }: Judged = {},
): Row {
  // Two decimals: across processes, the clock is not more precise.
  const at = (percent: number) => Math.round(percentile(values, percent) * 100) / 100
  return {
    ...of,
    count: values.length,
    p50: at(50),
    p95: at(95),
    p99: at(99),
    max: at(100),
    ...(aim && { aim }),
    ...(faults.length > 0 && { faults }),
  }
}

/** Of a rival without an aim, too. One without values, since all were lost, reaches nothing. */
export function isReached({ aim, faults, ...row }: Row): boolean {
  if (!aim) return true
  if (faults) return false
  return 'most' in aim ? row[aim.of] <= aim.most : row[aim.of] >= aim.least
}

export const MACHINE = {
  platform: `${type()} ${release()}`,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.versions.node,
}

export interface Result {
  command: string
  date: string
  /** The measured revision, with `+` if files were changed. */
  commit: string
  machine: typeof MACHINE
  tookMs: number
  rows: Row[]
}

export function revision(): string {
  const args = ['describe', '--always', '--abbrev=12', '--exclude=*', '--dirty=+']
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
}

/** A line for each thing that was measured, a column for each system. */
export function table(rows: readonly Row[]): string {
  const systems = [...new Set(rows.map(({ system }) => system))]
  const groups = Map.groupBy(rows, ({ what, unit }) => `${what}, ${unit}`)
  const lines = [...groups].map(([title, group]) => [
    title,
    ...systems.map((system) => cellOf(group.find((row) => row.system === system))),
  ])
  const all = [['', ...systems], ['', ...systems].map(() => '---'), ...lines]
  return all.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

/** The median, the p99 and the most of many values, or the one; then the aim. */
export function cellOf(row: Row | undefined): string {
  if (!row) return ''
  const { count, p50, p99, max, aim, faults = [] } = row
  const values = (count > 1 ? [p50, p99, max] : [p50]).map(shown).join(' / ')
  const limit =
    aim && `${aim.of} ${'most' in aim ? `≤ ${shown(aim.most)}` : `≥ ${shown(aim.least)}`}`
  const words = [...(limit ? [`${isReached(row) ? '' : 'missed: '}${limit}`] : []), ...faults]
  return words.length > 0 ? `${values} (${words.join('; ')})` : values
}

/** Three digits are all that a measurement is worth. */
const shown = (value: number): string =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumSignificantDigits: 3 }) : '–'

/** The page with the table of this benchmark between its marks; as it is where it has none. */
export const withTable = (page: string, name: string, { rows, machine, date }: Result): string =>
  page.replace(
    new RegExp(`(<!-- bench ${name} -->\\n).*?(<!-- end -->)`, 's'),
    (_, from: string, to: string) =>
      `${from}\n${table(rows)}\n${date.slice(0, 10)}, ${machine.cpu.trim()}\n\n${to}`,
  )
