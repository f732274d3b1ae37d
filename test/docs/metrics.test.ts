// docs/metrics.md lists what is counted, and nothing else, and docs/alerts.yml alarms on it.

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { sidecarMetrics } from '../../sidecar/metrics.ts'
import { backupMetric } from '../../system/database/backup/backup.ts'
import { boardMetrics } from '../../worker/board/metrics.ts'
import { healthMetric } from '../../worker/healthz-process.ts'
import { countingLog } from '../../worker/payments/metrics.ts'
import { accessMetrics } from '../../worker/shared/access.ts'
import { endMetrics } from '../../worker/shared/ends-node.ts'
import { type Family, Metrics } from '../../worker/shared/metrics.ts'
import { processMetrics } from '../../worker/shared/metrics-node.ts'
import { connectionMetrics } from '../../worker/shared/strangers-node.ts'

const CONFIGURED = 'a key of the configuration'

function families(): readonly Family[] {
  const metrics = new Metrics()
  boardMetrics(metrics)
  accessMetrics(metrics)
  countingLog(metrics, [CONFIGURED], () => undefined)
  sidecarMetrics(metrics)
  healthMetric(metrics)
  backupMetric(metrics, 'no folder')
  endMetrics(metrics)
  processMetrics(metrics)
  connectionMetrics(metrics)
  return metrics.read()
}

const unitOf = (name: string) => /_(seconds|bytes)(_total)?$/.exec(name)?.[1] ?? 'count'

const rowOf = ({ name, type, help, labels }: Family): string => {
  const values = (all: readonly string[]) =>
    all.map((value) => (value === CONFIGURED ? value : `\`${value}\``)).join(' ')
  const listed = Object.entries(labels).map(([label, all]) => `\`${label}\`: ${values(all)}`)
  return `| \`${name}\` | ${type} | ${unitOf(name)} | ${listed.join('; ')} | ${help} |`
}

it('docs/metrics.md has each metric with its type, unit, labels and meaning, and no other', async () => {
  const page = await readFile('docs/metrics.md', 'utf8')
  const rows = page
    .split('\n')
    .filter((line) => /^\| `(signalbox|process)_\w+` \| \w+ \|/.test(line))
  expect(rows).toEqual(families().map(rowOf))
})

it('Each series has a name of Prometheus, and labels with known values', () => {
  const all = families()
  expect(all.length).toBeGreaterThan(20)
  for (const { name, type, series } of all) {
    expect(name).toMatch(/^(signalbox|process)_[a-z_]+$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(series.length).toBeLessThan(40)
  }
})

const ALERTS = 'docs/alerts.yml'

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[]
}

it('docs/alerts.yml names metrics that there are, and metrics.md its rules in this order', async () => {
  const { groups } = parse(await readFile(ALERTS, 'utf8')) as Rules
  const rules = groups.flatMap(({ rules }) => rules)
  const known = new Set(families().map(({ name }) => name))
  for (const { expr } of rules) {
    const used = expr.match(/\b(?:signalbox|process)_\w+/g) ?? []
    expect(used.filter((name) => !known.has(name))).toEqual([])
  }
  const page = await readFile('docs/metrics.md', 'utf8')
  const listed = [...page.matchAll(/^\| `(Signalbox\w+)` \|/gm)].map(([, name]) => name)
  expect(listed).toEqual(rules.map(({ alert }) => alert))
  expect(rules.map(({ expr }) => expr).join()).toMatch(/healthy.*last_backup.*stale.*clock_moved/s)
})
