// Days of notices in microseconds: the repository is killed at any moment, and so is the receiver.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../../../libraries/api/types.ts'
import type { SealedRule } from '../../../../worker/board/notices/notice-calls.ts'
import type { DueRequest } from '../../../../worker/board/notices/notice-deliveries.ts'
import {
  type OpenRepository,
  openRepository,
} from '../../../../worker/board/repository/open-repository-sqlite.ts'
import { type DataRecord, EMPTY_HASH } from '../../../../worker/board/wire.ts'
import type { NoticeCause } from '../../../../worker/shared/notice-rules.ts'
import type { Sent } from '../../../../worker/shared/outgoing.ts'
import type { Sql, SqlValue } from '../../../../worker/shared/sql.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { freshHash, taskRecord } from '../../../support/edge.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const T0 = Date.parse('2026-11-29T12:00:00Z')

/** `lost`: it took it, and the answer never came. Killed: the repository, before or after that. */
type Receives = 'ok' | 'refuses' | 'lost' | 'killed before' | 'killed after'

const rule = (on: NoticeCause, minutes = 0): SealedRule => ({
  on,
  minutes,
  to: 'webhook',
  host: 'a.test',
  sealed: 'x',
})
const command = (on: NoticeCause): SealedRule => ({
  on,
  minutes: 0,
  to: 'command',
  sealed: '0123456789abcdef',
})
const todo = (id: string, fields: Partial<Task> = {}) =>
  taskRecord(id, { status: 'todo', ...fields })

/** A repository with its host's one alarm, and a receiver. */
class World {
  readonly #own = openSql(':memory:')
  /** How many deliveries were read as a whole. */
  reads = 0
  /** How many tasks were read. */
  taskReads = 0
  readonly #sql: Sql = {
    transaction: this.#own.transaction,
    all: <Row extends Record<string, SqlValue>>(query: string, ...values: SqlValue[]) => {
      const rows = this.#own.all<Row>(query, ...values)
      if (query.includes('* FROM notice_deliveries')) this.reads += rows.length
      if (/SELECT .*light.* FROM tasks/s.test(query)) this.taskReads += rows.length
      return rows
    },
  }
  readonly logged: string[] = []
  /** The run of the sidecar that holds a socket, and pings. */
  socket: number | undefined
  #open = this.#opened()
  #epoch = ''
  #batch = 0
  now = T0
  receives: (now: number) => Receives = () => 'ok'
  /** What the receiver took. */
  readonly took: DueRequest[] = []
  tries = 0
  /** How often the alarm rang. */
  wakes = 0
  /** When its sidecar was told of commands. */
  readonly toldOfCommands: number[] = []

  constructor(rules: SealedRule[], ...records: DataRecord[]) {
    const synced = this.sync(rules, null)
    if (!synced.ok || synced.answer.step !== 'root') throw new Error('no sync')
    this.#epoch = synced.answer.epoch
    const board = { layout: 'cairn', states: ['todo', 'done'], closed: ['done'] } as const
    const config = { ...board, states: [...board.states], closed: [...board.closed] }
    this.publish([{ kind: 'board', id: 'board', hash: freshHash(), board: config }, ...records])
  }

  sync(rules: SealedRule[], run: number | null = 1) {
    const store = { state: 'present', version: '1' } as const
    const root = { step: 'root', run, root: EMPTY_HASH, store } as const
    const synced = this.#open.repository.sync(root, this.now, { board: 'shop', rules })
    this.#arm()
    return synced
  }

  /** The sidecar ends in order. */
  end(): void {
    this.#open.repository.sync({ step: 'end', run: 1 }, this.now)
    this.#arm()
  }

  openSocket(run: number): void {
    this.socket = run
    this.#open.presence.opened(run, this.now)
    this.#arm()
  }

  publish(upserts: DataRecord[], more = false): void {
    const about = { run: 1, epoch: this.#epoch, batch: ++this.#batch, deletes: [], more }
    expect(this.#open.repository.changes({ ...about, upserts }, this.now).ok).toBe(true)
    this.#arm()
  }

  get notices() {
    return this.#open.notices
  }

  /** Returns the hash of its secret. */
  claim(task: string, actor: string, ttlMs: number): string {
    const hash = freshHash()
    const asked = { hash, actor, task, ttlMs, max: 1, force: false }
    expect(this.#open.claims.claim(asked, this.now).ok).toBe(true)
    this.#arm()
    return hash
  }

  /** With a sign of work. */
  renew(hash: string): void {
    expect(this.#open.claims.renew({ hash, activeAt: this.now }, this.now).ok).toBe(true)
    this.#arm()
  }

  /** All that its memory held is gone. */
  kill(): void {
    this.#open = this.#opened()
  }

  #opened(): OpenRepository {
    return openRepository(this.#sql, {
      sockets: () => (this.socket === undefined ? [] : [{ run: this.socket, pingedAt: this.now }]),
      log: (level, event) => this.logged.push(`${level} ${event}`),
    })
  }

  nextDue = () => this.#open.nextDue()

  /** Until then, with every alarm at its time. */
  pass(ms: number): void {
    const until = this.now + ms
    for (let at = this.nextDue(); at !== undefined && at <= until; at = this.nextDue()) {
      this.now = Math.max(this.now, at)
      this.wakes++
      this.#open.claims.expire(this.now)
      this.#open.presence.onAlarm(this.now)
      const { requests, hasCommands } = this.#open.notices.due(this.now)
      if (hasCommands) this.toldOfCommands.push(this.now)
      for (const request of requests) this.#send(request)
      this.#arm()
    }
    this.now = until
  }

  #send(request: DueRequest): void {
    this.tries++
    const how = this.receives(this.now)
    if (how !== 'refuses' && how !== 'killed before') this.took.push(request)
    if (how.startsWith('killed')) {
      this.kill()
      return
    }
    const failed: Sent = { ok: false, error: 'It did not answer.' }
    const sent: Sent = how === 'ok' ? { ok: true, status: 204 } : failed
    this.#open.notices.tried(request.id, sent, this.now, 1)
  }

  #arm(): void {
    this.#open.notices.follow(this.now)
  }

  /** Of how many rules it is known what they told. */
  knownRules = () => this.#own.all('SELECT DISTINCT rule FROM notice_known').length

  /** What the receiver was told, each id once. */
  told(): string[] {
    const all = new Map(this.took.map((request) => [request.id, request]))
    return [...all.values()].flatMap(({ notice }) =>
      notice.causes.map(({ on, task }) => (task === undefined ? on : `${on} ${task}`)),
    )
  }
}

