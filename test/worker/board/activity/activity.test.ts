// The history of a board over a clock: what it tells, keeps and marks.

import { describe, expect, it } from 'vitest'
import type { Activity, ActivityRow } from '../../../../libraries/api/types.ts'
import { BOARD_SCHEMA } from '../../../../worker/board/repository/board-tables-sqlite.ts'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import type { DataRecord, Key, MainTree } from '../../../../worker/board/wire.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { following, freshHash, type TaskRecord, taskRecord } from '../../../support/edge.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const START = Date.parse('2026-03-01T10:00:00Z')
const NO_ROOT = 'f'.repeat(32)

const config = (): DataRecord => ({
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'done'], closed: ['done'] },
})
const todo = (id: string, title = `Task ${id}`) => taskRecord(id, { status: 'todo', title })

/** A board with its sidecar and a clock. */
class Board {
  readonly sql = openSql(':memory:')
  readonly lines: object[] = []
  /** What the edge was told of the main tree, as it said at the start of the sidecar. */
  main: unknown
  now = START
  #opened = this.#open()
  #epoch = ''
  #run = 0
  #batch = 0

  #open() {
    return openRepository(this.sql, {
      log: (_, event, fields) => void this.lines.push({ event, ...fields }),
    })
  }

  /** As a start of the edge, and then of the sidecar, which sends all of it. */
  restart(all: readonly DataRecord[], { schema = BOARD_SCHEMA } = {}): void {
    this.sql.all('UPDATE board_schema SET version = ?', schema)
    this.#opened = this.#open()
    this.publish(all)
  }

  publish(all: readonly DataRecord[]): void {
    const store = { state: 'present', version: '1' } as const
    const begun = this.#opened.repository.sync(
      { step: 'root', run: null, root: NO_ROOT, store },
      this.now,
    )
    if (!begun.ok || begun.answer.step !== 'root') throw new Error('it was refused')
    this.main = begun.answer.main
    this.#epoch = begun.answer.epoch
    this.#run = begun.answer.run
    this.#batch = 0
    this.change(all)
  }

  change(upserts: readonly DataRecord[], more: { deletes?: Key[]; main?: MainTree } = {}): void {
    this.#batch++
    const { deletes = [], main } = more
    const head = { epoch: this.#epoch, run: this.#run, batch: this.#batch }
    const sent = { ...head, upserts: [...upserts], deletes, ...(main && { main }) }
    expect(this.#opened.repository.changes(sent, this.now)).toMatchObject({ ok: true })
  }

  claim(task: string, actor = 'ada', ttlMs = 10 * MINUTE): string {
    const hash = freshHash()
    const asked = { hash, actor, task, ttlMs, max: 16, force: true }
    expect(this.#opened.claims.claim(asked, this.now)).toMatchObject({ ok: true })
    return hash
  }

  get claims() {
    return this.#opened.claims
  }

  async rows(filter = {}, limit = 1_000): Promise<ActivityRow[]> {
    const host = { streams: 0, awakeSince: '', now: new Date(this.now).toISOString() }
    const query = { kind: 'activity', filter, limit } as const
    const found = this.#opened.reads.answer(query, host, undefined)
    if (found.state !== 'found') throw new Error(`it is ${found.state}`)
    return ((await new Response(found.body).json()) as Activity).activity
  }

  /** What is marked, the oldest first. */
  async marked(): Promise<string[]> {
    const rows = (await this.rows()).toReversed()
    return rows.flatMap(({ task, marks = [] }) => marks.map((mark) => `${task} ${mark}`))
  }
}

function published(...tasks: TaskRecord[]): Board {
  const board = new Board()
  board.publish([config(), ...tasks])
  return board
}

const open = (count: number) => Array.from({ length: count }, (_, n) => todo(`A-${n + 1}`))
const closed = (record: TaskRecord) => following(record, { status: 'done' })

describe('what a script does that nobody asked for', () => {
  it('is told, across a restart and another schema, and marked when that is due', async () => {
    const tasks = open(10)
    const board = published(...tasks)
    board.claim('A-10')
    board.now += MINUTE
    const [, , , four, five, six, seven, eight, nine, ten] = tasks
    if (!four || !five || !six || !seven || !eight || !nine || !ten) throw new Error('too few')
    const ticked = [four, five, six, seven, eight].map(closed)
    const rewritten = following(nine, { title: 'Another title' })
    const deletes: Key[] = ['task:A-1', 'task:A-2', 'task:A-3']
    board.change([...ticked, rewritten], { deletes })
    const nineRows = (await board.rows()).slice(0, 9)
    const counts = Map.groupBy(nineRows, ({ kind }) => kind)
    const counted = [...counts].map(([kind, { length }]) => `${length} ${kind}`)
    expect(new Set(counted)).toEqual(new Set(['1 title', '3 deleted', '5 status']))
    const unclaimed = [4, 5, 6, 7, 8].map((n) => `A-${n} unclaimed`)
    expect(await board.marked()).toEqual(unclaimed)

    const left = [config(), ...ticked, rewritten, ten]
    board.restart(left)
    board.restart(left, { schema: BOARD_SCHEMA - 1 })
    board.now += 2 * MINUTE
    expect((await board.rows()).slice(0, 9)).toMatchObject(
      nineRows.map(({ seq, hash }) => ({ seq, hash })),
    )
    const deleted = [1, 2, 3].map((n) => `A-${n} deleted_while_open`)
    expect(await board.marked()).toEqual([...unclaimed, ...deleted])
  })

  it('is told from a switch by what was known of the main tree before another schema', () => {
    const board = published()
    const main = { head: 'a'.repeat(40), branch: 'main' }
    board.change([], { main })
    board.restart([config()], { schema: BOARD_SCHEMA + 1 })
    expect(board.main).toEqual(main)
  })

  it('is told of the time in which the edge had lost its tables', async () => {
    const [one, two, three] = open(3)
    if (!one || !two || !three) throw new Error('too few')
    const board = published(one, two, three)
    board.now += MINUTE
    const other = following(one, { title: 'Uno' })
    board.restart([config(), other, closed(two), todo('A-4')], { schema: BOARD_SCHEMA - 1 })
    const rows = (await board.rows()).toReversed()
    expect(rows.map(({ kind, task, caughtUp }) => [kind, task, caughtUp])).toEqual([
      ['published', undefined, undefined],
      ['title', 'A-1', true],
      ['status', 'A-2', true],
      ['created', 'A-4', true],
      ['deleted', 'A-3', true],
    ])
    board.restart([config(), other, closed(two), todo('A-4')], { schema: BOARD_SCHEMA - 1 })
    expect(await board.rows()).toHaveLength(5)
  })
})

describe('what is honest', () => {
  it('has no mark: what is back within two minutes, and what was closed before it went', async () => {
    const [one, two] = open(2)
    if (!one || !two) throw new Error('too few')
    const board = published(one, closed(two))
    board.change([], { deletes: ['task:A-1', 'task:A-2'] })
    board.now += MINUTE
    board.change([following(one, {})])
    board.now += DAY
    expect(await board.marked()).toEqual([])
  })

  it('has no mark where a text got another id, and has one where a text is gone', async () => {
    const list = ['One', 'Two', 'Three', 'Four'].map((title, n) => todo(`tea/${n + 1}`, title))
    const [one, two, three, four] = list
    if (!one || !two || !three || !four) throw new Error('too few')
    const moved = published(...list)
    // The second got a line before it, in a list that has numbers, and the last one an own file.
    moved.change([following(two, { title: 'New' }), following(three, { title: 'Two' })], {})
    moved.change([following(four, { title: 'Three' }), todo('tea/5', 'Four')])
    moved.change([todo('own/1', 'Four')], { deletes: ['task:tea/5'] })
    moved.now += DAY
    expect(await moved.marked()).toEqual([])

    const shorter = published(...list)
    const up = [following(two, { title: 'Three' }), following(three, { title: 'Four' })]
    shorter.change(up, { deletes: ['task:tea/4'] })
    shorter.now += DAY
    expect(await shorter.marked()).toEqual(['tea/4 deleted_while_open'])
  })

  it('has no mark where a closed text moves up to a number that was open, and back', async () => {
    const [one, two] = [todo('tea/1', 'One'), todo('tea/2', 'Two')]
    const board = published(one, closed(two))
    board.claim('tea/1')
    board.change([following(one, { title: 'Two', status: 'done' })], { deletes: ['task:tea/2'] })
    board.change([following(one, { title: 'One' }), following(two, { status: 'done' })])
    board.now += DAY
    expect(await board.marked()).toEqual([])
  })

  it('has no mark where git switched the main tree, also where that is published before', async () => {
    const tasks = open(3)
    const board = published(...tasks)
    const main = { head: 'a'.repeat(40), branch: 'main' }
    board.change([], { main })
    // A long checkout moves its HEAD last.
    board.change([], { deletes: ['task:A-1'] })
    board.now += 25_000
    const other = { head: 'b'.repeat(40), branch: 'older', switched: true } as const
    board.change([], { main: other, deletes: ['task:A-2'] })
    board.now += DAY
    expect(await board.marked()).toEqual([])
    board.change([], { deletes: ['task:A-3'] })
    board.now += DAY
    expect(await board.marked()).toEqual(['A-3 deleted_while_open'])
  })

  it('has its mark where git switched the main tree long before or after, at any second', async () => {
    for (const offset of [0, 10_000, 20_000, 29_999]) {
      const board = published(...open(2))
      board.change([], { main: { head: 'a'.repeat(40), branch: 'main' } })
      board.now = Math.ceil(board.now / MINUTE) * MINUTE + offset
      board.change([], { deletes: ['task:A-1'] })
      board.now += 31_000
      const other = { head: 'b'.repeat(40), branch: 'older', switched: true } as const
      board.change([], { main: other })
      board.now += 31_000
      board.change([], { deletes: ['task:A-2'] })
      board.now += DAY
      expect(await board.marked()).toEqual(['A-1 deleted_while_open', 'A-2 deleted_while_open'])
    }
  })

  it('has its mark beside a new branch at the same commit, which changes no file', async () => {
    const board = published(...open(2))
    const head = 'a'.repeat(40)
    board.change([], { main: { head, branch: 'main' } })
    const main = { head, branch: 'feat', switched: true } as const
    board.change([], { main, deletes: ['task:A-1'] })
    board.change([], { deletes: ['task:A-2'] })
    board.now += DAY
    const marks = ['A-1 deleted_while_open', 'A-2 deleted_while_open']
    expect(await board.marked()).toEqual(marks)
    const [switched] = await board.rows({ kind: 'switched' })
    expect(switched?.changes).toEqual({ branch: ['main', 'feat'] })
  })

  it('has no mark where a claim was valid, or had finished', async () => {
    const [one, two, three] = open(3)
    if (!one || !two || !three) throw new Error('too few')
    const board = published(one, two, three)
    const hash = board.claim('A-1')
    board.claim('A-2', 'bob')
    board.claims.release({ hash, outcome: 'done' }, board.now)
    board.now += 5 * MINUTE
    board.change([closed(one), closed(two)])
    expect(await board.marked()).toEqual([])
    const silent = board.claim('A-3', 'eve')
    board.now += 10 * MINUTE + 1
    board.claims.expire(board.now)
    board.change([closed(three)])
    expect(await board.marked()).toEqual(['A-3 unclaimed'])
    board.claims.release({ hash: silent, outcome: 'abandoned' }, board.now)
  })

  it('is no change of a status where a file cannot be read for a while', async () => {
    const [one] = open(1)
    if (!one) throw new Error('too few')
    const board = published(closed(one))
    board.change([following(one, { title: 'A-1', status: '', invalid: 'It cannot be read.' })])
    board.change([closed(one)])
    expect(await board.rows({ kind: 'status' })).toEqual([])
  })
})

describe('what only linked worktrees have', () => {
  const trees = [{ tree: 'feat', dir: '/feat', status: 'todo' }]
  it('is told with one of them, and leaves no mark when it goes', async () => {
    const board = published()
    const apart = following(todo('A-1'), { inMain: false, trees })
    board.change([apart])
    board.change([following(apart, { status: 'done' })])
    board.change([], { deletes: ['task:A-1'] })
    board.now += DAY
    const rows = (await board.rows({ task: 'A-1' })).toReversed()
    expect(rows.map(({ kind, tree, marks }) => [kind, tree, marks])).toEqual([
      ['created', 'feat', undefined],
      ['status', 'feat', undefined],
      ['deleted', 'feat', undefined],
    ])
  })

  it('is created when the main tree gets it, and deleted when that loses it', async () => {
    const board = published()
    const apart = following(todo('A-1'), { inMain: false, trees })
    board.change([apart])
    board.change([todo('A-1')])
    board.change([apart])
    board.now += DAY
    const rows = (await board.rows({ task: 'A-1' })).toReversed()
    expect(rows.map(({ kind, tree, marks }) => [kind, tree, marks])).toEqual([
      ['created', 'feat', undefined],
      ['created', undefined, undefined],
      ['deleted', undefined, ['deleted_while_open']],
    ])
  })
})

describe('a review', () => {
  const doneIn = (tree: string) => [{ tree, dir: `/${tree}`, status: 'done' }]
  it('begins when a worktree closes a task, and ends when the main tree has that', async () => {
    const [one] = open(1)
    if (!one) throw new Error('too few')
    const board = published(one)
    const hash = board.claim('A-1')
    const apart = following(one, { trees: doneIn('feat') })
    board.change([apart])
    board.claims.release({ hash, outcome: 'done', summary: 'Baked.' }, board.now)
    board.change([following(apart, { labels: ['x'] })])
    board.change([closed(one)])
    board.now += DAY
    const rows = (await board.rows({ task: 'A-1' })).toReversed()
    expect(rows.map(({ kind, actor, tree, marks }) => [kind, actor, tree, marks])).toEqual([
      ['claimed', 'ada', undefined, undefined],
      ['review', 'ada', 'feat', undefined],
      ['released', 'ada', undefined, undefined],
      ['status', 'ada', undefined, undefined],
      ['merged', 'ada', 'feat', undefined],
    ])
  })

  it('begins where a claim was released as done, and no worktree says so', async () => {
    const [one] = open(1)
    if (!one) throw new Error('too few')
    const board = published(one)
    board.claims.release({ hash: board.claim('A-1'), outcome: 'done' }, board.now)
    board.change([closed(one)])
    const kinds = (await board.rows({ actor: 'ada' })).toReversed().map(({ kind }) => kind)
    expect(kinds).toEqual(['claimed', 'released', 'review', 'status', 'merged'])
  })

  it('is not over where that branch is checked out in the main tree', async () => {
    const [one] = open(1)
    if (!one) throw new Error('too few')
    const board = published(following(one, { trees: doneIn('feat') }))
    board.change([], { main: { head: 'a'.repeat(40), branch: 'main' } })
    const main = { head: 'b'.repeat(40), branch: 'feat', switched: true } as const
    board.change([closed(one)], { main })
    expect(await board.rows({ kind: 'merged' })).toEqual([])
  })
})

describe('what is kept', () => {
  it('is of 90 days, with the hash before the first row', async () => {
    const board = published(...open(1))
    const created = async () => (await board.rows({ kind: 'created' })).map(({ task }) => task)
    board.change([todo('A-2')])
    board.now += 50 * DAY
    board.change([todo('A-3')])
    expect(await created()).toEqual(['A-3', 'A-2'])
    board.now += 50 * DAY
    expect(await created()).toEqual(['A-3'])
    board.change([todo('A-4')])
    expect(await created()).toEqual(['A-4', 'A-3'])
    // The last one that is gone stays, for its hash.
    const first = board.sql.all("SELECT kind, task FROM activity WHERE kind = 'created'")
    expect(first.map(({ task }) => task)).toEqual(['A-2', 'A-3', 'A-4'])
    board.now += 100 * DAY
    expect(await board.rows()).toEqual([])
    board.change([todo('A-5')])
    expect(await created()).toEqual(['A-5'])
  })

  it('is 100,000 rows', async () => {
    const board = published()
    board.sql.all(
      `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 101000)
        INSERT INTO activity SELECT i, ?, 'created', 'A-' || i, NULL, 'e', 0,
          '{"seq":' || i || ',"at":"2026-03-01T10:00:00Z","kind":"created"}', 'h' FROM n`,
      board.now,
    )
    expect((await board.rows({}, 1))[0]?.seq).toBe(101_000)
    expect(await board.rows({ task: 'A-1000' })).toEqual([])
    expect(await board.rows({ task: 'A-1001' })).toHaveLength(1)
    // The rows themselves go once an hour, but for one that has the hash before.
    board.now += 60 * MINUTE
    board.change([todo('A-1')])
    const [kept] = board.sql.all<{ n: number }>('SELECT count(*) AS n FROM activity')
    expect(kept?.n).toBeLessThan(100_005)
  })

  it('takes two rows for a changed task, and none for another text', async () => {
    const [one] = open(1)
    if (!one) throw new Error('too few')
    const board = published(one)
    const written = (record: DataRecord) => {
      const total = () => board.sql.all<{ n: number }>('SELECT total_changes() AS n')[0]?.n ?? 0
      const before = total()
      board.change([record])
      return total() - before
    }
    const plain = written(following(one, { body: 'Another text.' }))
    expect(written(closed(one))).toBe(plain + 2)
    expect(written(following(one, { status: 'done', deps: ['A-9'] }))).toBe(plain + 1)
  })

  it('has its head in the log once an hour, with a row', async () => {
    const board = published()
    const heads = () => board.lines.filter((line) => 'head' in line)
    expect(heads()).toHaveLength(1)
    board.now += 59 * MINUTE
    board.change([todo('A-1')])
    expect(heads()).toHaveLength(1)
    board.now += 2 * MINUTE
    board.change([todo('A-2')])
    expect(heads()).toHaveLength(2)
    const { seq, head } = heads()[1] as { seq: number; head: string }
    const row = (await board.rows()).find((it) => it.seq === seq)
    expect(row).toMatchObject({ hash: head })
  })
})

it('tells of what an agent says at most each five minutes', async () => {
  const board = published(...open(1))
  const hash = board.claim('A-1', 'ada', DAY)
  for (let n = 0; n < 21; n++) {
    board.claims.renew({ hash, progress: `step ${n}` }, board.now)
    board.now += 30_000
  }
  const rows = (await board.rows({ kind: 'progress' })).toReversed()
  expect(rows.map(({ summary }) => summary)).toEqual(['step 0', 'step 10', 'step 20'])
})
