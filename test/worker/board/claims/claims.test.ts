// What time does to claims: expiry, grace, and a process that was away. A fake clock.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import type { Query } from '../../../../worker/board/repository/reads.ts'
import type { RepositoryHandle } from '../../../../worker/board/repository/repositories.ts'
import { ProcessRepositories } from '../../../../worker/board/repository/repositories-process.ts'
import type { List } from '../../../../worker/board/store/board-rows.ts'
import { SILENT_AFTER_MS } from '../../../../worker/board/tasks/task-state.ts'
import type { Session } from '../../../../worker/board/wire.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { CONFIG } from '../../../support/claim-board.ts'
import { taskRecord } from '../../../support/edge.ts'

const NOW = new FakeClock().now()
const TTL = 20_000
const store = { state: 'present', version: '0' } as const

/** A board with these tasks, on one database that several processes may open one after another. */
function board(...ids: string[]) {
  const lines: object[] = []
  const clock = new FakeClock()
  const sql = openSql(':memory:')
  const open = () => {
    const repositories = new ProcessRepositories({
      openSql: () => sql,
      now: clock.now,
      elapsed: clock.elapsed,
      after: clock.after,
      maxIdle: 8,
      log: (level, event, fields) => lines.push({ level, event, ...fields }),
      sendNotice: async () => ({ ok: true, status: 204 }),
      room: { all: 9, each: 9 },
      roomOfAll: { all: 9, each: 9 },
    })
    return { ...repositories.open('lamps'), end: () => repositories.endStreams() }
  }
  const { repository } = openRepository(sql)
  const began = repository.sync(
    { step: 'root', run: null, root: '0'.repeat(32), store },
    clock.now(),
  )
  if (!began.ok || began.answer.step !== 'root') throw new Error('no sync')
  const { run, epoch } = began.answer
  let batch = 0
  const change = (parts: { upserts?: ReturnType<typeof taskRecord>[] }) =>
    repository.changes(
      { run, epoch, batch: ++batch, upserts: [], deletes: [], ...parts },
      clock.now(),
    )
  change({ upserts: ids.map((id) => taskRecord(id, { status: 'todo' })) })
  return { clock, sql, open, change, lines, run, epoch }
}

let secrets = 0
const asked = (actor: string, fields: object = {}) => ({
  hash: `hash-${++secrets}`,
  actor,
  ttlMs: TTL,
  max: 1,
  force: false,
  ...fields,
})

const DAY = 86_400_000

/** A list as a client reads it. */
async function listed(repository: RepositoryHandle, query: Query & { kind: List }) {
  const read = await repository.read(query, undefined)
  if (read.state !== 'found') throw new Error(read.state)
  const { [query.kind]: rows } = JSON.parse(await new Response(read.body).text())
  const ids = (rows as { id: string }[]).map(({ id }) => id)
  return { ids, rows: rows as Partial<Session>[], tag: read.etag, seq: read.seq }
}

const sqlRows = (sql: ReturnType<typeof openSql>) =>
  sql.all<{ task: string; health: string }>('SELECT task, health FROM claims ORDER BY generation')

