// The states of a watch, with a fake network that can fail and a fake clock.

import { describe, expect, it } from 'vitest'
import type { BoardState, WatchBoardOptions } from '../../../libraries/client/index.ts'
import type { WatchDeps } from '../../../libraries/client/watch.ts'
import { openWatch } from '../../../libraries/client/watch-board.ts'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { FakeNetwork, hangs, refusal, statusAt } from './fake-network.ts'

type Lifecycle = Parameters<WatchDeps['followLifecycle']>[0]

async function watching(
  options: Partial<WatchBoardOptions> = {},
  network = new FakeNetwork(),
  begin: (clock: FakeClock) => void = () => undefined,
  isHidden = false,
) {
  const clock = new FakeClock()
  begin(clock)
  const start = clock.now()
  const calls: unknown[][] = []
  const reported: unknown[] = []
  const states: BoardState[] = []
  let page: Lifecycle | undefined
  let isVisible = !isHidden
  const watch = openWatch(
    {
      url: 'https://edge.test',
      path: 'a',
      token: 't',
      fetch: network.fetch,
      onTasks: (tasks) => calls.push(['tasks', ...tasks.map(({ id }) => id)]),
      onTask: (task, id) => calls.push([id, task?.title]),
      onState: (state) => states.push(state),
      ...options,
    },
    {
      clock,
      isVisible: () => isVisible,
      report: (error) => reported.push(error),
      followLifecycle: (on) => {
        page = on
        return () => {
          page = undefined
        }
      },
    },
  )
  await clock.advance(0)
  const names = () => states.map(({ name }) => name)
  const now = () => clock.now() - start
  const hide = () => {
    isVisible = false
    page?.hide()
  }
  const show = () => {
    isVisible = true
    page?.wake()
  }
  return {
    network,
    clock,
    calls,
    reported,
    states,
    names,
    now,
    watch,
    page: () => page,
    hide,
    show,
  }
}

const CHANGED = { type: 'tasks-changed' }

