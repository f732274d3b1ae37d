// What the streams of one isolate do with their socket: connect, wait and wake. A fake clock.

import { describe, expect, it } from 'vitest'
import { FakeClock, settle } from '../../../../libraries/testing/fake-clock.ts'
import type { From } from '../../../../worker/board/streams/fan-out.ts'
import {
  type ConnectionSink,
  SharedSubscription,
} from '../../../../worker/board/streams/shared-subscription.ts'
import { idBlock, messageFrame } from '../../../../worker/board/streams/sse.ts'

const encoder = new TextEncoder()
const block = (seq: number) =>
  messageFrame({ epoch: 'e', seq }, { type: 'task-changed', id: `T-${seq}` })

interface Dial {
  /** Who dialled, by what it came with. */
  from: From
  at: number
  streams: number
  sink: ConnectionSink
  /** How many streams it was told of since. */
  reports: number[]
  isClosed: boolean
}

/** The streams of an isolate, and a repository that is at `e-1`. */
function shared(room = { all: 9, each: 9 }) {
  const clock = new FakeClock()
  const dials: Dial[] = []
  const asked: From[] = []
  const logged: string[] = []
  const repository = { isDown: false, head: 1, missed: [idBlock('e-1')], hold: Promise.resolve() }
  const subscription = new SharedSubscription({
    clock,
    room,
    log: (level, event) => logged.push(`${level} ${event}`),
    upstream: {
      async dial(from, streams, sink) {
        const dial: Dial = {
          from,
          at: clock.elapsed(),
          streams,
          sink,
          reports: [],
          isClosed: false,
        }
        dials.push(dial)
        await repository.hold
        if (repository.isDown) throw new Error('unreachable')
        sink.block(encoder.encode(idBlock(`e-${repository.head}`)))
        sink.others(0)
        return {
          report: (n) => dial.reports.push(n),
          close: () => {
            dial.isClosed = true
          },
        }
      },
      async missed(from) {
        asked.push(from)
        if (repository.isDown) throw new Error('unreachable')
        return repository.missed
      },
    },
  })
  /** `since` tells them apart. */
  const open = (since: number, lastEventId?: string) => {
    const sent: string[] = []
    const ends: string[] = []
    const sink = {
      send: (bytes: Uint8Array) => void sent.push(new TextDecoder().decode(bytes)),
      end: (reason: string) => void ends.push(reason),
    }
    const { onPing, close } = subscription.subscribe({ holder: 'ann', since, lastEventId }, sink)
    return { sent, ends, sink, onPing, close }
  }
  const told = (seq: number) => {
    repository.head = seq
    dials.at(-1)?.sink.block(encoder.encode(block(seq)))
  }
  return { clock, dials, asked, logged, repository, subscription, open, told }
}

describe('streams that share a socket', () => {
  it('are sent what it brings, each once, for as long as all are awake', async () => {
    const { clock, dials, subscription, open, told } = shared()
    expect(subscription.isEmpty).toBe(true)
    const streams = [open(1), open(2)]
    await settle()
    told(2)
    // Its leader shows between two pings that it is there.
    for (let ms = 0; ms < 60_000; ms += 15_000) {
      await clock.advance(15_000)
      for (const { onPing } of streams.toReversed()) onPing()
    }
    told(3)
    await settle()
    for (const { sent } of streams) expect(sent.slice(-2)).toEqual([block(2), block(3)])
    expect(dials).toMatchObject([{ from: { since: 1 }, streams: 1 }])
    expect(subscription.isEmpty).toBe(false)
    for (const { close } of streams) close()
    told(4)
    await settle()
    expect([streams[0]?.sent.length, streams[1]?.sent.length]).toEqual([3, 3])
    expect([subscription.isEmpty, dials[0]?.isClosed, clock.pending]).toEqual([true, true, 0])
  })

  it('are refused where there is no room for one more', async () => {
    const { clock, dials, open } = shared({ all: 1, each: 1 })
    const [first, second] = [open(1), open(2)]
    await settle()
    second.onPing()
    second.close()
    expect([first.ends, second.ends, second.sent]).toEqual([[], ['full'], []])
    await clock.advance(10_000)
    expect(dials).toHaveLength(1)
    first.close()
  })

  it('are refused once the repository says that others hold what there is', async () => {
    const { dials, open, repository } = shared({ all: 2, each: 2 })
    const gate = Promise.withResolvers<void>()
    repository.hold = gate.promise
    const [first, second] = [open(1), open(2)]
    await settle()
    dials[0]?.sink.block(encoder.encode(idBlock('e-1')))
    dials[0]?.sink.others(1)
    await settle()
    expect([first.ends, second.ends].flat()).toEqual(['full'])
    gate.resolve()
    await settle()
    first.close()
    second.close()
  })

  it('report how many they are when that changes, and not else', async () => {
    const { clock, dials, open } = shared()
    const first = open(1)
    await settle()
    first.onPing()
    const second = open(2)
    first.onPing()
    first.onPing()
    second.close()
    first.onPing()
    await clock.advance(20_000)
    expect(dials[0]?.reports).toEqual([2, 1])
    first.close()
  })

  it('no longer count those that have vanished', async () => {
    const { clock, dials, open } = shared({ all: 99, each: 99 })
    const streams = Array.from({ length: 80 }, (_, n) => open(n))
    await settle()
    // So many followers have no timer: they are seen at their pings, and eight have none.
    for (let ms = 0; ms < 90_000; ms += 15_000) {
      for (const { onPing } of streams.slice(0, -8)) onPing()
      await clock.advance(15_000)
    }
    expect(dials[0]?.reports).toEqual([80, 72])
    expect(dials).toHaveLength(1)
    for (const { close } of streams) close()
  })
})

