// Counts what happens. Each host shows the numbers its own way: metrics-node.ts as text for
// Prometheus, logMetrics as log lines. Every label has a list of values that is known from the
// start, so that no request can make the number of series grow. No I/O, no timer.

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

export type LabelValues = Readonly<Record<string, readonly string[]>>
type Labels<Values extends LabelValues> = { readonly [Name in keyof Values]: Values[Name][number] }

export interface Counter<Values extends LabelValues> {
  add(labels: Labels<Values>, by?: number): void
}

export interface Gauge<Values extends LabelValues> extends Counter<Values> {
  set(labels: Labels<Values>, value: number): void
}

export interface Histogram {
  observe(value: number): void
}

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: LabelValues
  /** Each series with its labels, as Prometheus writes it. */
  series: readonly string[]
  /** One for each series. */
  values: number[]
}

export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #readers: (() => void)[] = []
  readonly #changed: () => void

  /** `changed` is called after each change. */
  constructor(changed: () => void = () => undefined) {
    this.#changed = changed
  }

  counter<const Values extends LabelValues>(name: string, help: string, labels: Values) {
    return this.#labelled('counter', name, help, labels) as Counter<Values>
  }

  gauge<const Values extends LabelValues>(name: string, help: string, labels: Values) {
    return this.#labelled('gauge', name, help, labels)
  }

  /** `bounds`: of its buckets, rising. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const buckets = [...bounds, '+Inf'].map((le) => `${name}_bucket{le="${le}"}`)
    const series = [...buckets, `${name}_sum`, `${name}_count`]
    const { values } = this.#family({ name, type: 'histogram', help, labels: {}, series })
    const add = (at: number, by: number) => {
      values[at] = (values[at] ?? 0) + by
    }
    return {
      observe: (value) => {
        if (!Number.isFinite(value)) return
        // Each bucket holds those below it too. From the last one, few are passed.
        for (let at = bounds.length; at >= 0 && value <= (bounds[at] ?? value); at--) add(at, 1)
        add(bounds.length + 1, value)
        add(bounds.length + 2, 1)
        this.#changed()
      },
    }
  }

  /** Called before the metrics are read, for numbers that are counted elsewhere. */
  beforeRead(reader: () => void): void {
    this.#readers.push(reader)
  }

  read(): readonly Family[] {
    for (const reader of this.#readers) reader()
    return [...this.#families.values()]
  }

  #labelled<Values extends LabelValues>(
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    labels: Values,
  ): Gauge<Values> {
    const names = Object.keys(labels)
    const combinations = names.reduce<string[][]>(
      (all, label) => all.flatMap((some) => (labels[label] ?? []).map((value) => [...some, value])),
      [[]],
    )
    const indexes = new Map(combinations.map((values, at) => [keyOf(values), at]))
    const series = combinations.map((values) => {
      const pairs = values.map((value, at) => `${names[at]}=${JSON.stringify(value)}`)
      return pairs.length === 0 ? name : `${name}{${pairs.join()}}`
    })
    const { values } = this.#family({ name, type, help, labels, series })
    const change = (given: Labels<Values>, to: (before: number) => number) => {
      let key = ''
      for (const label of names) key += `${given[label]}\n`
      const at = indexes.get(key)
      const value = at === undefined ? Number.NaN : to(values[at] ?? 0)
      // Neither a value that no label has, nor what an older object did not report.
      if (at === undefined || !Number.isFinite(value)) return
      values[at] = value
      this.#changed()
    }
    return {
      add: (given, by = 1) => change(given, (before) => before + by),
      set: (given, value) => change(given, () => value),
    }
  }

  /** The same name returns the same family. */
  #family(made: Omit<Family, 'values'>): Family {
    const known = this.#families.get(made.name)
    if (known) return known
    const family = { ...made, values: made.series.map(() => 0) }
    this.#families.set(made.name, family)
    return family
  }
}

const keyOf = (values: readonly string[]): string => values.map((value) => `${value}\n`).join('')

const LINE_EVERY_MS = 60_000

export interface LoggedMetrics {
  metrics: Metrics
  /** Writes the changes now. For callers that run each minute. */
  flush(): void
}

/**
 * Metrics as log lines, for platforms without an endpoint for them: what an isolate counted, at
 * most one line a minute. It has no timer, so an isolate without requests writes nothing, and its
 * counts since the last line are lost.
 */
export function logMetrics(log: Log, { now }: Pick<Clock, 'now'>): LoggedMetrics {
  /** Not before the first change: while a Worker is loaded, there is no time. */
  let lineAt: number | undefined
  let written = new Map<string, number>()
  const metrics = new Metrics(() => {
    lineAt ??= now()
    if (now() - lineAt >= LINE_EVERY_MS) flush()
  })

  function flush(): void {
    const families = metrics.read()
    const values = families.flatMap(({ type, series, values: current }) =>
      series.flatMap((name, at) => {
        const value = current[at] ?? 0
        const before = written.get(name) ?? 0
        // Counters as what was added, so that a sum over lines is right for many isolates.
        return value === before ? [] : [[name, type === 'gauge' ? value : value - before] as const]
      }),
    )
    const spanMs = now() - (lineAt ?? now())
    lineAt = now()
    written = new Map(
      families.flatMap(({ series, values: current }) =>
        series.map((name, at) => [name, current[at] ?? 0] as const),
      ),
    )
    if (values.length > 0) log('info', 'metrics', { spanMs, values: Object.fromEntries(values) })
  }

  return { metrics, flush }
}
