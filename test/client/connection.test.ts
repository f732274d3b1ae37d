// How a stream is kept open, without a network and with a clock that a test moves.

import { describe, expect, it } from 'vitest'
import { Connection } from '../../client/connection.ts'
import { FakeClock, settle } from '../support/fake-clock.ts'
import { FakeStreams, unauthorized } from './fake-streams.ts'

async function connected(prepare: (edge: FakeStreams) => void = () => undefined, seesPings = true) {
  const clock = new FakeClock()
  const edge = new FakeStreams()
  prepare(edge)
  const heard: string[] = []
  const connection = new Connection({
    streams: edge.source(queueMicrotask, seesPings),
    clock,
    on: {
      opened: () => heard.push('opened'),
      alive: () => undefined,
      told: (data) => heard.push((JSON.parse(data) as { id: string }).id),
      place: () => undefined,
      lost: (reason) => heard.push(`lost: ${reason}`),
      refused: ({ code }) => heard.push(`refused: ${code}`),
    },
  })
  connection.start()
  await settle()
  return { clock, edge, heard, connection }
}

describe('a connection', () => {
  it('dials again from the last id when the edge ends the stream, as late as the edge asked', async () => {
    const { clock, edge, heard } = await connected((it) => {
      it.retryMs = 4_000
    })
    edge.tell('A-1')
    await clock.advance(60)
    edge.cut()
    await settle()
    edge.tell('A-2')
    await clock.advance(3_999)
    expect(edge.dials).toHaveLength(1)
    await clock.advance(1)
    expect(heard).toEqual(['opened', 'A-1', 'lost: ended', 'A-2', 'opened'])
    expect(edge.dials[1]?.lastEventId).toBe('e-1')
  })

  it('takes silence of two pings and a half for a dead connection, and dials at once', async () => {
    const { clock, edge, heard } = await connected()
    for (let i = 0; i < 4; i++) {
      await clock.advance(15_000)
      edge.ping()
      await settle()
    }
    await clock.advance(37_499)
    expect(heard).toEqual(['opened'])
    await clock.advance(1)
    expect(heard).toEqual(['opened', 'lost: silent', 'opened'])
    expect(edge.open.size).toBe(1)
  })

  it('goes by what came, not by a timer that was late', async () => {
    const { clock, edge, heard } = await connected()
    await clock.advance(10_000)
    // A hidden tab: a minute goes by, a ping comes, and the timer for silence is late.
    const { now } = clock
    clock.now = () => now() + 60_000
    edge.ping()
    await clock.advance(27_500)
    expect(heard).toEqual(['opened'])
    await clock.advance(10_000)
    expect(heard).toEqual(['opened', 'lost: silent', 'opened'])
  })

  it('takes a clock that was set back for silence', async () => {
    const { clock, heard } = await connected()
    const { now } = clock
    clock.now = () => now() - 3_600_000
    await clock.advance(38_250)
    expect(heard).toEqual(['opened', 'lost: silent', 'opened'])
  })

  it('waits longer after each failure, at most 30 s, and no longer once it lived', async () => {
    const { clock, edge } = await connected((it) => {
      it.end = { reason: 'unreachable' }
    })
    const waits: number[] = []
    for (let i = 0; i < 7; i++) {
      waits.push(clock.waits[0] ?? 0)
      await clock.advance(waits[i] ?? 0)
    }
    // Three quarters, since chance is a half here.
    expect(waits).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500])
    edge.end = undefined
    await clock.advance(22_500)
    await clock.advance(10_000)
    edge.cut()
    await settle()
    expect(clock.waits).toEqual([750])
  })

  it('backs off from an edge that takes streams and ends them at once', async () => {
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

  it('does not dial what refused it, until it is woken', async () => {
    const { clock, edge, heard, connection } = await connected((it) => {
      it.end = unauthorized()
    })
    expect(heard).toEqual(['refused: unauthorized'])
    expect(clock.pending).toBe(0)
    edge.end = undefined
    connection.wake()
    await settle()
    expect(heard).toEqual(['refused: unauthorized', 'opened'])
  })

  it('is replaced before its token ends, with nothing lost and nothing said', async () => {
    const { clock, edge, heard } = await connected((it) => {
      it.renewAt = new FakeClock().now() + 20_000
    })
    edge.tell('A-1')
    await clock.advance(19_999)
    edge.renewAt = Number.POSITIVE_INFINITY
    expect(edge.dials).toHaveLength(1)
    await clock.advance(1)
    edge.tell('A-2')
    await settle()
    expect(edge.dials.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'e-1'])
    expect(edge.open.size).toBe(1)
    expect(heard).toEqual(['opened', 'A-1', 'opened', 'A-2'])
  })

  it('redials at once when it is woken, unless all is well', async () => {
    const { clock, edge, heard, connection } = await connected()
    connection.wake()
    await settle()
    expect(edge.dials).toHaveLength(1)
    // One ping is missing: a machine that slept wakes before its timers do.
    await clock.advance(23_000)
    connection.wake()
    await settle()
    expect(heard).toEqual(['opened', 'lost: silent', 'opened'])
    edge.end = { reason: 'unreachable' }
    edge.cut()
    await clock.advance(30_000)
    edge.end = undefined
    connection.wake()
    await settle()
    expect(heard.at(-1)).toBe('opened')
  })

  it('is replaced in silence when it is woken, where pings cannot be seen', async () => {
    const { clock, edge, heard, connection } = await connected(undefined, false)
    edge.tell('A-1')
    await clock.advance(3_600_000)
    expect(heard).toEqual(['opened', 'A-1'])
    connection.wake()
    await settle()
    expect(heard).toEqual(['opened', 'A-1', 'opened'])
    expect(edge.dials.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'e-1'])
    expect(edge.open.size).toBe(1)
  })

  it('leaves nothing behind, and says nothing more', async () => {
    const { clock, edge, heard, connection } = await connected()
    edge.tell('A-1')
    await connection.close()
    await settle()
    expect(heard).toEqual(['opened'])
    expect(edge.open.size).toBe(0)
    expect(clock.pending).toBe(0)
  })
})