describe('a socket', () => {
  it('that closes is dialled again from the newest block, soon, however often before', async () => {
    const { clock, dials, open, told } = shared()
    const stream = open(1)
    await settle()
    told(2)
    for (let n = 0; n < 15; n++) {
      const last = dials.at(-1)
      last?.sink.closed()
      await settle()
      expect(dials.at(-1)).toBe(last)
      await clock.advance(75)
      expect(dials.at(-1)).not.toBe(last)
    }
    expect(dials.at(-1)).toMatchObject({ from: { lastEventId: 'e-2' } })
    told(3)
    await settle()
    expect(stream.sent.slice(-2)).toEqual([block(2), block(3)])
    stream.close()
    expect(clock.pending).toBe(0)
  })

  it('that cannot be opened is tried 16 times by one stream, ever later, and then by another', async () => {
    const { clock, dials, logged, repository, open } = shared()
    repository.isDown = true
    const streams = [open(1), open(2)]
    await clock.advance(200_000)
    const by = dials.map(({ from }) => from.since)
    expect(by.slice(0, 32)).toEqual([...Array<number>(16).fill(1), ...Array<number>(16).fill(2)])
    const waits = dials.slice(1, 16).map(({ at }, n) => at - (dials[n]?.at ?? 0))
    expect(waits.slice(0, 8)).toEqual([75, 150, 300, 600, 1_200, 2_400, 4_800, 7_500])
    expect(new Set(waits.slice(8))).toEqual(new Set([7_500]))
    expect(new Set(logged)).toEqual(new Set(['warn board.subscribe_failed']))
    repository.isDown = false
    await clock.advance(20_000)
    for (const { sent } of streams) expect(sent).toHaveLength(1)
    for (const { close } of streams) close()
    expect(clock.pending).toBe(0)
  })

  it('of a leader that leaves is closed, and another stream dials', async () => {
    const { dials, open, told } = shared()
    const [first, second] = [open(1), open(2)]
    await settle()
    first.close()
    first.close()
    first.onPing()
    await settle()
    expect(dials).toMatchObject([{ isClosed: true }, { from: { since: 2, lastEventId: 'e-1' } }])
    told(2)
    await settle()
    expect(second.sent.at(-1)).toBe(block(2))
    second.close()
  })

  it('that opens after its stream has gone is closed', async () => {
    const { dials, open, repository } = shared()
    const gate = Promise.withResolvers<void>()
    repository.hold = gate.promise
    const stream = open(1)
    await settle()
    stream.close()
    gate.resolve()
    await settle()
    expect(dials).toMatchObject([{ isClosed: true }])
  })
})

describe('a stream', () => {
  it('that came with another id is sent what it missed, as soon as the repository answers', async () => {
    const { clock, asked, logged, repository, open, told } = shared()
    const first = open(1)
    await settle()
    told(3)
    await settle()
    repository.isDown = true
    const late = open(2, 'e-0')
    await clock.advance(75)
    expect(asked).toHaveLength(2)
    repository.isDown = false
    repository.missed = ['data: no id\n\n']
    await clock.advance(150)
    expect([asked.length, late.sent]).toEqual([3, []])
    repository.missed = [block(1), block(3)]
    await clock.advance(300)
    expect(asked).toEqual(Array.from({ length: 4 }, () => ({ since: 2, lastEventId: 'e-0' })))
    expect(logged).toEqual(Array.from({ length: 3 }, () => 'warn board.catch_up_failed'))
    told(4)
    await settle()
    expect(late.sent).toEqual([block(1) + block(3), block(4)])
    for (const { close } of [first, late]) close()
    expect(clock.pending).toBe(0)
  })

  it('that leaves while it waits for what it missed is sent nothing, and asks no more', async () => {
    const { clock, asked, repository, open } = shared()
    const first = open(1)
    await settle()
    const [late, later] = [open(2, 'e-0'), open(3, 'e-0')]
    late.close()
    await settle()
    repository.isDown = true
    const third = open(4, 'e-0')
    await settle()
    third.close()
    await clock.advance(60_000)
    expect([late.sent, later.sent, third.sent]).toEqual([[], [idBlock('e-1')], []])
    expect(asked.length).toBeLessThanOrEqual(3)
    for (const { close } of [first, later]) close()
    expect(clock.pending).toBe(0)
  })

  it('whose client breaks while it is sent something fails alone', async () => {
    const { logged, open, told } = shared()
    const [first, second] = [open(1), open(2)]
    await settle()
    second.sink.send = () => {
      throw new Error('broken')
    }
    told(2)
    await settle()
    expect([first.ends, second.ends, first.sent.at(-1)]).toEqual([[], ['failed'], block(2)])
    expect(logged).toEqual(['error board.stream_failed'])
    for (const { close } of [first, second]) close()
  })
})
