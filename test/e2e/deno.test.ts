// What only Deno can show: its HTTP server. All else that one process does is tested on Node.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../tools/harness/free-port.ts'
import { accessContract } from '../contract/access.ts'
import { boardContract } from '../contract/board.ts'
import { compressionContract } from '../contract/compression.ts'
import { expectHostsRefused } from '../contract/doors.ts'
import { mcpContract } from '../contract/mcp.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'

let edge: EdgeProcess
let metricsPort = 0
beforeAll(async () => {
  metricsPort = await freePort()
  edge = await startEdge('deno', { METRICS_PORT: String(metricsPort) })
})
afterAll(() => edge.close())

boardContract('Deno, over HTTP', { edge: () => edge, sendsConnection: true })
accessContract('Deno, over HTTP', { edge: () => edge })
compressionContract('Deno, over HTTP', { edge: () => edge })
mcpContract('Deno, over HTTP', { edge: () => edge })

it('refuses under Deno a Host header that is no host', () => expectHostsRefused(edge))

it('writes nothing under Deno that another user can read', async () => {
  const names = (await readdir(edge.dir)).filter((name) => name.endsWith('.sqlite'))
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) expect((await stat(join(edge.dir, name))).mode & 0o077).toBe(0)
})

it('shows its numbers under Deno on a port of their own', async () => {
  const read = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  // The end of a stream is seen some time after its client has gone.
  await expect.poll(read).toMatch(/^signalbox_stream_ends_total\{reason="\w+"\} [1-9]/m)
  const text = await read()
  expect(text).toMatch(/^signalbox_signals_total [1-9]/m)
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m)
  expect((await edge.fetch('/metrics')).status).toBe(404)
})

it('says under Deno whether it works, to everybody and as a number', async () => {
  const answer = await edge.fetch('/healthz')
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(text).toMatch(/^signalbox_healthy 1$/m)
  // It was asked at the start, with no right to do so missing.
  expect(await readdir(edge.dir)).not.toContain('healthz.tmp')
})
