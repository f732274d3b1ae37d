// A visible page over the core of the edge, by one clock: when it says that the files' side is
// offline. A message is passed on as the object does it.

import { expect, it } from 'vitest'
import type { BoardState } from '../../../libraries/client/index.ts'
import { openWatch } from '../../../libraries/client/watch-board.ts'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import type { SidecarSocket, ToSend } from '../../../worker/board/presence.ts'
import { openRepository } from '../../../worker/board/repository/open-repository-sqlite.ts'
import { REPORT_MS, SOCKET_PING_MS } from '../../../worker/board/wire.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import { syncRoot } from '../../support/edge.ts'
import { FakeNetwork, type statusAt } from './fake-network.ts'

/** `by`: how a sidecar shows that it is there. */
async function setUp(by: 'pings' | 'reports') {
  const clock = new FakeClock()
  const network = new FakeNetwork()
  const sockets: SidecarSocket[] = []
  const { repository, presence, reads, nextDue } = openRepository(openSql(':memory:'), {
    sockets: () => sockets,
  })
  let run = 0
  const start = () => {
    const synced = repository.sync(syncRoot(null), clock.now())
    run = synced.ok && synced.answer.step === 'root' ? synced.answer.run : 0
    if (by === 'reports') return
    sockets.push({ run, pingedAt: clock.now() })
    presence.opened(run, clock.now())
  }
  start()
  const tell = async ({ frames }: ToSend) => {
    for (const _ of frames) await network.publish({ type: 'tasks-changed' })
  }
  network.status = () => {
    // Who reads it gets what it says from then on.
    presence.checkPings(clock.now())
    const host = { streams: 1, awakeSince: '', now: new Date(clock.now()).toISOString() }
    const found = reads.find({ kind: 'status' }, host)
    if (found.state !== 'found') throw new Error(found.state)
    return JSON.parse([...found.pieces].join('')) as ReturnType<typeof statusAt>
  }
  const states: BoardState['name'][] = []
  const watch = openWatch(
    {
      url: 'https://edge.test',
      path: 'a',
      token: 't',
      fetch: network.fetch,
      onTasks: () => undefined,
      onState: ({ name }) => states.push(name),
    },
    {
      clock,
      isVisible: () => true,
      report: (error) => expect.unreachable(String(error)),
      followLifecycle: () => () => undefined,
    },
  )
  const sidecar = { isAwake: true, everyMs: by === 'pings' ? SOCKET_PING_MS : REPORT_MS }
  let shownAt = clock.elapsed()
  const live = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      await clock.advance(1_000)
      if (sidecar.isAwake && clock.elapsed() - shownAt >= sidecar.everyMs) {
        shownAt = clock.elapsed()
        for (const socket of sockets) socket.pingedAt = clock.now()
        if (by === 'reports') repository.sync(syncRoot(run), clock.now())
      }
      if ((nextDue() ?? clock.now() + 1) <= clock.now()) await tell(presence.onAlarm(clock.now()))
      await network.ping()
    }
  }
  const kill = () => {
    sidecar.isAwake = false
    for (const socket of sockets.splice(0)) presence.closed(socket, clock.now())
  }
  await clock.advance(0)
  return { live, kill, sidecar, start, states, close: () => watch.close() }
}

it('of a killed sidecar is within 15 s, where that held a socket', async () => {
  const { live, kill, states, close } = await setUp('pings')
  await live(40)
  kill()
  await live(9)
  expect(states).toEqual(['live'])
  await live(6)
  expect(states).toEqual(['live', 'stale'])
  await close()
})

it.each([
  ...[60, 66, 72, 78, 84].map((at) => ['pings', at] as const),
  ...[60, 66, 72, 78, 84].map((at) => ['reports', at] as const),
])('of a frozen one is within 90 s, by its %s, whenever it froze (%i s)', async (by, at) => {
  const { live, sidecar, states, close } = await setUp(by)
  await live(at)
  expect(states).toEqual(['live'])
  sidecar.isAwake = false
  await live(90)
  expect(states).toEqual(['live', 'stale'])
  sidecar.isAwake = true
  await live(60)
  expect(states).toEqual(['live', 'stale', 'live'])
  await close()
})

it.each(['pings', 'reports'] as const)(
  'of one that starts again within 8 s, or sleeps for a short time, never is, by its %s',
  async (by) => {
    const { live, kill, sidecar, start, states, close } = await setUp(by)
    for (let n = 0; n < 10; n++) {
      await live(37)
      kill()
      await live(8)
      sidecar.isAwake = true
      start()
      await live(41)
      sidecar.isAwake = false
      await live(15)
      sidecar.isAwake = true
    }
    expect(states).toEqual(['live'])
    await close()
  },
)
