// Random windows of edits over a bad network, from files to the messages of the edge, in memory.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import type { Edge, Reply } from '../../sidecar/publish/edge.ts'
import { Publisher } from '../../sidecar/publish/publisher.ts'
import { openRepository } from '../../worker/board/repository/open-repository-sqlite.ts'
import type { Query } from '../../worker/board/repository/reads.ts'
import type { Published } from '../../worker/board/repository/repository.ts'
import type { ChangesRequest, Message, StoreState, SyncRequest } from '../../worker/board/wire.ts'
import { openSql } from '../../worker/shared/sql-node.ts'
import { FakeBoard } from './fake-board.ts'
import { conflict, network, tooLarge } from './fake-edge.ts'
import { type Edit, edited, FIRST, messageFor, rowsOf, type State, write } from './message-model.ts'

/** What becomes of one request; `small`: the edge takes one record at a time. */
const FAULTS = ['none', 'none', 'drop', 'lose', 'small'] as const
type Fault = (typeof FAULTS)[number]

const PRESENT: StoreState = { state: 'present', layout: 'cairn', version: '1' }
const HOST = { streams: 0, awakeSince: '', now: '' }
/** Longer than any backoff here. */
const RECOVERED_MS = 60_000

/** A sidecar and an edge; a client that reads the list at each message, and at no other time. */
class System {
  readonly #clock = new FakeClock()
  readonly #edge = openRepository(openSql(':memory:'))
  readonly messages: string[] = []
  /** What the client has. */
  shown = '[]'
  /** What befalls the coming requests, in their order. */
  faults: Fault[] = []
  #state: State | undefined
  #fake = new FakeBoard()
  #publisher = this.#start()

  /** One window. */
  async save(state: State): Promise<void> {
    write(this.#fake, this.#state, state)
    this.#state = state
    this.#publisher.changed(this.#fake.board.takeChanged(state.now))
    await this.#clock.advance(RECOVERED_MS)
  }

  /** One window, which the edge gets only when its files have changed again without a hint. */
  async saveLate(state: State, later: State): Promise<void> {
    this.faults = ['drop']
    write(this.#fake, this.#state, state)
    this.#publisher.changed(this.#fake.board.takeChanged(state.now))
    await this.#clock.advance(0)
    write({ put: this.#fake.save, remove: this.#fake.unlink }, state, later)
    this.#state = state
    await this.#clock.advance(RECOVERED_MS)
  }

  /** The sidecar dies in the middle of a window, and comes back to other files. */
  async die(during: State, after: State): Promise<void> {
    write(this.#fake, this.#state, during)
    // It gets one record through, and no further.
    this.faults = ['small', 'none', ...Array<Fault>(50).fill('drop')]
    this.#publisher.changed(this.#fake.board.takeChanged(during.now))
    await this.#clock.advance(0)
    const closing = this.#publisher.close()
    await this.#clock.advance(RECOVERED_MS)
    await closing
    this.faults = []
    this.#fake = new FakeBoard()
    this.#state = undefined
    this.#publisher = this.#start()
    await this.begin(after)
  }

  async begin(state: State): Promise<void> {
    write(this.#fake, this.#state, state)
    this.#state = state
    this.#fake.board.takeChanged(state.now)
    this.#publisher.store(PRESENT)
    this.#publisher.start()
    await this.#clock.advance(RECOVERED_MS)
  }

  async close(): Promise<void> {
    await this.#publisher.close()
    expect(this.#clock.pending).toBe(0)
  }

  read(query: Query): string {
    const found = this.#edge.reads.find(query, HOST)
    return found.state === 'found' ? [...found.pieces].join('') : found.state
  }

  #start(): Publisher {
    const clock = this.#clock
    const records = this.#fake.board
    return new Publisher({
      edge: this.#dial(),
      records,
      clock,
      log: () => undefined,
    })
  }

  #dial(): Edge {
    const { repository } = this.#edge
    let isClosed = false
    const send = async <T>(request: SyncRequest | ChangesRequest): Promise<Reply<T>> => {
      const fault = this.faults.shift() ?? 'none'
      if (isClosed || fault === 'drop') return network
      if (fault === 'small' && isLarge(request)) return tooLarge
      const now = this.#clock.now()
      const published: Published<unknown> =
        'step' in request ? repository.sync(request, now) : repository.changes(request, now)
      if (!published.ok) return conflict(published.reason)
      for (const frame of published.frames) this.#receive(frame)
      return fault === 'lose' ? network : ({ ok: true, value: published.answer } as Reply<T>)
    }
    const close = () => {
      isClosed = true
    }
    return { root: send, buckets: send, entries: send, end: send, changes: send, close } as Edge
  }

  #receive(frame: string): void {
    const message = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '') as Message
    const id = message.type === 'task-changed' ? ` ${message.id}` : ''
    this.messages.push(`${message.type}${id}`)
    this.shown = listOf(this)
  }
}

function isLarge(request: SyncRequest | ChangesRequest): boolean {
  return 'upserts' in request && request.upserts.length + request.deletes.length > 1
}

/** The fields of the list that the model has. */
function listOf(system: System): string {
  const answer = system.read({ kind: 'tasks', filter: {} })
  if (!answer.startsWith('{')) return '[]'
  const { tasks } = JSON.parse(answer) as { tasks: Record<string, unknown>[] }
  return JSON.stringify(
    tasks.map(({ id, title, status, ready, executionState }) => {
      return { id, title, status, ready, executionState }
    }),
  )
}

const task = fc.constantFrom('A', 'B', 'C', 'D')
const session = fc.constantFrom('s1', 's2')
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    do: fc.constant('save' as const),
    id: task,
    title: fc.constantFrom('x', 'y', 'z'),
    status: fc.constantFrom('todo', 'review', 'done'),
    deps: fc.uniqueArray(task, { maxLength: 2 }),
  }),
  fc.record({ do: fc.constantFrom('delete' as const, 'run' as const), id: task }),
  fc.record({
    do: fc.constant('session' as const),
    id: session,
    of: task,
    status: fc.constantFrom('active', 'finished'),
  }),
  fc.record({ do: fc.constantFrom('beat' as const, 'end' as const), id: session }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 2_000) }),
  fc.record({
    do: fc.constant('rules' as const),
    closed: fc.constantFrom(['done'], ['done', 'review']),
  }),
)
const edits = fc.array(edit, { minLength: 1, maxLength: 3 })
const faults = fc.array(fc.constantFrom(...FAULTS), { maxLength: 6 })
const withAll = (state: State, all: Edit[]): State => all.reduce(edited, state)

