// Which rules of docs/alerts.yml fire: promtool plays them over two scrapes, ten minutes of the
// first and then twenty of the second.

import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { PROMTOOL } from './judges.ts'
import { tempFolder } from './temp-folder.ts'

export const RULES = 'docs/alerts.yml'

/** The text of a scrape, as Prometheus gets it. Undefined: nothing answered. */
export type Scrape = string | undefined

const [FIRST, SECOND] = [10, 20]

/** Expects that no rule fires in the first ten minutes, and then these and no others. */
export async function expectFired(
  scrapes: readonly [before: Scrape, after: Scrape],
  rules: readonly string[],
): Promise<void> {
  const { groups } = parse(await readFile(RULES, 'utf8'))
  const known = groups.flatMap((group: { rules: { alert: string }[] }) => group.rules)
  const names = known.map(({ alert }: { alert: string }) => alert)
  for (const rule of rules) expect(names).toContain(rule)
  const fired = (since: number) =>
    `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${since}m]))`
  const samples = rules.toSorted().map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }))
  const test = {
    rule_files: [resolve(RULES)],
    tests: [
      {
        interval: '1m',
        input_series: seriesOf(scrapes),
        promql_expr_test: [
          { expr: fired(FIRST), eval_time: `${FIRST - 1}m`, exp_samples: [] },
          { expr: fired(SECOND), eval_time: `${FIRST + SECOND - 1}m`, exp_samples: samples },
        ],
      },
    ],
  }
  // JSON is YAML.
  const file = join(tempFolder(), 'alerts-test.yml')
  await writeFile(file, JSON.stringify(test))
  const { status, stdout, stderr } = spawnSync(PROMTOOL, ['test', 'rules', file], {
    encoding: 'utf8',
  })
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
}

function seriesOf(scrapes: readonly [Scrape, Scrape]) {
  // One for both: else what has not changed would.
  const now = Date.now() / 1_000
  const [before, after] = scrapes.map((scrape) => valuesOf(scrape, now))
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])
  return [...names].map((series) => {
    const [one = '_', other = '_'] = [before?.get(series), after?.get(series)]
    // `5+0x9` is ten times 5, and `_x10` ten scrapes without it.
    const times = (value: string, count: number) =>
      value === '_' ? `_x${count}` : `${value}+0x${count - 1}`
    return { series, values: `${times(one, FIRST)} ${times(other, SECOND)}` }
  })
}

/** By the names that Prometheus gives them. */
function valuesOf(scrape: Scrape, now: number): Map<string, string> {
  const own = 'instance="here:9464",job="signalbox"'
  const values = new Map([[`up{${own}}`, scrape === undefined ? '0' : '1']])
  for (const line of scrape?.split('\n') ?? []) {
    const [, name = '', labels, value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === '' || name.endsWith('_bucket')) continue
    const all = labels === undefined ? own : `${labels},${own}`
    values.set(`${name}{${all}}`, atPlay(name, value, now))
  }
  return values
}

/** promtool's time begins with 0, and the second scrape is at its tenth minute. */
function atPlay(name: string, value: string, now: number): string {
  if (!/_time(stamp)?_seconds$/.test(name)) return value
  return String(Number(value) - now + FIRST * 60)
}
