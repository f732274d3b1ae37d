// A board with claims, in memory. Each call says what time it is.

import type { ClaimRequest } from '../../worker/board/claims/claim-calls.ts'
import { openRepository } from '../../worker/board/repository/open-repository-sqlite.ts'
import type { Query } from '../../worker/board/repository/reads.ts'
import type { ChangesRequest, DataRecord, Session, Task } from '../../worker/board/wire.ts'
import type { Sql } from '../../worker/shared/sql.ts'
import { openSql } from '../../worker/shared/sql-node.ts'
import { freshHash, taskRecord } from './edge.ts'

export const NOW = 1_700_000_000_000
export const TTL = 20_000
const store = { state: 'present', version: '0' } as const

export const todo = (id: string, fields: Partial<Task> = {}) =>
  taskRecord(id, { status: 'todo', ...fields })

export const CONFIG: DataRecord = {
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
}

export type Change = Partial<Pick<ChangesRequest, 'upserts' | 'deletes' | 'more' | 'reading'>>

let secrets = 0

/** A sidecar's first sync of a database, and what it sends then. */
export function publisher(sql: Sql) {
  const opened = openRepository(sql)
  const { repository } = opened
  let began: { run: number; epoch: string } | undefined
  let batch = 0
  /** It starts, or shows that it is there. */
  const sync = (now: number) => {
    // It differs: nothing is whole before a change.
    const root = '1'.repeat(32)
    const answer = repository.sync({ step: 'root', run: began?.run ?? null, root, store }, now)
    if (!answer.ok || answer.answer.step !== 'root') throw new Error('no sync')
    began = answer.answer
  }
  const change = (parts: Change, now = NOW) => {
    if (!began) sync(now)
    const { run = 0, epoch = '' } = began ?? {}
    const request = { run, epoch, batch: ++batch, upserts: [], deletes: [], ...parts }
    const answer = repository.changes(request, now)
    if (!answer.ok) throw new Error(answer.reason)
    return answer
  }
  const found = (query: Query) => {
    const now = new Date(NOW).toISOString()
    const read = opened.reads.find(query, { streams: 0, awakeSince: '', now })
    if (read.state !== 'found') throw new Error(read.state)
    return { etag: read.etag, ...JSON.parse([...read.pieces].join('')) }
  }
  return {
    ...opened,
    sync,
    change,
    found,
    epochOf: () => began?.epoch ?? '',
    sessions: (): Session[] =>
      found({ kind: 'sessions', filter: {} }).sessions.filter(({ id }: Session) => id !== 'ses_1'),
  }
}

/** A board with these records. */
export function claimBoard(...records: DataRecord[]) {
  const sql = openSql(':memory:')
  const { claims, nextDue, sync, change, found, sessions, epochOf } = publisher(sql)
  change({ upserts: records })
  const claim = (fields: Partial<ClaimRequest> = {}, now = NOW) => {
    const hash = `hash-${++secrets}`
    const given = { hash, actor: 'ada', ttlMs: TTL, max: 1, force: false }
    return claims.claim({ ...given, ...fields }, now)
  }
  return {
    sql,
    claims,
    sync,
    change,
    epoch: epochOf(),
    nextDue,
    claim,
    /** The id of the task, or why there is none. */
    given: (fields?: Partial<ClaimRequest>, now?: number) => {
      const answer = claim(fields, now)
      return answer.ok ? answer.answer.task : answer.reason
    },
    sessions,
    rows: (): Task[] => found({ kind: 'tasks', filter: {} }).tasks,
    task: (id: string): Task => found({ kind: 'task', id }),
    tags: () =>
      (['tasks', 'sessions'] as const).map((kind) => found({ kind, filter: {} }).etag as string),
  }
}

export type ClaimBoard = ReturnType<typeof claimBoard>