describe('windows of edits', () => {
  it('are each told once, by the files that changed, whatever is lost on the way', async () => {
    const windows = fc.array(fc.tuple(edits, faults), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(windows, async (all) => {
        const system = new System()
        let state = FIRST
        await system.begin(state)
        for (const [step, lost] of all) {
          const before = state
          state = withAll(before, step)
          system.messages.length = 0
          system.faults = [...lost]
          await system.save(state)
          const expected = messageFor(before, state)
          expect(system.messages).toEqual(expected === null ? [] : [expected])
          expect(system.shown).toBe(JSON.stringify(rowsOf(state)))
        }
        await system.close()
      }),
      { numRuns: 120 },
    )
  }, 120_000)

  it('bring along what follows from a file that changed again before it was sent', async () => {
    const system = new System()
    const save = { do: 'save', id: 'A', title: 'x', status: 'todo', deps: [] } as const
    const first = withAll(FIRST, [save, { ...save, id: 'B', deps: ['A'] }])
    await system.begin(first)
    const saved = withAll(first, [{ ...save, title: 'y' }])
    const done = withAll(saved, [{ ...save, title: 'y', status: 'done' }])
    system.messages.length = 0
    await system.saveLate(saved, done)
    expect(system.messages).toEqual(['task-changed A'])
    expect(system.shown).toBe(JSON.stringify(rowsOf(done)))
    await system.save(done)
    expect(system.messages).toEqual(['task-changed A'])
    await system.close()
  })

  it('leave nobody with other tasks than the files say, when a sidecar dies between two parts', async () => {
    const lives = fc.array(fc.tuple(edits, edits, edits), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(lives, async (all) => {
        const system = new System()
        let state = FIRST
        await system.begin(state)
        for (const [states, half, offline] of all) {
          state = withAll(state, states)
          await system.save(state)
          const during = withAll(state, half)
          state = withAll(during, offline)
          await system.die(during, state)
          expect(system.shown).toBe(JSON.stringify(rowsOf(state)))
        }
        await system.close()
      }),
      { numRuns: 80 },
    )
  }, 120_000)
})
