// What a repository stores, over any embedded SQLite.

import { describe, expect, it } from 'vitest'
import { createBoardTables } from '../../worker/board/repository/board-tables-sqlite.ts'
import { openRepository } from '../../worker/board/repository/open-repository-sqlite.ts'
import type { BoardStore } from '../../worker/board/store/board-store-sqlite.ts'
import { LOG_ROWS } from '../../worker/board/store/message-log-sqlite.ts'
import { bucketOf, EMPTY_HASH, keyOf } from '../../worker/board/wire.ts'
import type { Sql } from '../../worker/shared/sql.ts'
import { boardStoreOver } from '../support/board-store.ts'
import { following, runRecord, sessionRecord, sums, taskRecord } from '../support/edge.ts'

interface Opened {
  store: BoardStore
  sql: Sql
}

/** `withSql` calls back with an empty database of its own. */
export function boardStoreContract(
  name: string,
  withSql: (use: (sql: Sql) => void) => Promise<void>,
): void {
  const on = (use: (opened: Opened) => void) => () =>
    withSql((sql) => {
      createBoardTables(sql)
      use({ sql, store: boardStoreOver(sql, 'epoch1') })
    })

  describe(`the board store on ${name}`, () => {
    it(
      'begins unpublished under its epoch, and keeps both when it is opened again',
      on(({ sql, store }) => {
        expect(store.state()).toMatchObject({ epoch: 'epoch1', published: false, run: 0 })
        store.save({ ...store.state(), published: true })
        createBoardTables(sql)
        const again = boardStoreOver(sql, 'epoch2')
        expect(again.state()).toMatchObject({ epoch: 'epoch1', published: true })
      }),
    )

    it(
      'writes no row when it is opened again, as an object that wakes does',
      on(({ sql, store }) => {
        store.save({ ...store.state(), published: true })
        const written = () => sql.all('SELECT total_changes() AS n')
        const before = written()
        openRepository(sql).presence.restored(1)
        openRepository(sql).nextDue()
        expect(written()).toEqual(before)
      }),
    )

    it(
      'keeps sums that a sidecar with the same records computes, through every kind of change',
      on(({ sql, store }) => {
        const records = [
          taskRecord('A-1'),
          taskRecord('A-2'),
          sessionRecord('ses_1'),
          runRecord('A-1', '20260101-100000.000'),
        ]
        for (const record of records)
          expect(store.put([record], 1)).toMatchObject([{ change: 'changed' }])
        store.save(store.state())
        expect(store.root()).toBe(sums(records).root)
        expect(store.buckets()).toEqual(sums(records).buckets)
        const [first, ...others] = records
        if (!first) throw new Error('there is a first record')
        expect(store.put([first], 1)).toEqual([])
        const changed = taskRecord('A-1', { title: 'Another' })
        expect(store.put([changed], 1)).toMatchObject([{ change: 'changed' }])
        expect(store.remove('task:A-2', 1)).toBe('task:A-2')
        expect(store.remove('task:A-2', 1)).toBeUndefined()
        store.save(store.state())
        const left = [changed, ...others.filter(({ id }) => id !== 'A-2')]
        expect(boardStoreOver(sql, 'x').root()).toBe(sums(left).root)
        for (const record of left) store.remove(keyOf(record), 1)
        expect(store.root()).toBe(EMPTY_HASH)
      }),
    )

    it(
      'writes many of all kinds at once as it writes them one by one, the last of two with one id',
      on(({ sql, store }) => {
        const records = Array.from({ length: 40 }, (_, n) => [
          taskRecord(`A-${n}`),
          sessionRecord(`ses_${n}`),
          runRecord(`A-${n}`, '20260101-100000.000'),
        ]).flat()
        const twice = taskRecord('A-7', { title: 'Another' })
        const known = records.slice(0, 3)
        store.put(known, 1)
        const put = store.put([...records, twice], 2)
        expect(new Set(put.map(({ record }) => record))).toEqual(
          new Set([...records.slice(3), twice]),
        )
        const kept = records.map((record) => (record.id === 'A-7' ? twice : record))
        expect(store.root()).toBe(sums(kept).root)
        expect(store.counts()).toMatchObject({ tasks: 40, sessions: 40, runs: 40 })
        expect(sql.all("SELECT hash FROM tasks WHERE id = 'A-7'")).toEqual([{ hash: twice.hash }])
      }),
    )

    it(
      'writes the sums that have changed, and each of them once',
      on(({ sql, store }) => {
        const rows = () => sql.all<{ n: number }>('SELECT n FROM buckets').map(({ n }) => n)
        store.put([taskRecord('A-1')], 1)
        store.save(store.state())
        expect(rows()).toEqual([bucketOf('task:A-1')])
        sql.all('DELETE FROM buckets')
        store.save(store.state())
        expect(rows()).toEqual([])
      }),
    )

    it(
      'tells a task whose file changed from one that only follows from others',
      on(({ store }) => {
        const task = taskRecord('A-1')
        store.put([task], 1)
        const ready = following(task, { ready: false })
        expect(store.put([ready], 1)).toMatchObject([{ change: 'follows', inList: true }])
        expect(store.put([ready], 1)).toEqual([])
        expect(store.put([taskRecord('A-1')], 1)).toMatchObject([
          { change: 'changed', inList: true },
        ])
        const other = taskRecord('A-1', { body: 'Another text' })
        expect(store.put([other], 1)).toMatchObject([{ change: 'changed', inList: false }])
        store.remove('task:A-1', 1)
        expect(store.put([task], 1)).toMatchObject([{ change: 'changed', inList: true }])
      }),
    )

    it.each([
      ['an older version', 'UPDATE board_schema SET version = version - 1'],
      ['a newer version', 'UPDATE board_schema SET version = version + 1'],
      ['the version that had no number', 'DROP TABLE board_schema'],
    ])('of %s begins anew under another epoch, and keeps what was spent', (_, change) =>
      on(({ sql, store }) => {
        store.put([taskRecord('A-1')], 1)
        store.put([sessionRecord('ses_1')], 1)
        store.save({ ...store.state(), published: true, run: 3 })
        store.append({ type: 'tasks-changed' }, 1)
        expect(openRepository(sql).spend('a-link', 1_000, 1)).toBe(true)
        sql.all(change)
        createBoardTables(sql)
        const again = boardStoreOver(sql, 'epoch2')
        expect(again.state()).toMatchObject({ epoch: 'epoch2', published: false, run: 0 })
        expect(again.root()).toBe(EMPTY_HASH)
        expect(again.task('A-1')).toBeUndefined()
        expect(again.head()).toBe(0)
        expect(openRepository(sql).spend('a-link', 1_000, 2)).toBe(false)
        again.put([taskRecord('A-2')], 1)
        createBoardTables(sql)
        expect(boardStoreOver(sql, 'epoch3').task('A-2')).toBeDefined()
      })(),
    )

    it(
      'leaves nothing of a turn that failed, neither rows nor sums',
      on(({ store }) => {
        store.put([taskRecord('A-1')], 1)
        store.save(store.state())
        const root = store.root()
        const fail = () =>
          store.transaction(() => {
            store.put([taskRecord('A-2')], 1)
            throw new Error('on purpose')
          })
        expect(fail).toThrow('on purpose')
        expect(store.root()).toBe(root)
        expect(store.task('A-2')).toBeUndefined()
      }),
    )

    it(
      'names the task of a run that is removed',
      on(({ store }) => {
        const run = runRecord('A-1', '20260101-100000.000')
        store.put([run], 1)
        expect(store.remove(keyOf(run), 1)).toBe('task:A-1')
      }),
    )

    it(
      'lists entries of the buckets that are asked for, and of no other',
      on(({ store }) => {
        const records = Array.from({ length: 50 }, (_, i) => taskRecord(`A-${i}`))
        for (const record of records) store.put([record], 1)
        const wanted = bucketOf('task:A-7')
        const keys = records.map(keyOf).filter((key) => bucketOf(key) === wanted)
        expect(new Set(store.entries([wanted]).keys())).toEqual(new Set(keys))
        expect(store.entries([]).size).toBe(0)
      }),
    )

    it(
      'pages tasks by id and counts them',
      on(({ store }) => {
        for (let i = 0; i < 5; i++) store.put([taskRecord(`A-${i}`)], 1)
        store.put([taskRecord('B-0', { invalid: 'It is broken.' })], 1)
        expect(store.tasks({}, '', 2).map(({ id }) => id)).toEqual(['A-0', 'A-1'])
        expect(store.tasks({}, 'A-1', 9).map(({ id }) => id)).toEqual(['A-2', 'A-3', 'A-4', 'B-0'])
        expect(store.counts()).toEqual({ tasks: 6, sessions: 0, runs: 0, invalid: 1 })
      }),
    )
  })

  describe(`the log of messages on ${name}`, () => {
    it(
      'begins at 0, and gives what came after a place in order',
      on(({ store }) => {
        expect([store.head(), store.oldest()]).toEqual([0, 1])
        store.append({ type: 'task-changed', id: 'A' }, 10)
        store.append({ type: 'tasks-changed' }, 20)
        expect(store.messagesAfter(0)).toEqual([
          { type: 'task-changed', id: 'A' },
          { type: 'tasks-changed' },
        ])
        expect(store.messagesAfter(1)).toEqual([{ type: 'tasks-changed' }])
        expect(store.messagesAfter(2)).toEqual([])
      }),
    )

    it(
      'finds the place of a moment, the head when nothing came after it',
      on(({ store }) => {
        for (const at of [10, 20, 20, 30]) store.append({ type: 'tasks-changed' }, at)
        expect([0, 10, 19, 20, 30].map((at) => store.seqBefore(at, 30))).toEqual([0, 1, 1, 3, 4])
      }),
    )

    it(
      'finds the head after the clock was set back, and what came since then',
      on(({ store }) => {
        for (const at of [1_000, 1_001]) store.append({ type: 'tasks-changed' }, at)
        expect(store.seqBefore(10, 10)).toBe(2)
        store.append({ type: 'tasks-changed' }, 12)
        expect([10, 12].map((at) => store.seqBefore(at, 13))).toEqual([2, 3])
        // The clock has reached the time of the old messages again.
        expect(store.seqBefore(999, 1_001)).toBe(3)
      }),
    )

    it(
      'keeps the newest messages only',
      on(({ store }) => {
        for (let i = 0; i < LOG_ROWS + 5; i++) store.append({ type: 'tasks-changed' }, i)
        expect([store.head(), store.oldest()]).toEqual([LOG_ROWS + 5, 6])
        expect(store.messagesAfter(5)).toHaveLength(LOG_ROWS)
      }),
    )
  })
  describe(`an id that is good once, on ${name}`, () => {
    it(
      'is spent once, also when the database is opened again',
      on(({ sql }) => {
        const opened = openRepository(sql)
        expect(opened.spend('a', 1_000, 0)).toBe(true)
        expect(opened.spend('a', 1_000, 1)).toBe(false)
        expect(opened.spend('b', 1_000, 1)).toBe(true)
        expect(openRepository(sql).spend('a', 1_000, 999)).toBe(false)
      }),
    )

    it(
      'is forgotten when it would be refused anyway',
      on(({ sql }) => {
        const opened = openRepository(sql)
        opened.spend('a', 1_000, 0)
        opened.spend('b', 5_000, 1_000)
        expect(sql.all('SELECT id FROM spent_ids')).toEqual([{ id: 'b' }])
      }),
    )
  })
}
