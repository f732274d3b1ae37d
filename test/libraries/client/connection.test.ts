// How a connection keeps its stream open, without a network and with a fake clock.

import { describe, expect, it } from 'vitest'
import { Connection } from '../../../libraries/client/connection.ts'
import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'
import { FakeStreams, unauthorized } from './fake-streams.ts'

async function connected(prepare: (edge: FakeStreams) => void = () => undefined, seesPings = true) {
  const clock = new FakeClock()
  const edge = new FakeStreams()
  prepare(edge)
  const events: string[] = []
  const connection = new Connection({
    streams: edge.source(seesPings),
    clock,
    on: {
      opened: () => events.push('opened'),
      alive: () => undefined,
      message: (data) => events.push((JSON.parse(data) as { id: string }).id),
      lost: (reason) => events.push(`lost: ${reason}`),
      refused: ({ code }) => events.push(`refused: ${code}`),
    },
  })
  connection.start()
  await settle()
  return { clock, edge, events, connection }
}

describe('a connection', () => {
  it('dials again from the last id when the edge ends the stream, not before the edge’s retry time', async () => {
    const { clock, edge, events } = await connected((it) => {
      it.retryMs = 4_000
    })
    edge.publish('A-1')
    await clock.advance(60)
    edge.cut()
    await settle()
    edge.publish('A-2')
    await clock.advance(3_999)
    expect(edge.dials).toHaveLength(1)
    await clock.advance(1)
    expect(events).toEqual(['opened', 'A-1', 'lost: ended', 'A-2', 'opened'])
    expect(edge.dials[1]?.lastEventId).toBe('e-1')
  })

  it('counts silence of two and a half pings as a dead connection, and dials at once', async () => {
    const { clock, edge, events } = await connected()
    for (let i = 0; i < 4; i++) {
      await clock.advance(15_000)
      edge.ping()
      await settle()
    }
    await clock.advance(37_499)
    expect(events).toEqual(['opened'])
    await clock.advance(1)
    expect(events).toEqual(['opened', 'lost: silent', 'opened'])
    expect(edge.open.size).toBe(1)
  })

  it('is not lost when only its silence timer is late', async () => {
    const { clock, edge, events } = await connected()
    await clock.advance(10_000)
    // A hidden tab: after a minute a ping arrives, and the silence timer is late.
    const { now } = clock
    clock.now = () => now() + 60_000
    edge.ping()
    await clock.advance(27_500)
    expect(events).toEqual(['opened'])
    await clock.advance(10_000)
    expect(events).toEqual(['opened', 'lost: silent', 'opened'])
  })

  it('counts a clock that was set back as silence', async () => {
    const { clock, events } = await connected()
    const { now } = clock
    clock.now = () => now() - 3_600_000
    await clock.advance(38_250)
    expect(events).toEqual(['opened', 'lost: silent', 'opened'])
  })

  it('waits longer after each failure, at most 30 s, and starts again after a healthy stream', async () => {
    const { clock, edge } = await connected((it) => {
      it.end = { reason: 'unreachable' }
    })
    const waits: number[] = []
    for (let i = 0; i < 7; i++) {
      waits.push(clock.waits[0] ?? 0)
      await clock.advance(waits[i] ?? 0)
    }
    // Three quarters of the wait, since `random` is 0.5 here.
    expect(waits).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500])
    edge.end = undefined
    await clock.advance(22_500)
    await clock.advance(10_000)
    edge.cut()
    await settle()
    expect(clock.waits).toEqual([750])
  })

  it('backs off from an edge that accepts streams and ends them at once', async () => {
    const { clock, edge } = await connected()
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      edge.cut()
      await settle()
      waits.push(clock.waits[0] ?? 0)
      await clock.advance(waits[i] ?? 0)
    }
    expect(waits).toEqual([750, 1_500, 3_000, 6_000])
  })

  it('does not dial after a refusal, until wake()', async () => {
    const { clock, edge, events, connection } = await connected((it) => {
      it.end = unauthorized()
    })
    expect(events).toEqual(['refused: unauthorized'])
    expect(clock.pending).toBe(0)
    edge.end = undefined
    connection.wake()
    await settle()
    expect(events).toEqual(['refused: unauthorized', 'opened'])
  })

  it('is replaced before its token expires, without a lost message or an event', async () => {
    const { clock, edge, events } = await connected((it) => {
      it.renewAt = new FakeClock().now() + 20_000
    })
    edge.publish('A-1')
    await clock.advance(19_999)
    edge.renewAt = Number.POSITIVE_INFINITY
    expect(edge.dials).toHaveLength(1)
    await clock.advance(1)
    edge.publish('A-2')
    await settle()
    expect(edge.dials.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'e-1'])
    expect(edge.open.size).toBe(1)
    expect(events).toEqual(['opened', 'A-1', 'opened', 'A-2'])
  })

  it('redials at once on wake(), unless the stream is healthy', async () => {
    const { clock, edge, events, connection } = await connected()
    connection.wake()
    await settle()
    expect(edge.dials).toHaveLength(1)
    // One ping is missing: after a sleep of the machine, wake() may run before the timers.
    await clock.advance(23_000)
    connection.wake()
    await settle()
    expect(events).toEqual(['opened', 'lost: silent', 'opened'])
    edge.end = { reason: 'unreachable' }
    edge.cut()
    await clock.advance(30_000)
    edge.end = undefined
    connection.wake()
    await settle()
    expect(events.at(-1)).toBe('opened')
  })

  it('is replaced without an event on wake(), if the source does not see pings', async () => {
    const { clock, edge, events, connection } = await connected(undefined, false)
    edge.publish('A-1')
    await clock.advance(3_600_000)
    expect(events).toEqual(['opened', 'A-1'])
    connection.wake()
    await settle()
    expect(events).toEqual(['opened', 'A-1', 'opened'])
    expect(edge.dials.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'e-1'])
    expect(edge.open.size).toBe(1)
  })

  it('leaves no stream or timer after close(), and calls no event', async () => {
    const { clock, edge, events, connection } = await connected()
    edge.publish('A-1')
    await connection.close()
    await settle()
    expect(events).toEqual(['opened'])
    expect(edge.open.size).toBe(0)
    expect(clock.pending).toBe(0)
  })
})
