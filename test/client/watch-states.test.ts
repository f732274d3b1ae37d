// What a watch says of itself, with a network that fails as told and a clock that a test moves.

import { describe, expect, it } from 'vitest'
import type { BoardState, WatchBoardOptions } from '../../client/index.ts'
import { openWatch } from '../../client/open-watch.ts'
import type { WatchDeps } from '../../client/watch.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeNetwork, hangs, refusal } from './fake-network.ts'

type Lifecycle = Parameters<WatchDeps['followLifecycle']>[0]

async function watching(options: Partial<WatchBoardOptions> = {}, network = new FakeNetwork()) {
  const clock = new FakeClock()
  const start = clock.now()
  const told: unknown[] = []
  const reported: unknown[] = []
  const states: BoardState[] = []
  let page: Lifecycle | undefined
  const watch = openWatch(
    {
      url: 'https://edge.test',
      path: 'a',
      token: 't',
      fetch: network.fetch,
      onTasks: (tasks) => told.push(['tasks', ...tasks.map(({ id }) => id)]),
      onTask: (task, id) => told.push([id, task?.title]),
      onState: (state) => states.push(state),
      ...options,
    },
    {
      clock,
      tabs: () => undefined,
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
  return { network, clock, told, reported, states, names, now, watch, page: () => page }
}

const CHANGED = { type: 'tasks-changed' }

describe('the state of a watch', () => {
  it('is live once the stream is open and the lists have come, and keeps time with the pings', async () => {
    const { clock, network, states, watch } = await watching()
    await clock.advance(0)
    expect(states).toEqual([{ name: 'live', since: 1_000_000, currentAt: 1_000_000 }])
    await clock.advance(15_000)
    await network.ping()
    expect(watch.state).toEqual({ name: 'live', since: 1_000_000, currentAt: 1_015_000 })
    expect(states).toHaveLength(1)
  })

  it('is not live while a refetch fails, says since when, and tries again until it comes', async () => {
    const { clock, network, names, states, told } = await watching()
    network.instead.set('/tasks', () => refusal(500, 'internal'))
    await clock.advance(10_000)
    await network.tell(CHANGED)
    expect(states.at(-1)).toEqual({
      name: 'reconnecting',
      since: 1_010_000,
      currentAt: 1_010_000,
      reason: 'behind',
    })
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    await network.ping()
    await clock.advance(10_000)
    const tries = network.asked.filter((route) => route === '/tasks').length
    expect(tries).toBeGreaterThan(3)
    expect(tries).toBeLessThan(8)
    network.instead.clear()
    await network.ping()
    await clock.advance(12_000)
    expect(names()).toEqual(['live', 'reconnecting', 'live'])
    expect(told).toEqual([['tasks'], ['tasks', 'A-1']])
  })

  it('is not live when a refetch takes longer than 3 s, and is at once when it comes', async () => {
    const { clock, network, names } = await watching()
    let answer: (response: Response) => void = () => undefined
    network.instead.set('/tasks', () => new Promise((resolve) => (answer = resolve)))
    await network.tell(CHANGED)
    await clock.advance(2_999)
    expect(names()).toEqual(['live'])
    await clock.advance(1)
    expect(names()).toEqual(['live', 'reconnecting'])
    answer(Response.json({ tasks: [] }))
    await clock.advance(0)
    expect(names()).toEqual(['live', 'reconnecting', 'live'])
  })

  it('comes back only when what was missed is read, and not told again if it is the same', async () => {
    const { clock, network, names, states, told } = await watching()
    await clock.advance(20_000)
    await network.cut()
    expect(states.at(-1)).toMatchObject({ reason: 'ended', currentAt: 1_000_000 })
    network.instead.set('/tasks', hangs)
    await clock.advance(2_000)
    expect(network.streams.size).toBe(1)
    expect(names()).toEqual(['live', 'reconnecting'])
    network.instead.clear()
    // The request that hangs is given up, and repeated.
    await clock.advance(15_000)
    await network.ping()
    await clock.advance(8_000)
    expect(names()).toEqual(['live', 'reconnecting', 'reconnecting', 'live'])
    expect(states[2]).toMatchObject({ reason: 'behind', currentAt: 1_000_000 })
    expect(told).toEqual([['tasks']])
  })

  it('is connecting, with the reason, as long as nothing ever came', async () => {
    const network = new FakeNetwork()
    const fail = () => Promise.reject(new TypeError('nobody there'))
    for (const route of ['/events', '/tasks']) network.instead.set(route, fail)
    const { clock, states } = await watching({}, network)
    await clock.advance(60_000)
    expect(states).toEqual([{ name: 'connecting', since: 1_000_000, reason: 'unreachable' }])
    network.instead.clear()
    await clock.advance(60_000)
    expect(states[1]?.name).toBe('live')
  })

  it('waits, with its stream open, until somebody publishes', async () => {
    const network = new FakeNetwork()
    network.instead.set('/tasks', () => refusal(404, 'unknown_repository'))
    const { clock, names, told } = await watching({}, network)
    await clock.advance(5_000)
    expect(names()).toEqual(['waiting'])
    network.instead.clear()
    await network.tell(CHANGED)
    expect(names()).toEqual(['waiting', 'live'])
    expect(told).toEqual([['tasks']])
  })

  it('is refused when a read is, lets the stream go, and is live again by refetch()', async () => {
    const { clock, network, states, names, watch } = await watching()
    for (const route of ['/tasks', '/events']) {
      network.instead.set(route, () => refusal(401, 'unauthorized'))
    }
    await network.tell(CHANGED)
    expect(states.at(-1)).toMatchObject({ name: 'refused', code: 'unauthorized', error: 'No.' })
    expect(network.streams.size).toBe(0)
    const { length } = network.asked
    await clock.advance(600_000)
    expect(network.asked).toHaveLength(length)
    await watch.refetch()
    expect(watch.state.name).toBe('refused')
    network.instead.clear()
    await watch.refetch()
    await clock.advance(0)
    expect(names().at(-1)).toBe('live')
  })

  it('lets go of everything while its page is in the history, and is live when it is back', async () => {
    const { clock, network, names, told, page } = await watching()
    page()?.sleep()
    expect(network.streams.size).toBe(0)
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    await clock.advance(600_000)
    page()?.wake()
    await clock.advance(0)
    expect(names()).toEqual(['live', 'reconnecting', 'live'])
    expect(told.at(-1)).toEqual(['tasks', 'A-1'])
  })
})

describe('a watch', () => {
  it('fetches everything again when its page wakes, without waiting for its own timers', async () => {
    const { clock, network, told, page } = await watching()
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    page()?.wake()
    await clock.advance(0)
    expect(told).toEqual([['tasks'], ['tasks', 'A-1']])
    expect(network.asked.filter((route) => route === '/events')).toHaveLength(1)
  })

  it.each([
    { type: 'task-changed', id: 'A-1' },
    { type: 'tasks-changed' },
    { type: 'session-changed', session: 'ses_1' },
  ])('reads both lists again at %o, and tells only the one that is another', async (message) => {
    const sessions: unknown[] = []
    const onSessions = (list: readonly unknown[]) => sessions.push(list.length)
    const { network, told } = await watching({ onSessions, onTask: undefined as never })
    network.asked.length = 0
    network.set('/tasks', { tasks: [{ id: 'A-2', ready: true }] })
    await network.tell(message)
    const lists = network.asked.filter((route) => route !== '/tasks/A-1')
    expect(lists.sort()).toEqual(['/sessions', '/tasks'])
    expect(told).toEqual([['tasks'], ['tasks', 'A-2']])
    expect(sessions).toEqual([0])
  })

  it('fetches once more, and only once, what is told many times while it is fetched', async () => {
    const { network, clock } = await watching()
    network.asked.length = 0
    let answer: (response: Response) => void = () => undefined
    network.instead.set('/tasks', () => new Promise((resolve) => (answer = resolve)))
    for (let i = 0; i < 50; i++) {
      await network.tell({ type: 'task-changed', id: 'A-1' })
      await network.tell({ type: 'session-changed', session: 'ses_1' })
    }
    expect(network.asked.filter((route) => route === '/tasks')).toHaveLength(1)
    network.instead.clear()
    answer(Response.json({ tasks: [] }))
    await clock.advance(0)
    expect(network.asked.filter((route) => route === '/tasks')).toHaveLength(2)
  })

  it('tells a task once for each of its states, its end included', async () => {
    const { network, told } = await watching({ onTasks: undefined as never })
    network.set('/tasks/A-1', { id: 'A-1', title: 'One' })
    for (let i = 0; i < 3; i++) await network.tell({ type: 'task-changed', id: 'A-1' })
    expect(told).toEqual([['A-1', 'One']])
    await network.tell({ type: 'task-changed', id: 'A-2' })
    await network.tell({ type: 'task-changed', id: 'A-2' })
    expect(told).toEqual([
      ['A-1', 'One'],
      ['A-2', undefined],
    ])
  })

  it('goes on when a callback throws, and says so', async () => {
    const error = new Error('theirs')
    const fail = () => {
      throw error
    }
    const { network, reported, names } = await watching({ onTasks: fail, onSignal: fail })
    await network.tell(CHANGED)
    expect(reported).toEqual([error, error])
    expect(names()).toEqual(['live'])
  })

  it('reads everything for a message that it does not know', async () => {
    const { network } = await watching({ onSessions: () => undefined })
    network.asked.length = 0
    await network.tell({ type: 'board-moved' })
    expect(network.asked.sort()).toEqual(['/sessions', '/tasks'])
  })

  it('gives one task whole, undefined for none, and the refusal as a BoardError', async () => {
    const { network, watch } = await watching()
    network.set('/tasks/A%2F1', { id: 'A/1', runs: [], sessions: [] })
    expect(await watch.task('A/1')).toEqual({ id: 'A/1', runs: [], sessions: [] })
    expect(await watch.task('B')).toBeUndefined()
    network.instead.set('/tasks/C', () => refusal(503, 'not_configured'))
    await expect(watch.task('C')).rejects.toMatchObject({ name: 'BoardError', status: 503 })
    expect(watch.state.name).toBe('live')
  })

  it('leaves no stream, request, timer or listener when it is closed, and says nothing more', async () => {
    const { clock, network, states, told, watch, page } = await watching()
    network.set('/tasks', { tasks: [{ id: 'A-1' }] })
    network.instead.set('/tasks/A-1', hangs)
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
    expect(told).toHaveLength(1)
  })

  it.each(['onTasks', 'onTask', 'onSignal', 'onState'] as const)(
    'may be closed by its own %s, and is at once',
    async (name) => {
      let close: () => unknown = () => undefined
      const { network, clock, watch, told } = await watching({ [name]: () => close() })
      close = () => watch.close()
      network.set('/tasks', { tasks: [{ id: 'A-1' }] })
      network.set('/tasks/A-1', { id: 'A-1', title: 'One' })
      await network.tell({ type: 'task-changed', id: 'A-1' })
      await network.cut()
      await clock.advance(0)
      const { length } = told
      expect(watch.state.name).toBe('closed')
      expect(network.streams.size).toBe(0)
      expect(clock.pending).toBe(0)
      await clock.advance(60_000)
      expect(told).toHaveLength(length)
    },
  )
})
