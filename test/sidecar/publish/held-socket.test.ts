import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import type { EdgeSocket, SocketEvents } from '../../../sidecar/publish/edge.ts'
import { HeldSocket } from '../../../sidecar/publish/held-socket.ts'
import { COMPARE_MS, REPORT_MS, SOCKET_PING_MS } from '../../../worker/board/wire.ts'
import { network, task } from '../fake-edge.ts'
import { MINUTE, once, PRESENT, setUp } from './publisher-setup.ts'

/** An edge that takes sockets; each of them answers until it is told not to. */
function setUpSockets() {
  const it = setUp(3)
  const { edge } = it
  const dials: { run: number; sent: string[]; on: SocketEvents; isClosed: boolean }[] = []
  const conditions = { opens: true, answers: true }
  edge.takesSocket = true
  edge.attach = (run, on): EdgeSocket => {
    const dialled = { run, sent: [] as string[], on, isClosed: false }
    dials.push(dialled)
    queueMicrotask(() => (conditions.opens ? on.open() : on.closed()))
    return {
      send(text) {
        dialled.sent.push(text)
        if (conditions.answers) queueMicrotask(() => on.text('pong'))
      },
      close: () => {
        dialled.isClosed = true
      },
    }
  }
  return { ...it, dials, conditions }
}

async function setUpAttached() {
  const it = setUpSockets()
  await it.start()
  // In the middle of the ten seconds.
  await it.clock.advance(5_000)
  it.edge.log.length = 0
  return it
}

const FAILED = { ok: false, reason: 'busy', status: 503, message: 'It is full.' } as const

describe('over a socket', () => {
  it('pings at once and every 25 s, and sends nothing else for almost an hour', async () => {
    const { edge, clock, dials } = await setUpAttached()
    expect(dials[0]).toMatchObject({ run: 1, sent: ['ping'] })
    await clock.advance(0.75 * COMPARE_MS)
    expect(dials[0]?.sent).toHaveLength(1 + (0.75 * COMPARE_MS) / SOCKET_PING_MS)
    expect(edge.steps).toEqual([])
    await clock.advance(0.25 * COMPARE_MS)
    expect(edge.steps).toEqual(['root'])
    expect(dials).toHaveLength(1)
  })

  it('counts a pong as a sync, for health checks', async () => {
    const { publisher, clock } = await setUpAttached()
    await clock.advance(10 * MINUTE)
    expect(clock.now() - (publisher.status().lastSyncAt ?? 0)).toBeLessThan(SOCKET_PING_MS)
  })

  it('does not ping while its last post has failed, and pings when one is taken', async () => {
    const { edge, records, publisher, clock, dials } = await setUpAttached()
    edge.fail = () => FAILED
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(5 * MINUTE)
    const { length } = dials[0]?.sent ?? []
    expect(length).toBe(1)
    edge.fail = () => undefined
    await clock.advance(MINUTE)
    expect(dials[0]?.sent.length).toBeGreaterThan(length)
  })

  it('does not ping while something is unsent for 30 s', async () => {
    const { edge, records, publisher, clock, dials } = await setUpAttached()
    const answer = Promise.withResolvers<undefined>()
    edge.fail = () => answer.promise
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(30_000)
    const { length } = dials[0]?.sent ?? []
    await clock.advance(5 * MINUTE)
    expect(dials[0]?.sent).toHaveLength(length)
    answer.resolve(undefined)
    await clock.advance(SOCKET_PING_MS)
    expect(dials[0]?.sent.length).toBeGreaterThan(length)
  })

  it('dials again when a ping is not answered, and compares everything then', async () => {
    const { edge, clock, dials, conditions } = await setUpAttached()
    conditions.answers = false
    await clock.advance(SOCKET_PING_MS + 10_000)
    expect(dials[0]?.isClosed).toBe(true)
    conditions.answers = true
    await clock.advance(MINUTE)
    expect(dials).toHaveLength(2)
    expect(edge.steps).toEqual(['root'])
  })

  it.each([0, 1])(
    'has dialled again before the edge would tell that it is gone (%s)',
    async (random) => {
      const { clock, dials, conditions } = await setUpAttached()
      clock.random = () => random
      // It pinged almost 25 s ago when the edge is deployed, and nothing closes the socket.
      await clock.advance(SOCKET_PING_MS - 1)
      conditions.answers = false
      await clock.advance(10_001)
      conditions.answers = true
      await clock.advance(55_000 - SOCKET_PING_MS - 10_000)
      expect(dials).toHaveLength(2)
      // Where something does, nothing is told for ten seconds.
      dials[1]?.on.closed()
      await clock.advance(9_000)
      expect(dials).toHaveLength(3)
    },
  )

  it('reports as ever where every socket is refused, and dials ever more rarely', async () => {
    const { edge, clock, dials, conditions } = await setUpAttached()
    conditions.opens = false
    dials[0]?.on.closed()
    await clock.advance(60 * MINUTE)
    expect(edge.steps.length).toBeGreaterThanOrEqual((60 * MINUTE) / REPORT_MS)
    expect(dials.length).toBeLessThan(100)
    expect(dials.length).toBeGreaterThan(20)
  })

  it('asks for its turn when the other sidecar is gone, and not every second', async () => {
    const { edge, publisher, records, clock, dials } = await setUpAttached()
    edge.run = 2
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(4 * MINUTE)
    expect(edge.steps).toEqual(['changes'])
    edge.ended = true
    dials[0]?.on.text('free')
    await clock.advance(5_000)
    expect(edge.steps.slice(0, 2)).toEqual(['changes', 'root'])
    expect(edge.held.map.get('task:T-1')).toMatchObject(task(1, 2))
    // Its run is another one now.
    expect(dials.map(({ run, isClosed }) => [run, isClosed])).toEqual([
      [1, true],
      [3, false],
    ])
  })

  it('asks once an hour while another sidecar leads, and five minutes after it asked for a change', async () => {
    const { edge, publisher, records, clock, dials } = await setUpAttached()
    edge.run = 2
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(24 * 60 * MINUTE)
    expect(edge.steps).toEqual(['changes', ...Array.from({ length: 24 }, () => 'root')])
    // Or what is between would cut it off.
    expect(dials).toHaveLength(1)
    expect(dials[0]?.sent).toHaveLength(1 + (24 * 60 * MINUTE) / SOCKET_PING_MS)
    expect(publisher.status().lastSyncAt).toBeLessThan(clock.now() - 23 * 60 * MINUTE)

    edge.log.length = 0
    await clock.advance(MINUTE)
    for (let n = 0; n < 60; n++) {
      publisher.changed(records.put(task(1, 3 + n)))
      await clock.advance(10_000)
    }
    expect(edge.steps).toEqual(['root', 'root'])
  })

  it('that waits asks at once when its socket is open again, since it may have been told meanwhile', async () => {
    const { edge, publisher, records, clock, dials } = await setUpAttached()
    edge.run = 2
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(MINUTE)
    edge.ended = true
    dials[0]?.on.closed()
    await clock.advance(MINUTE)
    expect(edge.steps.slice(0, 2)).toEqual(['changes', 'root'])
    expect(edge.held.map.get('task:T-1')).toMatchObject(task(1, 2))
  })

  it('that waits asks each second or so where every socket is refused from then on', async () => {
    const { edge, publisher, records, clock, dials, conditions } = await setUpAttached()
    edge.run = 2
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(MINUTE)
    conditions.opens = false
    dials[0]?.on.closed()
    await clock.advance(2 * MINUTE)
    expect(edge.steps.length).toBeGreaterThan(60)
  })

  it('ends with its publisher, and leaves no timer', async () => {
    const { publisher, clock, dials } = await setUpAttached()
    const closed = publisher.close()
    await clock.advance(10_000)
    await closed
    expect(dials[0]?.isClosed).toBe(true)
    expect(clock.pending).toBe(0)
  })
})

