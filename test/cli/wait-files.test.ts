// A wait on files alone, over a board in memory. Each wait is a process of its own: all that it has
// of those before is the id of their line.

import { setImmediate as allTurns } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { watchBoard } from '../../cli/board/files-board.ts'
import { stepFeed } from '../../cli/board/watched-board.ts'
import { type Outcome, type Until, waitFor } from '../../cli/wait/wait-for.ts'
import { config, FakeBoard, live, session, task } from '../sidecar/fake-board.ts'

/** All that a start finds. */
function opened(files: FakeBoard['files']): FakeBoard {
  const fake = new FakeBoard()
  for (const [path, entries] of files) fake.put(path, ...entries)
  fake.board.takeChanged(0)
  return fake
}

class Agent {
  readonly files: FakeBoard['files'] = new Map()
  since: string | undefined
  #waiting: { fake: FakeBoard; changed: (keys: never[]) => void } | undefined

  constructor() {
    this.put('/s/config', config(['done']))
  }

  put(path: string, ...entries: Parameters<FakeBoard['put']>[1][]): void {
    this.files.set(path, entries)
    if (!this.#waiting) return
    const { fake, changed } = this.#waiting
    fake.put(path, ...entries)
    changed(fake.board.takeChanged(0) as never[])
  }

  /** The line of one wait; undefined: it goes on waiting. */
  async wait(until: Until, meanwhile: () => void = () => undefined): Promise<Outcome | undefined> {
    const fake = opened(this.files)
    const end = new AbortController()
    const { publisher, watched } = watchBoard(fake.board, this.since, stepFeed(end.signal))
    this.#waiting = { fake, changed: publisher.changed }
    let outcome: Outcome | undefined
    let place = this.since
    const wait = { task: undefined, until, since: this.since }
    const ended = waitFor(watched, wait, (id) => {
      place = id
    }).then(
      (it) => {
        outcome = it
      },
      () => undefined,
    )
    publisher.start()
    await allTurns()
    meanwhile()
    await allTurns()
    this.#waiting = undefined
    end.abort()
    await ended
    this.since = outcome?.id ?? place
    return outcome
  }
}

const READY: Until = { kind: 'ready' }
const DONE: Until = { kind: 'status', status: 'done' }
const ANY: Until = { kind: 'any' }

describe('a wait on files alone', () => {
  test.each([READY, DONE])(
    'for $kind, from the id of its line, does not answer it again',
    async (until) => {
      const agent = new Agent()
      agent.put('/s/tasks/A', task('A'))
      agent.put('/s/tasks/B', task('B', { status: 'done' }))
      const named = until === READY ? 'A' : 'B'
      expect(await agent.wait(until)).toMatchObject({ type: until.kind, task: named })
      for (const _ of [1, 2, 3]) expect(await agent.wait(until)).toBeUndefined()
      agent.put('/s/tasks/C', task('C', { status: until === READY ? 'todo' : 'done' }))
      expect(await agent.wait(until)).toMatchObject({ type: until.kind })
      expect(await agent.wait(until)).toBeUndefined()
    },
  )

  test('finds later, too, that the end of a session made a task free, which is no change', async () => {
    const agent = new Agent()
    agent.put('/s/tasks/A', task('A', { activeAttempt: 'a1' }))
    agent.put('/s/sessions/1', session('1', 'A'))
    expect(await agent.wait(ANY)).toBeUndefined()
    expect(await agent.wait(READY)).toBeUndefined()
    agent.put('/s/live/1', live('1', 5))
    expect(await agent.wait(READY)).toBeUndefined()
    const before = agent.since
    agent.put('/s/sessions/1', session('1', 'A', 'canceled'))
    expect(await agent.wait(ANY)).toBeUndefined()
    agent.since = before
    expect(await agent.wait(READY)).toMatchObject({ task: 'A' })
    expect(await agent.wait(READY)).toBeUndefined()
  })

  test.each([ANY, READY, DONE])(
    'for $kind misses nothing and repeats nothing, in a thousand interleavings',
    async (until) => {
      const agent = new Agent()
      let seed = 20_260_101
      const random = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        return Math.floor((seed / 2 ** 31) * below)
      }
      let made = 0
      const changed = new Map<string, string>()
      const change = () => {
        made++
        const id = `T${random(4)}`
        const status = ['todo', 'wip', 'done'][random(3)] ?? ''
        if (random(5) === 0) return agent.put('/s/live/1', live('1', made))
        agent.put(`/s/tasks/${id}`, task(id, { status, rank: made }))
        changed.set(id, status)
      }
      const some = () => {
        for (let n = random(4); n > 0; n--) change()
      }
      /** The wait must end with what changed, as far as nothing else undid it. */
      const isDue = () => {
        if (until === ANY) return changed.size > 0
        return [...changed.values()].includes(until === DONE ? 'done' : 'todo')
      }
      await agent.wait(until)
      expect(await agent.wait(until)).toBeUndefined()
      while (made < 1_000) {
        changed.clear()
        if (random(2) === 0) some()
        const wasDue = isDue()
        const line = await agent.wait(until, random(2) === 0 ? some : undefined)
        if (wasDue || isDue()) expect(line).toBeDefined()
        if (changed.size === 0) expect(line).toBeUndefined()
        // What changed after the line is another one, and then there is nothing left.
        await agent.wait(until)
        expect(await agent.wait(until)).toBeUndefined()
      }
    },
  )
})