describe('a claim', () => {
  it('that is not renewed expires at its time, is told once, and the task is free again', async () => {
    const { clock, sql, open } = board('A-1')
    const repository = open()
    const sent: string[] = []
    repository.subscribe(
      { lastEventId: undefined, since: NOW, holder: 'me' },
      { send: (bytes) => sent.push(new TextDecoder().decode(bytes)), end: () => undefined },
    )
    const first = await repository.claims('claim', asked('ada'))
    expect(first).toMatchObject({ ok: true, answer: { task: 'A-1', expiresAt: NOW + TTL } })
    expect(await repository.claims('claim', asked('bob'))).toMatchObject({
      reason: 'nothing_ready',
    })
    sent.length = 0
    await clock.advance(TTL - 1)
    expect(sent).toEqual([])
    await clock.advance(1)
    expect(sent.join('')).toContain('session-changed')
    expect(sent).toHaveLength(1)
    expect(sqlRows(sql)).toEqual([{ task: 'A-1', health: 'stalled' }])
    await clock.advance(600_000)
    expect(sent).toHaveLength(1)
    expect(await repository.claims('claim', asked('bob'))).toMatchObject({ ok: true })
    expect(sqlRows(sql).map(({ health }) => health)).toEqual(['canceled', 'active'])
  })

  it('whose end cannot be stored does not end the process, and ends after its grace', async () => {
    const { clock, sql, open, lines } = board('A-1')
    await open().claims('claim', asked('ada'))
    const { transaction } = sql
    sql.transaction = () => {
      throw new Error('database or disk is full')
    }
    await clock.advance(TTL)
    const why = 'Error: database or disk is full'
    const line = { level: 'error', event: 'board.alarm_failed', board: 'lamps', error: why }
    expect(lines.at(-1)).toEqual(line)
    sql.transaction = transaction
    expect(sqlRows(sql)).toMatchObject([{ health: 'active' }])
    await clock.advance(600_000)
    expect(sqlRows(sql)).toMatchObject([{ health: 'stalled' }])
  })

  it('whose holder shows no sign of work is silent by time alone, until a renewal has one', async () => {
    const { clock, open } = board('A-1')
    const repository = open()
    const mine = asked('ada', { ttlMs: DAY })
    await repository.claims('claim', mine)
    const silent = () => listed(repository, { kind: 'tasks', filter: { work: 'silent' } })
    const sessions = (since?: string) =>
      listed(repository, { kind: 'sessions', filter: {}, ...(since !== undefined && { since }) })
    const [before, known] = [await silent(), await sessions()]
    await clock.advance(SILENT_AFTER_MS)
    expect(await silent()).toEqual(before)
    await clock.advance(1)
    const after = await silent()
    expect(after).toMatchObject({ ids: ['A-1'], seq: before.seq })
    expect(after.tag).not.toBe(before.tag)
    const working = { kind: 'tasks', filter: { work: 'work' } } as const
    expect((await listed(repository, working)).ids).toEqual(['A-1'])

    // Of before the claim: it shows nothing of the work on it.
    await repository.claims('renew', { hash: mine.hash, activeAt: NOW })
    expect((await silent()).ids).toEqual(['A-1'])
    // The clock of another machine may be ahead.
    await repository.claims('renew', { hash: mine.hash, activeAt: NOW + DAY })
    expect((await silent()).ids).toEqual([])
    // Whoever has read all messages gets it without one.
    const again = await sessions(known.seq)
    expect(again).toMatchObject({ seq: known.seq, ids: known.ids })
    expect(again.rows).toMatchObject([{ activeAt: new Date(clock.now()).toISOString() }])
    expect((await sessions()).tag).not.toBe(known.tag)
    await clock.advance(SILENT_AFTER_MS + 1)
    expect((await silent()).ids).toEqual(['A-1'])
    await repository.claims('renew', { hash: mine.hash, progress: 'half of it' })
    expect((await silent()).ids).toEqual([])
  })

  it('that is renewed in time never expires, and leaves the alarm alone until it comes', async () => {
    const { clock, sql, open } = board('A-1')
    const repository = open()
    const mine = asked('ada')
    await repository.claims('claim', mine)
    const due = () => sql.all<{ at: number }>('SELECT at FROM agenda')[0]?.at
    await clock.advance(15_000)
    expect(await repository.claims('renew', { hash: mine.hash })).toMatchObject({ ok: true })
    expect(due()).toBe(NOW + TTL)
    await clock.advance(5_000)
    expect(due()).toBe(NOW + 15_000 + TTL)
    expect(sqlRows(sql)).toMatchObject([{ health: 'active' }])
  })

  it('that has expired comes back with a renewal, unless somebody took the task', async () => {
    const { clock, sql, open } = board('A-1')
    const repository = open()
    const mine = asked('ada')
    await repository.claims('claim', mine)
    await clock.advance(TTL + 60_000)
    expect(await repository.claims('renew', { hash: mine.hash })).toMatchObject({ ok: true })
    expect(sqlRows(sql)).toMatchObject([{ health: 'active' }])
    await clock.advance(TTL + 60_000)
    await repository.claims('claim', asked('bob'))
    expect(await repository.claims('renew', { hash: mine.hash })).toMatchObject({
      reason: 'claim_lost',
      by: 'bob',
    })
  })

  it('has 30 s more where the host slept, or its clock jumped, beyond its end', async () => {
    const { clock, sql, open } = board('A-1')
    const first = open()
    await first.claims('claim', asked('ada'))
    first.end()
    // Another process opens the database a day later.
    clock.jump(86_400_000)
    const later = open()
    expect(await later.claims('claim', asked('bob'))).toMatchObject({ reason: 'nothing_ready' })
    await clock.advance(29_999)
    expect(sqlRows(sql)).toMatchObject([{ health: 'active' }])
    await clock.advance(1)
    expect(sqlRows(sql)).toMatchObject([{ health: 'stalled' }])
    expect(await later.claims('claim', asked('bob'))).toMatchObject({ ok: true })
  })

  it('has 30 s more where the clock jumps to shortly before its end, or after it', async () => {
    for (const left of [3_000, 0, -2_000]) {
      const { clock, sql, open } = board('A-1')
      const repository = open()
      const mine = asked('ada')
      await repository.claims('claim', mine)
      clock.jump(TTL - left)
      expect(await repository.claims('claim', asked('bob'))).toMatchObject({
        reason: 'nothing_ready',
      })
      await clock.advance(29_999)
      expect(sqlRows(sql)).toMatchObject([{ health: 'active' }])
      expect(await repository.claims('renew', { hash: mine.hash })).toMatchObject({ ok: true })
      await clock.advance(TTL)
      expect(sqlRows(sql)).toMatchObject([{ health: 'stalled' }])
    }
  })

  it('whose task is away has that, too', async () => {
    const { clock, open, run, epoch } = board('A-1')
    const repository = open()
    const mine = asked('ada')
    await repository.claims('claim', mine)
    const publish = (batch: number, parts: object) =>
      repository.changes({ run, epoch, batch, upserts: [], deletes: [], ...parts })
    await publish(2, { deletes: ['task:A-1'] })
    clock.jump(TTL + 1_000)
    await publish(3, { upserts: [taskRecord('A-1', { status: 'todo' })] })
    expect(await repository.claims('renew', { hash: mine.hash })).toMatchObject({ ok: true })
    expect(await repository.claims('claim', asked('bob'))).toMatchObject({
      reason: 'nothing_ready',
    })
  })

  it('whose task is away or closed is back with it, whatever the clock did meanwhile', async () => {
    const HOUR = 3_600_000
    const given = ['A-1', 'B-1'].map((id) => taskRecord(id, { status: 'todo' }))
    const step = fc.oneof(
      // From the true time.
      fc.record({ clock: fc.constantFrom(0, -HOUR, HOUR, 3 * HOUR, -DAY, DAY, -600, 30_400) }),
      fc.record({ pass: fc.integer({ min: 0, max: 2_000 }) }),
      fc.constantFrom({ renew: true }, { publish: true }),
    )
    const steps = fc.array(step, { maxLength: 8 })
    const life = fc.asyncProperty(fc.boolean(), steps, steps, async (isAway, first, then) => {
      const { clock, sql, open, run, epoch } = board()
      const repository = open()
      let batch = 1
      const publish = (parts: object) =>
        repository.changes({ run, epoch, batch: ++batch, upserts: [], deletes: [], ...parts })
      const away = { deletes: ['task:A-1'] }
      const closed = { upserts: [taskRecord('A-1', { status: 'done' })] }
      const mine = asked('ada', { task: 'A-1', ttlMs: 120_000 })
      let ahead = 0
      const go = async (steps: object[]) => {
        for (const it of steps as { clock?: number; pass?: number; renew?: true }[]) {
          if (it.clock !== undefined) {
            clock.jump(it.clock - ahead)
            ahead = it.clock
          } else if (it.pass !== undefined) await clock.advance(it.pass)
          else if (it.renew) await repository.claims('renew', { hash: mine.hash })
          else await publish({ upserts: [taskRecord('B-1', { title: `At ${clock.now()}` })] })
        }
      }
      await publish({ upserts: [CONFIG, ...given] })
      await go(first.slice(0, 3))
      await repository.claims('claim', mine)
      await publish(isAway ? away : closed)
      await go(then)
      await publish({ upserts: [taskRecord('A-1', { status: 'todo' })] })
      expect(sqlRows(sql)).toEqual([{ task: 'A-1', health: 'active' }])
    })
    await fc.assert(life, {
      numRuns: 100,
      seed: 53,
      examples: [
        // It was given while the clock was ahead.
        [true, [{ clock: DAY }], [{ clock: 0 }, { publish: true }, { clock: 3 * HOUR }]],
        // Its lease was set right, and then came a time in which nobody could renew.
        [true, [], [{ clock: -DAY }, { publish: true }, { clock: 3 * HOUR }]],
      ],
    })
  })

  it('keeps its number rising where the clock was set back, and after all were forgotten', async () => {
    const { clock, open } = board('A-1', 'A-2')
    const repository = open()
    const generationOf = async (actor: string) => {
      const claimed = await repository.claims('claim', asked(actor))
      return claimed.ok ? claimed.answer.generation : Number.NaN
    }
    const first = await generationOf('ada')
    expect(first).toBe(NOW)
    clock.jump(-3_600_000)
    expect(await generationOf('bob')).toBe(first + 1)
  })

  it('that is back with its task expires, too', async () => {
    const { clock, sql, open, run, epoch } = board('A-1')
    const repository = open()
    const mine = asked('ada')
    await repository.claims('claim', mine)
    const publish = (batch: number, parts: object) =>
      repository.changes({ run, epoch, batch, upserts: [], deletes: [], ...parts })
    await publish(2, { deletes: ['task:A-1'] })
    await clock.advance(TTL - 1)
    await repository.claims('renew', { hash: mine.hash })
    await clock.advance(2)
    expect(clock.pending).toBe(0)
    await publish(3, { upserts: [taskRecord('A-1', { status: 'todo' })] })
    expect(sqlRows(sql)).toMatchObject([{ health: 'active' }])
    await clock.advance(TTL)
    expect(sqlRows(sql)).toMatchObject([{ health: 'stalled' }])
  })

  it('has a line of the log at its beginning and its end, with the board', async () => {
    const { clock, open, lines } = board('A-1')
    const repository = open()
    const [ada, bob] = [asked('ada', { tree: 'feat' }), asked('bob')]
    await repository.claims('claim', ada)
    await clock.advance(TTL)
    await repository.claims('claim', bob)
    await repository.claims('renew', { hash: bob.hash, progress: 'half' })
    await repository.claims('release', { session: `claim-${NOW + TTL}`, outcome: 'abandoned' })
    const line = (event: string, fields: object) => {
      return { level: 'info', event, board: 'lamps', task: 'A-1', ...fields }
    }
    const [one, other] = [
      { actor: 'ada', generation: NOW, tree: 'feat' },
      { actor: 'bob', generation: NOW + TTL },
    ]
    expect(lines).toEqual([
      line('claim.began', one),
      line('claim.expired', one),
      line('claim.ended', { ...one, outcome: 'replaced' }),
      line('claim.began', other),
      line('claim.ended', { ...other, outcome: 'abandoned', byOther: true }),
    ])
  })

  it('arms no timer while nothing is claimed', async () => {
    const { clock, open } = board('A-1')
    const repository = open()
    await repository.read({ kind: 'tasks', filter: {} }, undefined)
    expect(clock.pending).toBe(0)
    const mine = asked('ada')
    await repository.claims('claim', mine)
    expect(clock.pending).toBe(1)
    await repository.claims('release', { hash: mine.hash, outcome: 'abandoned' })
    expect(clock.pending).toBe(0)
  })

  it('of a thousand is the last that a board takes, however many more are asked for', async () => {
    const { open, sql } = board('A-1', 'A-2', 'A-3')
    const repository = open()
    const claim = (n: number) => repository.claims('claim', asked(`agent-${n}`, { task: `A-${n}` }))
    expect(await claim(1)).toMatchObject({ ok: true })
    // As many as would take seconds to claim.
    sql.all(`WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 998)
      INSERT INTO claims SELECT generation + n, secret || n, 'B-' || n, actor || n, status, health,
        started_at, expires_at, ended, id || n, hash, seq, json, claim FROM claims, n`)
    expect(await claim(2)).toMatchObject({ ok: true })
    expect(sqlRows(sql)).toHaveLength(1_000)
    for (const n of [3, 4]) expect(await claim(n)).toMatchObject({ reason: 'too_many_claims' })
    expect(sqlRows(sql)).toHaveLength(1_000)
  })
})