describe('the state of a watch', () => {
  it('is live once the stream is open and the lists are read, and currentAt moves with the reports of the sidecar', async () => {
    const { clock, network, states, watch } = await watching()
    await clock.advance(0)
    expect(states).toEqual([{ name: 'live', since: 1_000_000, currentAt: 1_000_000 }])
    await clock.advance(15_000)
    await network.ping()
    expect(watch.state).toEqual({ name: 'live', since: 1_000_000, currentAt: 1_000_000 })
    await clock.advance(15_000)
    await network.ping()
    expect(watch.state).toEqual({ name: 'live', since: 1_000_000, currentAt: 1_030_000 })
    expect(states).toHaveLength(1)
  })

  it('is not live while a refetch fails, keeps its currentAt, and retries until it succeeds', async () => {
    const { clock, network, names, states, calls } = await watching()
    network.overrides.set('/tasks', () => refusal(500, 'internal'))
    await clock.advance(10_000)
    await network.publish(CHANGED)
    expect(states.at(-1)).toEqual({
      name: 'reconnecting',
      since: 1_010_000,
      currentAt: 1_000_000,
      reason: 'behind',
    })
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    await network.ping()
    await clock.advance(10_000)
    const tries = network.requests.filter((route) => route === '/tasks').length
    expect(tries).toBeGreaterThan(3)
    expect(tries).toBeLessThan(8)
    network.overrides.clear()
    await network.ping()
    await clock.advance(12_000)
    expect(names()).toEqual(['live', 'reconnecting', 'live'])
    expect(calls).toEqual([['tasks'], ['tasks', 'A-1'], ['A-1', undefined]])
  })

  it('is not live when a refetch takes longer than 3 s, and is live at once when it succeeds', async () => {
    const { clock, network, names } = await watching()
    let answer: (response: Response) => void = () => undefined
    network.overrides.set('/tasks', () => new Promise((resolve) => (answer = resolve)))
    await network.publish(CHANGED)
    await clock.advance(2_999)
    expect(names()).toEqual(['live'])
    await clock.advance(1)
    expect(names()).toEqual(['live', 'reconnecting'])
    answer(Response.json({ tasks: [] }))
    await clock.advance(0)
    expect(names()).toEqual(['live', 'reconnecting', 'live'])
  })

  it('is live again only after a new read, and calls back only if the value changed', async () => {
    const { clock, network, names, states, calls } = await watching()
    await clock.advance(20_000)
    await network.cut()
    expect(states.at(-1)).toMatchObject({ reason: 'ended', currentAt: 1_000_000 })
    network.overrides.set('/tasks', hangs)
    await clock.advance(2_000)
    expect(network.streams.size).toBe(1)
    expect(names()).toEqual(['live', 'reconnecting'])
    network.overrides.clear()
    // The hanging request is aborted and repeated.
    await clock.advance(15_000)
    await network.ping()
    await clock.advance(8_000)
    expect(names()).toEqual(['live', 'reconnecting', 'reconnecting', 'live'])
    expect(states[2]).toMatchObject({ reason: 'behind', currentAt: 1_000_000 })
    expect(calls).toEqual([['tasks']])
  })

  it('is connecting, with the reason, until the first success', async () => {
    const network = new FakeNetwork()
    const fail = () => Promise.reject(new TypeError('nobody there'))
    for (const route of ['/events', '/tasks']) network.overrides.set(route, fail)
    const { clock, states } = await watching({}, network)
    await clock.advance(60_000)
    expect(states).toEqual([{ name: 'connecting', since: 1_000_000, reason: 'unreachable' }])
    network.overrides.clear()
    await clock.advance(60_000)
    expect(states[1]?.name).toBe('live')
  })

  it('is waiting, with its stream open, until a sidecar publishes', async () => {
    const network = new FakeNetwork()
    network.overrides.set('/tasks', () => refusal(404, 'unknown_repository'))
    const { clock, names, calls } = await watching({}, network)
    await clock.advance(5_000)
    expect(names()).toEqual(['waiting'])
    network.overrides.clear()
    await network.publish(CHANGED)
    expect(names()).toEqual(['waiting', 'live'])
    expect(calls).toEqual([['tasks']])
  })

  it('is refused when a read is refused, closes the stream, and is live again after refetch()', async () => {
    const { clock, network, states, names, watch } = await watching()
    for (const route of ['/tasks', '/events']) {
      network.overrides.set(route, () => refusal(401, 'unauthorized'))
    }
    await network.publish(CHANGED)
    expect(states.at(-1)).toMatchObject({ name: 'refused', code: 'unauthorized', error: 'No.' })
    expect(network.streams.size).toBe(0)
    const { length } = network.requests
    await clock.advance(600_000)
    expect(network.requests).toHaveLength(length)
    await watch.refetch()
    expect(watch.state.name).toBe('refused')
    network.overrides.clear()
    await watch.refetch()
    await clock.advance(0)
    expect(names().at(-1)).toBe('live')
  })

  it('closes the stream while its page is in the history, and is live when the page is back', async () => {
    const { clock, network, names, calls, page } = await watching()
    page()?.sleep()
    expect(network.streams.size).toBe(0)
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    await clock.advance(600_000)
    page()?.wake()
    await clock.advance(0)
    expect(names()).toEqual(['live', 'reconnecting', 'live'])
    expect(calls.at(-1)).toEqual(['tasks', 'A-1'])
  })

  it('has no stream while its page is hidden, and resumes after the last id once it is shown', async () => {
    const { clock, network, states, watch, hide, show } = await watching()
    await network.publish({ type: 'task-changed', id: 'A-1' })
    hide()
    expect(network.streams.size).toBe(0)
    expect(states.at(-1)).toMatchObject({ name: 'reconnecting', reason: 'hidden' })
    await watch.refetch()
    await clock.advance(600_000)
    expect(network.streams.size).toBe(0)
    show()
    await clock.advance(0)
    expect(network.streams.size).toBe(1)
    expect(watch.state.name).toBe('live')
    expect(network.resumed).toEqual([null, 'e-1'])
  })

  it('opens no stream where the page begins hidden, and reads the board all the same', async () => {
    const { network, calls, states, watch, show, clock } = await watching(
      {},
      undefined,
      undefined,
      true,
    )
    expect([network.streams.size, calls]).toEqual([0, [['tasks']]])
    expect(watch.state).toMatchObject({ name: 'connecting', reason: 'hidden' })
    show()
    await clock.advance(0)
    expect(network.streams.size).toBe(1)
    expect(states.at(-1)?.name).toBe('live')
  })

  it('keeps the stream of a hidden page that asks for it, but none of a page in the history', async () => {
    const { network, names, hide, page } = await watching({ keepWhileHidden: true })
    hide()
    expect([network.streams.size, names()]).toEqual([1, ['live']])
    page()?.sleep()
    expect(network.streams.size).toBe(0)
  })
})

