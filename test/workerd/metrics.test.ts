// Numbers on Cloudflare: lines of the log, and nothing that wakes an object.

import { createScheduledController, env, evictDurableObject, SELF } from 'cloudflare:test'
import { afterEach, expect, it, vi } from 'vitest'
import type { RepositoryObject } from '../../worker/board/repository/repository-object.ts'
import worker from '../../worker/index.ts'
import { type Edge, publishedRepo, taskRecord } from '../support/edge.ts'
import { documentedFetch } from '../support/openapi-operations.ts'

const namespace = (env as unknown as { REPOSITORY: DurableObjectNamespace<RepositoryObject> })
  .REPOSITORY
const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }

afterEach(() => vi.restoreAllMocks())

function metricsLines() {
  const lines: { values: Record<string, number> }[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => {
    if (line.includes('"event":"metrics"')) lines.push(JSON.parse(line))
  })
  return lines
}
const scheduled = () => worker.scheduled(createScheduledController(), env as never)

it('The cron trigger writes what was counted, as one line, and nothing where nothing was', async () => {
  await scheduled()
  const lines = metricsLines()
  await publishedRepo(edge, [taskRecord('A-1'), taskRecord('A-2')])
  expect(lines).toEqual([])
  await scheduled()
  await scheduled()
  expect(lines).toHaveLength(1)
  expect(lines[0]?.values).toMatchObject({
    'signalbox_publish_requests_total{step="changes",outcome="accepted"}': 1,
    signalbox_batch_records_sum: 2,
    signalbox_batch_records_count: 1,
  })
  expect(lines[0]?.values.signalbox_signals_total).toBeGreaterThan(0)
})

it('Neither that line nor somebody who looks for /metrics wakes an object', async () => {
  const repo = await publishedRepo(edge, [taskRecord('A-1')])
  await evictDurableObject(namespace.getByName(repo.path))
  const lines = metricsLines()
  await scheduled()
  expect((await edge.fetch('/metrics')).status).toBe(404)
  const readAt = Date.now()
  expect(lines).toHaveLength(1)
  // Whatever had woken it before would be the beginning of this life.
  const { awakeSince } = await repo.json<{ awakeSince: string }>('/status')
  expect(Date.parse(awakeSince)).toBeGreaterThanOrEqual(readAt)
})