describe('a sidecar that is announced before it knows its board', () => {
  it('holds a socket of the run that it goes on with, and pings when all is compared', async () => {
    const { edge, publisher, clock, dials, start } = setUpSockets()
    publisher.announce(PRESENT)
    await clock.advance(MINUTE)
    expect(edge.steps).toEqual(['root'])
    expect(dials).toMatchObject([{ run: 1, sent: [] }])
    await start()
    await clock.advance(5_000)
    expect(edge.run).toBe(1)
    expect(dials).toMatchObject([{ run: 1, sent: ['ping'] }])
  })

  it('says nothing of what is current', async () => {
    const { edge, publisher, clock } = setUp(3)
    edge.held.map.clear()
    publisher.announce(PRESENT)
    await clock.advance(1)
    const [root] = edge.log
    expect(root).toMatchObject({ step: 'root', run: null, root: 'f'.repeat(32) })
    expect(publisher.status()).toMatchObject({ lastSyncAt: null, behind: true })
  })

  it('begins as ever where that failed', async () => {
    const { edge, publisher, start } = setUp(3)
    edge.fail = once(network)
    publisher.announce(PRESENT)
    await start()
    expect(edge.steps).toEqual(['root', 'root', 'buckets', 'entries', 'changes'])
    expect(edge.run).toBe(1)
  })

  it('ends in order, also before it knew its board', async () => {
    const { edge, publisher, clock, dials } = setUpSockets()
    publisher.announce(PRESENT)
    await clock.advance(5_000)
    await publisher.close()
    expect(edge.steps).toEqual(['root', 'end'])
    expect(dials).toMatchObject([{ isClosed: true }])
    expect(clock.pending).toBe(0)
  })
})

it('is dialled for the 250 boards of a process over ten seconds', async () => {
  const clock = new FakeClock()
  // The numbers of any hash are spread like random ones, and the same in each run.
  let n = 0
  clock.random = () => Number.parseInt(hash('sha256', String(n++)).slice(0, 8), 16) / 2 ** 32
  const dialledInSecond = new Array<number>(10).fill(0)
  const from = clock.elapsed()
  const attach = () => {
    const second = Math.floor((clock.elapsed() - from) / 1_000)
    dialledInSecond[second] = (dialledInSecond[second] ?? 0) + 1
    return { send: () => undefined, close: () => undefined }
  }
  const boards = Array.from({ length: 250 }, () => {
    const calls = { onOpen: () => undefined, onPong: () => undefined, onLost: () => undefined }
    const deps = { edge: { attach }, clock, mayPing: () => true, onFree: () => undefined }
    return new HeldSocket({ ...deps, ...calls })
  })
  for (const board of boards) board.hold(1)
  await clock.advance(9_999)
  expect(dialledInSecond).toHaveLength(10)
  expect(dialledInSecond.reduce((sum, dialled) => sum + dialled)).toBe(250)
  expect(Math.max(...dialledInSecond)).toBeLessThan(50)
  expect(Math.min(...dialledInSecond)).toBeGreaterThan(5)
  for (const board of boards) board.close()
  expect(clock.pending).toBe(0)
})

it('dials nowhere where the way to the edge takes no socket', async () => {
  const { edge, clock, start } = setUp(3)
  edge.takesSocket = true
  await start()
  await clock.advance(5 * MINUTE)
  expect(edge.steps.length).toBeGreaterThanOrEqual(10)
})