describe('a watch of a board that nobody reports any more', () => {
  /** An edge whose clock is an hour ahead. The sidecar reports each 30 s until `diesAt` (ms). */
  async function reporting(options: Partial<WatchBoardOptions> & { diesAt?: number } = {}) {
    const network = new FakeNetwork()
    let now = () => 0
    const sidecar = { diesAt: options.diesAt ?? Number.POSITIVE_INFINITY }
    network.status = () => {
      const lastAt = Math.min(now(), sidecar.diesAt)
      return statusAt(now() + HOUR, HOUR + lastAt - (lastAt % 30_000))
    }
    const watched = await watching(options, network, (clock) => {
      const start = clock.now()
      now = () => clock.now() - start
    })
    const asked = () => network.requests.filter((route) => route === '/status').length
    const live = async (seconds: number) => {
      for (let n = 0; n < seconds; n++) {
        await watched.clock.advance(1_000)
        await network.ping()
      }
    }
    return { ...watched, sidecar, asked, live }
  }
  const HOUR = 3_600_000

  it('is live for as long as reports come, and asks once for each', async () => {
    const { live, names, asked } = await reporting()
    const before = asked()
    await live(600)
    expect(names()).toEqual(['live'])
    expect(asked() - before).toBeLessThanOrEqual(21)
  })

  it.each([31_000, 45_000, 59_000])(
    'is stale within 60 s of the end of the sidecar at %i ms, and live within 60 s of its return',
    async (diesAt) => {
      const { live, states, names, sidecar, watch } = await reporting({ diesAt })
      await live(diesAt / 1_000 + 60)
      expect(names()).toEqual(['live', 'stale'])
      const currentAt = 1_000_000 + 30_000
      expect(states[1]).toMatchObject({ currentAt, reason: 'offline' })
      await live(3_600)
      expect(watch.state).toMatchObject({ name: 'stale', currentAt })
      sidecar.diesAt = Number.POSITIVE_INFINITY
      await live(60)
      expect(names()).toEqual(['live', 'stale', 'live'])
    },
  )

  it('is live again at the first message of a sidecar that is back', async () => {
    const { live, names, sidecar, network } = await reporting({ diesAt: 31_000 })
    await live(120)
    sidecar.diesAt = Number.POSITIVE_INFINITY
    await network.publish({ type: 'task-changed', id: 'A-1' })
    expect(names()).toEqual(['live', 'stale', 'live'])
  })

  it('is stale at once if the last report is old, whatever the clocks say', async () => {
    const { names, states } = await reporting({ diesAt: -600_000 })
    expect(names()).toEqual(['stale'])
    expect(states[0]).toMatchObject({ currentAt: 400_000, reason: 'offline' })
  })

  it('asks nothing while its page is hidden', async () => {
    const { live, asked, hide } = await reporting({ keepWhileHidden: true })
    hide()
    const before = asked()
    await live(600)
    expect(asked()).toBe(before)
  })

  it.each(['offline', 'ended'] as const)(
    'is stale at the message of a sidecar that is %s, and live at that of its return',
    async (state) => {
      const { network, names } = await watching()
      const at = Date.parse('2026-03-02T10:00:00Z')
      const status = statusAt(at, at - 11_000)
      network.status = () => ({ ...status, sidecar: { ...status.sidecar, state } })
      await network.publish(CHANGED)
      expect(names()).toEqual(['live', 'stale'])
      network.status = () => ({ ...status, sidecar: { ...status.sidecar, state: 'running' } })
      await network.publish(CHANGED)
      expect(names()).toEqual(['live', 'stale', 'live'])
    },
  )

  it('stays live while a sidecar that ended starts again within 8 s', async () => {
    const { network, names } = await watching()
    const at = Date.parse('2026-03-02T10:00:00Z')
    const status = statusAt(at, at - 8_000)
    network.status = () => ({ ...status, sidecar: { ...status.sidecar, state: 'ended' } })
    await network.publish(CHANGED)
    expect(names()).toEqual(['live'])
  })

  it('stays live while an edge that knows better says that the sidecar runs', async () => {
    const { network, names } = await watching()
    const at = Date.parse('2026-03-02T10:00:00Z')
    // A socket was lost with a reset of the edge: it may be dialled again.
    const status = statusAt(at, at - 3_000_000)
    network.status = () => ({ ...status, sidecar: { ...status.sidecar, state: 'running' } })
    await network.publish(CHANGED)
    expect(names()).toEqual(['live'])
  })

  it('is stale at the message of a folder that is gone, and live at that of its return', async () => {
    const { network, states, names } = await watching()
    const at = Date.parse('2026-03-02T10:00:00Z')
    network.status = () => ({ ...statusAt(at, at, at - 1_000), store: 'missing' })
    await network.publish(CHANGED)
    expect(states.at(-1)).toMatchObject({ name: 'stale', reason: 'missing' })
    network.status = () => statusAt(at)
    await network.publish(CHANGED)
    expect(names()).toEqual(['live', 'stale', 'live'])
  })
})