describe('a notice', () => {
  it('is told by the alarm of the repository, with its sidecar dead', () => {
    const world = new World([rule('stalled'), rule('offline')], todo('A'))
    world.claim('A', 'ada', 10 * MINUTE)
    world.pass(9 * MINUTE)
    expect(world.told()).toEqual(['offline'])
    world.pass(2 * MINUTE)
    expect(world.told()).toEqual(['offline', 'stalled A'])
    world.pass(24 * HOUR)
    expect(world.tries).toBe(2)
  })

  it('names its board, also where the alarm wakes a repository that knows no name', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.kill()
    world.pass(MINUTE)
    expect(world.took.map(({ board }) => board)).toEqual(['shop'])
  })

  it('is tried with one id until a receiver that was down for an hour takes it', () => {
    const world = new World([rule('blocked', 1)], todo('A', { status: 'Blocked' }))
    world.receives = (now) => (now < T0 + HOUR ? 'refuses' : 'ok')
    world.pass(3 * HOUR)
    expect([world.took.length, world.told()]).toEqual([1, ['blocked A']])
    expect(world.notices.shown().deliveries).toMatchObject([
      { state: 'delivered', attempts: world.tries, causes: [{ on: 'blocked' }] },
    ])
  })

  it('ends after a day as failed, and is not tried any more', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.receives = () => 'refuses'
    world.pass(26 * HOUR)
    const [delivery] = world.notices.shown().deliveries
    expect(delivery).toMatchObject({ state: 'failed', error: 'It did not answer.' })
    const lasted = Date.parse(delivery?.endedAt ?? '') - T0
    expect([lasted > 22 * HOUR, lasted < 26 * HOUR]).toEqual([true, true])
    expect(world.nextDue()).toBeUndefined()
    expect(world.logged.filter((line) => line.startsWith('warn'))).toEqual(['warn notice.failed'])
  })

  it('is told once of a review, though what is to review is saved again', () => {
    const closedAt = (at: number) => {
      const updatedAt = new Date(at).toISOString()
      return todo('A', { trees: [{ tree: 'feat-x', dir: '/feat-x', status: 'done', updatedAt }] })
    }
    const world = new World([rule('review')], closedAt(T0))
    world.pass(30 * MINUTE)
    // Its sidecar was away when that happened.
    world.publish([closedAt(world.now - 15 * MINUTE)])
    world.pass(HOUR)
    expect(world.told()).toEqual(['review A'])
  })

  it('is none for a cause that ended before it had lasted', () => {
    const world = new World([rule('blocked', 5)], todo('A', { status: 'blocked' }), todo('B'))
    world.pass(4 * MINUTE)
    world.publish([todo('A')])
    world.pass(HOUR)
    expect(world.tries).toBe(0)
  })

  it('says since when its cause holds, though files do not, and not when it was told', () => {
    const world = new World([rule('blocked', 60)], todo('A', { status: 'blocked' }))
    world.pass(30 * MINUTE)
    world.kill()
    world.pass(HOUR)
    const [{ notice, at } = {}] = world.took
    const [{ since = '' } = {}] = notice?.causes ?? []
    expect([Date.parse(since) - T0 < MINUTE, at]).toEqual([true, Date.parse(since) + HOUR])
  })

  it('is not told again after a restart of all, or rules that are published again', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.pass(MINUTE)
    for (let n = 0; n < 5; n++) {
      world.kill()
      world.sync([rule('blocked')])
      world.publish([todo(`B-${n}`)])
      world.pass(20 * MINUTE)
    }
    // A secret is replaced: its address is encrypted by both, and then by the new one.
    world.sync([{ ...rule('blocked'), sealed: 'y', formerly: ['x'] }])
    world.pass(HOUR)
    world.sync([{ ...rule('blocked'), sealed: 'y' }])
    world.pass(HOUR)
    expect(world.told()).toEqual(['blocked A'])
  })

  it('is not told again where all rules of its target were gone for less than ten minutes', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    for (const [goneMs, told] of [
      [9 * MINUTE, 1],
      [11 * MINUTE, 2],
    ] as const) {
      world.pass(MINUTE)
      world.sync([])
      world.kill()
      world.pass(goneMs)
      world.sync([rule('blocked')])
      world.pass(MINUTE)
      expect([goneMs, world.told()]).toEqual([goneMs, Array(told).fill('blocked A')])
    }
  })

  it('leaves nothing known of rules that are gone for long', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    for (let minutes = 1; minutes < 9; minutes++) {
      world.pass(20 * MINUTE)
      world.sync([{ ...rule('blocked', minutes), sealed: `x${minutes}` }])
    }
    world.pass(20 * MINUTE)
    // Of this rule, and of the one before.
    expect(world.knownRules()).toBe(2)
  })

  it('is looked for in all tasks when they changed or time says so, not each time its sidecar is', () => {
    const rules = [rule('blocked', 30), rule('offline')]
    const world = new World(rules, todo('A', { status: 'blocked' }), todo('B'))
    const reports = (times: number) => {
      const before = world.taskReads
      for (let n = 0; n < times; n++) {
        world.sync(rules)
        world.pass(MINUTE / 2)
      }
      return world.taskReads - before
    }
    expect(reports(4)).toBe(2)
    expect([reports(40), world.told()]).toEqual([0, []])
    expect([reports(40), world.told()]).toEqual([2, ['blocked A']])
    world.publish([todo('C', { status: 'blocked' })])
    expect([reports(100), world.told()]).toEqual([6, ['blocked A', 'blocked C']])
  })

  it('goes to a new target alone, and is not told again to those that stand after it', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.pass(MINUTE)
    world.sync([{ ...rule('blocked'), sealed: 'new' }, rule('blocked')])
    world.pass(HOUR)
    expect(world.took.map(({ sealed }) => sealed)).toEqual(['x', 'new'])
  })

  it('does not wait for a clock that was ahead for a while', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.receives = () => 'refuses'
    world.now += 9 * HOUR
    world.pass(10 * MINUTE)
    expect(world.tries).toBeGreaterThan(3)
    world.receives = () => 'ok'
    world.now = T0 + 11 * MINUTE
    world.publish([todo('B')])
    world.pass(MINUTE)
    expect(world.told()).toEqual(['blocked A'])
  })

  it('costs a board without rules nothing', () => {
    const world = new World([], todo('A', { status: 'blocked' }))
    expect(world.nextDue()).toBeUndefined()
  })

  it('is told again of a holder who worked again, though renewals are no message', () => {
    const world = new World([rule('silent', 20)], todo('A'))
    const hash = world.claim('A', 'ada', 24 * HOUR)
    world.pass(30 * MINUTE)
    expect(world.told()).toEqual(['silent A'])
    for (let n = 0; n < 12; n++) {
      world.renew(hash)
      world.pass(5 * MINUTE)
    }
    expect(world.told()).toEqual(['silent A'])
    world.pass(14 * MINUTE)
    expect(world.told()).toEqual(['silent A'])
    world.pass(2 * MINUTE)
    expect(world.told()).toEqual(['silent A', 'silent A'])
    world.wakes = 0
    world.pass(HOUR)
    expect(world.wakes).toBeLessThan(5)
  })

  it('is told of each end of a sidecar that reports, though nothing else changes', () => {
    const rules = [rule('offline')]
    const world = new World(rules, todo('A'))
    world.pass(HOUR)
    for (let n = 0; n < 60; n++) {
      world.sync(rules)
      world.pass(MINUTE / 2)
    }
    expect(world.told()).toEqual(['offline'])
    world.pass(HOUR)
    expect(world.told()).toEqual(['offline', 'offline'])
    expect(world.nextDue()).toBeUndefined()
  })

  it('is told soon of a sidecar that is killed before it opens its socket', () => {
    const rules = [rule('offline')]
    const world = new World(rules, todo('A'))
    world.openSocket(1)
    world.pass(6 * MINUTE)
    expect(world.told()).toEqual([])
    world.socket = undefined
    world.sync(rules, null)
    world.pass(2 * MINUTE)
    expect(world.told()).toEqual(['offline'])
  })

  it('wakes no board whose sidecar has ended in order, until there is another one', () => {
    const rules = [rule('offline')]
    const world = new World(rules, todo('A'))
    world.end()
    world.pass(2 * MINUTE)
    expect([world.told(), world.nextDue()]).toEqual([[], undefined])
    world.sync(rules, null)
    world.pass(2 * MINUTE)
    expect(world.told()).toEqual(['offline'])
  })

  it('waits for the whole of a publication, and does not look meanwhile', () => {
    const world = new World([rule('blocked'), rule('stalled')], todo('A'))
    world.pass(MINUTE)
    world.publish([todo('D')])
    world.publish([todo('B', { status: 'blocked' })], true)
    world.pass(MINUTE)
    world.wakes = 0
    world.pass(HOUR)
    expect([world.told(), world.wakes]).toEqual([[], 0])
    world.publish([todo('C')])
    world.pass(5 * SECOND)
    expect(world.told()).toEqual(['blocked B'])
  })

  it('waits with 49 others at most for a receiver that is down, and the oldest ends', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.receives = () => 'refuses'
    for (let n = 0; n < 60; n++) {
      world.pass(5 * SECOND)
      world.publish([todo(`B-${n}`, { status: 'blocked' })])
    }
    world.pass(5 * SECOND)
    const { deliveries } = world.notices.shown()
    expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(['pending']))
    expect(world.logged.filter((line) => line === 'warn notice.failed')).toHaveLength(11)
    world.receives = () => 'ok'
    world.pass(2 * HOUR)
    expect(world.took).toHaveLength(50)
  })

  it('that waits is read by no turn that changes nothing', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.receives = () => 'refuses'
    world.pass(MINUTE)
    const before = world.reads
    world.sync([rule('blocked')])
    expect([before > 0, world.reads - before]).toEqual([true, 0])
  })

  it('for a command that no sidecar has run is failed after a day, and wakes few meanwhile', () => {
    const world = new World([command('blocked')], todo('A', { status: 'blocked' }))
    world.pass(23 * HOUR)
    expect(world.notices.shown().deliveries).toMatchObject([{ state: 'pending', attempts: 0 }])
    world.pass(2 * HOUR)
    expect(world.notices.shown().deliveries).toMatchObject([
      { state: 'failed', error: 'No sidecar has run it.', attempts: 0 },
    ])
    expect(world.wakes).toBeLessThan(40)
    expect(world.nextDue()).toBeUndefined()
  })

  it('for a command is no more handed to a sidecar that comes a week later', () => {
    const world = new World([command('blocked')], todo('A', { status: 'blocked' }))
    world.pass(MINUTE)
    // Its host was off, so no alarm rang.
    world.now += 7 * 24 * HOUR
    expect(world.notices.hasCommands(world.now)).toBe(false)
    expect(world.notices.commands({}, world.now)).toEqual([])
    expect(world.notices.shown().deliveries).toMatchObject([{ state: 'failed' }])
  })

  it('for a new command is told to the sidecar at once, though others wait for long', () => {
    const world = new World([command('blocked')], todo('A', { status: 'blocked' }))
    world.pass(9 * HOUR)
    world.publish([todo('B', { status: 'blocked' })])
    world.pass(5 * SECOND)
    expect(world.toldOfCommands.at(-1)).toBeGreaterThan(world.now - 5 * SECOND)
    expect(world.notices.commands({}, world.now)).toHaveLength(2)
  })

  it('that tests a command ends with the patience of who asked', () => {
    const world = new World([command('blocked')], todo('A'))
    world.notices.test('blocked', world.now)
    world.pass(5 * MINUTE)
    expect(world.notices.shown().deliveries).toMatchObject([{ test: true, state: 'failed' }])
  })

  it('ends after a day though no answer ever came back', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.receives = () => 'killed after'
    world.pass(25 * HOUR)
    const [delivery] = world.notices.shown().deliveries
    expect(delivery).toMatchObject({ state: 'failed', error: 'Nothing came of sending it.' })
    expect(delivery?.attempts).toBe(world.tries)
    expect(world.nextDue()).toBeUndefined()
  })

  it('that was on its way when its rule went is delivered if it arrived', () => {
    const world = new World([rule('blocked')], todo('A', { status: 'blocked' }))
    world.receives = () => {
      world.sync([])
      return 'ok'
    }
    world.pass(MINUTE)
    expect(world.notices.shown().deliveries).toMatchObject([{ state: 'delivered', attempts: 1 }])
    expect(world.notices.shown().deliveries[0]).not.toHaveProperty('error')
  })

  it('is stored once for each cause, and arrives with one id, whatever is killed', () => {
    const kinds: Receives[] = ['ok', 'refuses', 'lost', 'killed before', 'killed after']
    const steps = fc.array(
      fc.record({
        waitMs: fc.nat({ max: 2 * MINUTE }),
        task: fc.nat({ max: 3 }),
        how: fc.constantFrom(...kinds),
        isKilled: fc.boolean(),
      }),
      { minLength: 1, maxLength: 25 },
    )
    fc.assert(
      fc.property(steps, (all) => {
        const world = new World([rule('blocked'), rule('parent_done')], todo('P'))
        world.pass(5 * SECOND)
        const blocked = new Set<string>()
        let how: Receives = 'ok'
        world.receives = () => how
        for (const step of all) {
          how = step.how
          const id = `T-${step.task}`
          // Blocked for good, so each is one cause; the parent's only part is closed meanwhile.
          blocked.add(id)
          world.publish([todo(id, { status: 'blocked' })])
          if (step.task === 3) world.publish([todo('P.1', { parent: 'P', status: 'done' })])
          if (step.isKilled) world.kill()
          world.pass(step.waitMs)
        }
        how = 'ok'
        world.pass(25 * HOUR)
        const expected = [...blocked].map((id) => `blocked ${id}`)
        if (blocked.has('T-3')) expected.push('parent_done P')
        const told = world.told()
        expect([told.length, new Set(told)]).toEqual([expected.length, new Set(expected)])
        const texts = Map.groupBy(world.took, ({ id }) => id)
        for (const same of texts.values()) {
          expect(new Set(same.map(({ notice }) => JSON.stringify(notice))).size).toBe(1)
        }
        const { deliveries } = world.notices.shown()
        expect(deliveries.every(({ state }) => state === 'delivered')).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})
