import { expect, it } from 'vitest'
import type { SealedRule } from '../../../../worker/board/notices/notice-calls.ts'
import type { DueRequest } from '../../../../worker/board/notices/notice-deliveries.ts'
import { ProcessRepositories } from '../../../../worker/board/repository/repositories-process.ts'
import type { DataRecord, SyncRequest } from '../../../../worker/board/wire.ts'
import type { Sql } from '../../../../worker/shared/sql.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { freshHash } from '../../../support/edge.ts'
import { processHost } from '../../../support/process-host.ts'

it('makes no database for a question about a repository that nobody wrote to', async () => {
  const asked: boolean[] = []
  const host = processHost({
    openSql: (_path, make) => {
      asked.push(make)
      return make ? openSql(':memory:') : undefined
    },
  })
  const unknown = new ProcessRepositories(host).open('team/unknown')
  const answer = await unknown.read({ kind: 'tasks', filter: {} }, undefined)
  expect(answer).toEqual({ state: 'unpublished' })
  expect(asked).toEqual([false])
})

it('waits for a repository that nobody has published, and makes its database when somebody does', async () => {
  const made: string[] = []
  const host = processHost({
    openSql(path, make) {
      if (!make) return undefined
      made.push(path)
      return openSql(':memory:')
    },
    room: { all: 2, each: 1 },
    roomOfAll: { all: 2, each: 2 },
  })
  const waiting = new ProcessRepositories(host).open('team/unknown')
  const frames: string[] = []
  const ends: string[] = []
  const sink = {
    send: (bytes: Uint8Array) => frames.push(new TextDecoder().decode(bytes)),
    end: (reason: string) => ends.push(reason),
  }
  const from = { lastEventId: undefined, since: 0, holder: 'ann' }
  waiting.subscribe(from, sink)
  expect(frames).toEqual(['id: 000000000000-0\n\n'])
  waiting.subscribe(from, { ...sink })
  expect(ends).toEqual(['full'])
  waiting.subscribe({ ...from, holder: 'bob' }, { ...sink })
  expect(ends).toEqual(['full'])
  expect(made).toEqual([])
  const sync = { step: 'root', run: null, root: '0'.repeat(32) } as const
  await waiting.sync({ ...sync, store: { state: 'present', version: '1' } } as SyncRequest)
  expect(made).toEqual(['team/unknown'])
})

it('has one limit for the streams of all repositories, and one for those of a subject', () => {
  const rooms = { room: { all: 8, each: 2 }, roomOfAll: { all: 4, each: 3 } }
  const host = processHost({ openSql: () => undefined, ...rooms })
  const repositories = new ProcessRepositories(host)
  const ends: string[] = []
  const sink = () => ({ send: () => undefined, end: (reason: string) => ends.push(reason) })
  const open = (path: string, holder: string) =>
    repositories.open(path).subscribe({ lastEventId: undefined, since: 0, holder }, sink())
  const first = open('a', 'ann')
  for (const path of ['b', 'c', 'd']) open(path, 'ann')
  expect(ends).toEqual(['full'])
  open('a', 'bob')
  expect(ends).toEqual(['full'])
  open('b', 'bob')
  expect(ends).toEqual(['full', 'full'])
  first.close()
  first.close()
  open('b', 'bob')
  open('b', 'bob')
  expect(ends).toEqual(['full', 'full', 'full'])
})

/** A process whose timers ring by hand, over databases that outlive it. */
function life(databases: Map<string, Sql>, clock: { now: number }) {
  const timers = new Set<{ at: number; call: () => void }>()
  const requests: DueRequest[] = []
  const opened: string[] = []
  const host = processHost({
    openSql(path, make) {
      if (make && !databases.has(path)) databases.set(path, openSql(':memory:'))
      const sql = databases.get(path)
      // Whether it is opened as a repository, and not only looked at.
      return (
        sql && {
          ...sql,
          transaction(run) {
            opened.push(path)
            return sql.transaction(run)
          },
        }
      )
    },
    now: () => clock.now,
    elapsed: () => clock.now,
    after(ms, call) {
      const timer = { at: clock.now + ms, call }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async sendNotice(request) {
      requests.push(request)
      return { ok: true, status: 204 }
    },
  })
  const next = () => [...timers].toSorted((one, other) => one.at - other.at)[0]
  return {
    repositories: new ProcessRepositories(host),
    requests,
    opened,
    next,
    /** Until then, with every timer at its time. */
    async pass(ms: number) {
      const until = clock.now + ms
      for (let timer = next(); timer && timer.at <= until; timer = next()) {
        timers.delete(timer)
        clock.now = timer.at
        timer.call()
        // What it sends is answered at once.
        await new Promise(setImmediate)
      }
      clock.now = until
    },
  }
}

const MINUTE = 60_000
const offline = (minutes = 0): SealedRule => ({
  on: 'offline',
  minutes,
  to: 'ntfy',
  host: 'a.test',
  sealed: 'x',
})

async function publish(
  { repositories }: ReturnType<typeof life>,
  board: string,
  rules: SealedRule[],
) {
  const repository = repositories.open(board)
  const store = { state: 'present', version: '1' } as const
  const root = { step: 'root', run: null, root: '0'.repeat(32), store } as const
  const synced = await repository.sync(root, { board, rules })
  if (!synced.ok || synced.answer.step !== 'root') throw new Error('no sync')
  const { run, epoch } = synced.answer
  const config: DataRecord = {
    kind: 'board',
    id: 'board',
    hash: freshHash(),
    board: { layout: 'cairn', states: ['todo'], closed: [] },
  }
  await repository.changes({ run, epoch, batch: 1, upserts: [config], deletes: [] })
}

it('decides after a restart for boards with rules, though nobody asks, and opens no other', async () => {
  const databases = new Map<string, Sql>()
  const clock = { now: Date.parse('2026-11-29T12:00:00Z') }
  const before = life(databases, clock)
  await publish(before, 'told', [offline()])
  await publish(before, 'quiet', [])
  const after = life(databases, clock)
  const resumed = after.repositories.resume(['told', 'quiet', 'unknown'])
  await after.pass(0)
  await resumed
  expect(new Set(after.opened)).toEqual(new Set(['told']))
  await after.pass(5 * MINUTE)
  expect(after.requests.map(({ board }) => board)).toEqual(['told'])
})

it('gives each sidecar the time to report before it says after a restart that one is offline', async () => {
  const databases = new Map<string, Sql>()
  const clock = { now: Date.parse('2026-11-29T12:00:00Z') }
  await publish(life(databases, clock), 'told', [offline()])
  // The edge was down for an hour, and the sidecar was not.
  clock.now += 60 * MINUTE
  const after = life(databases, clock)
  const resumed = after.repositories.resume(['told'])
  await after.pass(MINUTE / 2)
  await resumed
  await publish(after, 'told', [offline()])
  await after.pass(MINUTE / 2)
  expect(after.requests).toEqual([])
  await after.pass(5 * MINUTE)
  expect(after.requests).toHaveLength(1)
})

it('has no timer that is longer than a host can count', async () => {
  const clock = { now: Date.parse('2026-11-29T12:00:00Z') }
  const process = life(new Map(), clock)
  await publish(process, 'told', [offline(30 * 24 * 60)])
  await process.pass(10 * MINUTE)
  expect((process.next()?.at ?? 0) - clock.now).toBeGreaterThan(0)
  expect((process.next()?.at ?? 0) - clock.now).toBeLessThan(2 ** 31)
})