describe('a watch', () => {
  it('fetches everything at once when its page wakes, without waiting for timers', async () => {
    const { clock, network, calls, page } = await watching()
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    page()?.wake()
    await clock.advance(0)
    expect(calls).toEqual([['tasks'], ['tasks', 'A-1']])
    expect(network.requests.filter((route) => route === '/events')).toHaveLength(1)
  })

  it.each([
    { type: 'task-changed', id: 'A-1' },
    { type: 'tasks-changed' },
    { type: 'session-changed', session: 'ses_1' },
  ])('reads both lists again at %o, and tells only the one that is another', async (message) => {
    const sessions: unknown[] = []
    const onSessions = (list: readonly unknown[]) => sessions.push(list.length)
    const { network, calls } = await watching({ onSessions, onTask: undefined as never })
    network.requests.length = 0
    network.set('/tasks', { tasks: [{ id: 'A-2', ready: true }] })
    await network.publish(message)
    const lists = network.requests.filter((route) => !['/tasks/A-1', '/status'].includes(route))
    expect(lists.sort()).toEqual(['/sessions', '/tasks'])
    expect(calls).toEqual([['tasks'], ['tasks', 'A-2']])
    expect(sessions).toEqual([0])
  })

  it('fetches once more, and only once, after many messages during a fetch', async () => {
    const { network, clock } = await watching()
    network.requests.length = 0
    let answer: (response: Response) => void = () => undefined
    network.overrides.set('/tasks', () => new Promise((resolve) => (answer = resolve)))
    for (let i = 0; i < 50; i++) {
      await network.publish({ type: 'task-changed', id: 'A-1' })
      await network.publish({ type: 'session-changed', session: 'ses_1' })
    }
    expect(network.requests.filter((route) => route === '/tasks')).toHaveLength(1)
    network.overrides.clear()
    answer(Response.json({ tasks: [] }))
    await clock.advance(0)
    expect(network.requests.filter((route) => route === '/tasks')).toHaveLength(2)
  })

  it('calls onTask once for each version of a task, and once for its deletion', async () => {
    const { network, calls } = await watching({ onTasks: undefined as never })
    network.set('/tasks/A-1', { id: 'A-1', title: 'One' })
    for (let i = 0; i < 3; i++) await network.publish({ type: 'task-changed', id: 'A-1' })
    expect(calls).toEqual([['A-1', 'One']])
    await network.publish({ type: 'task-changed', id: 'A-2' })
    await network.publish({ type: 'task-changed', id: 'A-2' })
    expect(calls).toEqual([
      ['A-1', 'One'],
      ['A-2', undefined],
    ])
  })

  it('calls onTask alone for each task that a message means which names none', async () => {
    const network = new FakeNetwork()
    network.set('/tasks', { tasks: [{ id: 'A-1' }, { id: 'A-2' }, { id: 'A-3' }] })
    const { calls } = await watching({ onTasks: undefined as never }, network)
    expect(calls).toEqual([])
    network.requests.length = 0
    network.set('/tasks/A-2', { id: 'A-2', title: 'A text that no list shows' })
    const changes = { tasks: [{ id: 'A-2' }], gone: ['A-3'], seq: 'e-9' }
    network.overrides.set('/tasks', () => Response.json(changes))
    await network.publish(CHANGED)
    expect(calls).toEqual([
      ['A-2', 'A text that no list shows'],
      ['A-3', undefined],
    ])
    // A message that names its task is no question for others.
    network.requests.length = 0
    await network.publish({ type: 'task-changed', id: 'A-2' })
    expect(new Set(network.requests)).toEqual(new Set(['/tasks', '/tasks/A-2']))
  })

  it('reads at most six tasks at a time for onTask', async () => {
    const { network, clock, calls } = await watching()
    const tasks = Array.from({ length: 20 }, (_, i) => ({ id: `A-${i}` }))
    network.set('/tasks', { tasks })
    network.isSlow = true
    await network.publish(CHANGED)
    const asked = () => network.requests.filter((route) => route.startsWith('/tasks/')).length
    for (let most = 6; most <= 18; most += 6) {
      network.deliver()
      await clock.advance(0)
      expect(asked()).toBe(most)
    }
    network.isSlow = false
    network.deliver()
    await clock.advance(0)
    expect(calls.filter(([id]) => id !== 'tasks')).toHaveLength(20)
  })

  it('reports an error thrown by a callback, and continues', async () => {
    const error = new Error('theirs')
    const fail = () => {
      throw error
    }
    const { network, reported, names } = await watching({ onTasks: fail, onSignal: fail })
    await network.publish(CHANGED)
    expect(reported).toEqual([error, error])
    expect(names()).toEqual(['live'])
  })

  it.each([-1, 1])(
    'outlives a clock that is set by a year (%i), and still finds a dead stream',
    async (way) => {
      const { clock, network, names, watch } = await watching()
      clock.jump(way * 365 * 86_400_000)
      for (let i = 0; i < 8; i++) {
        await clock.advance(15_000)
        await network.ping()
      }
      expect(names()).toEqual(['live'])
      expect(watch.state).toMatchObject({
        name: 'live',
        currentAt: expect.closeTo(clock.now(), -5),
      })
      network.silence()
      await clock.advance(40_000)
      expect(names().slice(0, 2)).toEqual(['live', 'reconnecting'])
    },
  )

  it('reads everything after an unknown message', async () => {
    const { network } = await watching({ onSessions: () => undefined })
    network.requests.length = 0
    await network.publish({ type: 'board-moved' })
    expect(network.requests.sort()).toEqual(['/sessions', '/status', '/tasks'])
  })

  it('returns one task, undefined for a missing one, and rejects a refusal with BoardError', async () => {
    const { network, watch } = await watching()
    network.set('/tasks/A%2F1', { id: 'A/1', runs: [], sessions: [] })
    expect(await watch.task('A/1')).toEqual({ id: 'A/1', runs: [], sessions: [] })
    expect(await watch.task('B')).toBeUndefined()
    network.overrides.set('/tasks/C', () => refusal(503, 'not_configured'))
    await expect(watch.task('C')).rejects.toMatchObject({ name: 'BoardError', status: 503 })
    expect(watch.state.name).toBe('live')
  })

  it('leaves no stream, request, timer or listener after close(), and calls no callback', async () => {
    const { clock, network, states, calls, watch, page } = await watching()
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    network.overrides.set('/tasks/A-1', hangs)
    const asked = watch.task('A-1')
    const closing = watch.close()
    await expect(asked).rejects.toMatchObject({ name: 'BoardError' })
    await closing
    await watch.close()
    await clock.advance(0)
    expect(clock.pending).toBe(0)
    expect(network.streams.size).toBe(0)
    expect(page()).toBeUndefined()
    expect(watch.state).toEqual({ name: 'closed' })
    await watch.refetch()
    await expect(watch.task('A-1')).rejects.toMatchObject({ code: 'closed' })
    expect(states).toHaveLength(1)
    expect(calls).toHaveLength(1)
  })

  it.each(['onTasks', 'onTask', 'onSignal', 'onState'] as const)(
    'may be closed by its own %s, and is at once',
    async (name) => {
      let close: () => unknown = () => undefined
      const { network, clock, watch, calls } = await watching({ [name]: () => close() })
      close = () => watch.close()
      network.set('/tasks', { tasks: [{ id: 'A-1' }] })
      network.set('/tasks/A-1', { id: 'A-1', title: 'One' })
      await network.publish({ type: 'task-changed', id: 'A-1' })
      await network.cut()
      await clock.advance(0)
      const { length } = calls
      expect(watch.state.name).toBe('closed')
      expect(network.streams.size).toBe(0)
      expect(clock.pending).toBe(0)
      await clock.advance(60_000)
      expect(calls).toHaveLength(length)
    },
  )
})
