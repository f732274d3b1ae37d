import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type ClosedPlan, closedLoad, openLoad } from '../../../bench/payments/load.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function server(listener: RequestListener): Promise<number> {
  const listening = createServer(listener)
  closers.push(() => {
    listening.close()
    listening.closeAllConnections()
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  return (listening.address() as AddressInfo).port
}

const ok: RequestListener = (_, response) => response.end('ok')
const request = Buffer.from('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
const supplyOf = (count: number) => () => (count-- > 0 ? request : undefined)

describe('closedLoad', () => {
  const plan: Omit<ClosedPlan, 'port'> = {
    connections: 4,
    warmUpMs: 0,
    countedMs: 10_000,
    drainMs: 0,
  }

  it('ends when there is no more to send, and sends each once', async () => {
    const port = await server(ok)
    const load = await closedLoad(supplyOf(50), { ...plan, port })
    expect(load).toMatchObject({ sent: 50, ok: 50, errors: {} })
    expect(load.perSecond).toBeGreaterThan(50)
  })

  it('counts as an error what is not 200, and 200 with another word', async () => {
    let n = 0
    const port = await server((_, response) => {
      n++
      if (n === 1) response.writeHead(503, { 'content-length': 0 }).end()
      else response.end(n === 2 ? 'duplicate' : 'ok')
    })
    const load = await closedLoad(supplyOf(5), { ...plan, connections: 1, port })
    expect(load).toMatchObject({ sent: 5, ok: 3, errors: { 'HTTP 503': 1, '200 duplicate': 1 } })
  })

  it('counts a connection that breaks, and opens another', async () => {
    let n = 0
    const port = await server((incoming, response) => {
      if (n++ === 0) incoming.socket.destroy()
      else response.end('ok')
    })
    const load = await closedLoad(supplyOf(3), { ...plan, connections: 1, port })
    expect(load).toMatchObject({ sent: 3, ok: 2 })
    expect(Object.values(load.errors)).toEqual([1])
  })

  it('does not wait for ever for an answer that never comes', async () => {
    const port = await server(() => undefined)
    const short = { ...plan, countedMs: 50, drainMs: 50, port }
    const load = await closedLoad(supplyOf(100), short)
    expect(load).toMatchObject({ sent: 4, ok: 0, errors: { 'no answer in time': 4 }, perSecond: 0 })
  })
})

describe('openLoad', () => {
  const plan = { perSecond: 200, forMs: 500, warmUpMs: 0, mostConnections: 2, drainMs: 30_000 }

  it('sends at its rate, however quick the answers are', async () => {
    const load = await openLoad(supplyOf(1_000), { ...plan, port: await server(ok) })
    expect(load).toMatchObject({ sent: 100, ok: 100, errors: {} })
    expect(load.latencies).toHaveLength(100)
  })

  it('counts from when each was to be sent: a pause makes all late that had to wait for it', async () => {
    let n = 0
    const port = await server((_, response) => {
      if (n++ < 2) setTimeout(() => response.end('ok'), 300)
      else response.end('ok')
    })
    const { latencies } = await openLoad(supplyOf(1_000), { ...plan, port })
    // Two connections stood still for 300 ms, in which 60 more were due.
    expect(latencies.filter((ms) => ms > 100).length).toBeGreaterThan(35)
  })

  it('leaves the warm-up out', async () => {
    const port = await server(ok)
    const { latencies } = await openLoad(supplyOf(1_000), { ...plan, warmUpMs: 250, port })
    expect(latencies).toHaveLength(50)
  })
})
