// docs/metrics.md lists what is counted, and nothing else.

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { sidecarMetrics } from '../../sidecar/metrics.ts'
import { boardMetrics } from '../../worker/board/metrics.ts'
import { countingLog } from '../../worker/payments/metrics.ts'
import { accessMetrics } from '../../worker/shared/access.ts'
import { type Family, Metrics } from '../../worker/shared/metrics.ts'
import { processMetrics } from '../../worker/shared/metrics-node.ts'

const CONFIGURED = 'a key of the configuration'

function families(): readonly Family[] {
  const metrics = new Metrics()
  boardMetrics(metrics)
  accessMetrics(metrics)
  countingLog(metrics, [CONFIGURED], () => undefined)
  sidecarMetrics(metrics)
  processMetrics(metrics)
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
