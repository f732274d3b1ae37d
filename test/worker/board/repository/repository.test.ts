import { expect, it } from 'vitest'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import type { Query } from '../../../../worker/board/repository/reads.ts'
import {
  BUCKETS,
  bucketOf,
  type ChangesRequest,
  type DataRecord,
  EMPTY_HASH,
  type Message,
  REPORT_MS,
  type SyncRequest,
} from '../../../../worker/board/wire.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { entries, freshHash, sessionRecord, sums, taskRecord } from '../../../support/edge.ts'

const root = (run: number | null): SyncRequest => ({
  step: 'root',
  run,
  root: EMPTY_HASH,
  store: { state: 'present', version: '1' },
})
const HOUR = 3_600_000

/** A repository with two sidecars, of which the later one was heard of at `now`. */
function rivals(now: number) {
  const sql = openSql(':memory:')
  const { repository } = openRepository(sql)
  repository.sync(root(null), now)
  repository.sync(root(null), now)
  return repository
}

it('keeps a sidecar waiting for as long as the later one reports', () => {
  const repository = rivals(0)
  for (let now = REPORT_MS; now < HOUR; now += REPORT_MS) {
    expect(repository.sync(root(1), now - 1)).toEqual({ ok: false, reason: 'superseded' })
    expect(repository.sync(root(2), now)).toMatchObject({ ok: true })
  }
})

it('lets a sidecar publish within a minute after the later one was killed', () => {
  const repository = rivals(0)
  expect(repository.sync(root(1), REPORT_MS)).toMatchObject({ ok: false })
  expect(repository.sync(root(1), 55_000)).toMatchObject({ ok: true, answer: { run: 3 } })
  expect(repository.sync(root(2), 55_001)).toEqual({ ok: false, reason: 'superseded' })
})

it.each([HOUR, 24 * HOUR, 365 * 24 * HOUR])(
  'lets nobody wait for a clock that was set back by %i ms',
  (ms) => {
    const repository = rivals(ms)
    expect(repository.sync(root(1), 0)).toMatchObject({ ok: true, answer: { run: 3 } })
    expect(repository.sync(root(1), 1)).toEqual({ ok: false, reason: 'superseded' })
  },
)

/** A repository with these records, and what its sidecar sends to it. */
function published(...records: DataRecord[]) {
  const { repository, reads, claims } = openRepository(openSql(':memory:'))
  const began = repository.sync(root(null), 0)
  if (!began.ok || began.answer.step !== 'root') throw new Error('no sync')
  const { run, epoch } = began.answer
  let batch = 0
  const change = (parts: Partial<ChangesRequest> = {}, now = 0) =>
    repository.changes({ run, epoch, batch: ++batch, upserts: [], deletes: [], ...parts }, now)
  change({ upserts: records })
  const found = (query: Query, host = {}) => {
    const given = { streams: 0, awakeSince: '', now: new Date(0).toISOString(), ...host }
    const read = reads.find(query, given)
    return read.state === 'found'
      ? { etag: read.etag, ...JSON.parse([...read.pieces].join('')) }
      : read
  }
  return {
    repository,
    claims,
    run,
    epoch,
    change,
    found,
    /** The newest batch. */
    batch: () => batch,
    sync: (fields: object, now = 0) => repository.sync({ run, ...fields } as SyncRequest, now),
    compare: (all: DataRecord[], more = false, now = 0) => {
      const buckets = entries(
        all,
        Array.from({ length: BUCKETS }, (_, n) => n),
      )
      const request = { step: 'entries', run, batch: ++batch, buckets, ...(more && { more }) }
      return repository.sync(request as SyncRequest, now)
    },
    currentAt: () => Date.parse(found({ kind: 'status' }).currentAt),
  }
}
const A = taskRecord('A')
const B = taskRecord('B')
const S = sessionRecord('s', { task: 'A' })
const frameOf = (id: string, message: Message) => `id: ${id}\ndata: ${JSON.stringify(message)}\n\n`
const ofTask = (id: string): Message => ({ type: 'task-changed', id })
const ALL: Message = { type: 'tasks-changed' }
const CONFIG: DataRecord = {
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'done'], closed: ['done'] },
}

it('sends a stream that comes back each of 16 messages that it missed, and of more their sum', () => {
  const { repository, epoch, change } = published(A, B)
  const head = 20
  for (let n = 2; n <= head; n++) change({ upserts: [taskRecord('A')] })
  const missedAfter = (seq: number) =>
    repository.replay({ lastEventId: `${epoch}-${seq}`, since: 0 }, 0)
  expect(missedAfter(head)).toEqual([`id: ${epoch}-${head}\n\n`])
  for (const missed of [1, 16]) {
    const seqs = Array.from({ length: missed }, (_, n) => head - missed + 1 + n)
    const frames = seqs.map((seq) => frameOf(`${epoch}-${seq}`, ofTask('A')))
    expect(missedAfter(head - missed)).toEqual(frames)
  }
  expect(missedAfter(head - 17)).toEqual([frameOf(`${epoch}-${head}`, ofTask('A'))])
  for (const lastEventId of [`${epoch}-${head + 1}`, `x-${head}`]) {
    const frames = repository.replay({ lastEventId, since: 0 }, 0)
    expect(frames).toEqual([frameOf(`${epoch}-${head}`, ALL)])
  }
})

it('tells what was first published, and the session that began last, of two at once the later', () => {
  const at = (id: string, hour: number) =>
    sessionRecord(id, { startedAt: new Date(hour * HOUR).toISOString() })
  const first = (...upserts: DataRecord[]) => {
    const { repository } = openRepository(openSql(':memory:'))
    const began = repository.sync({ ...root(null), root: '1'.repeat(32) } as SyncRequest, 0)
    if (!began.ok || began.answer.step !== 'root') throw new Error('no sync')
    const { run, epoch } = began.answer
    const sent = repository.changes({ run, epoch, batch: 1, upserts, deletes: [] }, 0)
    return sent.ok && sent.frames.map((frame) => frame.replace(`${epoch}-`, ''))
  }
  const began = (session: string): Message => ({ type: 'session-changed', session })
  expect(first(A)).toEqual([frameOf('1', ofTask('A'))])
  expect(first(at('new', 2), at('old', 1))).toEqual([frameOf('1', began('old'))])
  expect(first(A, at('new', 2), at('old', 1))).toEqual([
    frameOf('1', ofTask('A')),
    frameOf('2', began('new')),
  ])
  expect(first(A, at('one', 2), at('two', 2))).toMatchObject([{}, frameOf('2', began('two'))])
})

it('asks for what differs only, and drops what the sidecar has no longer', () => {
  const { sync, compare, change, currentAt, batch, found } = published(A, B, S)
  const { buckets } = sums([A, taskRecord('B'), S])
  const answer = { step: 'buckets', differ: [bucketOf('task:B')] }
  expect(sync({ step: 'buckets', buckets }, 5)).toEqual({ ok: true, answer, frames: [] })
  expect(found({ kind: 'status' }).sidecar.lastSeenAt).toBe(new Date(5).toISOString())

  const other = taskRecord('B')
  const asked = compare([A, other], false, 10)
  expect(asked).toMatchObject({ ok: true, answer: { lack: ['task:B'], dropped: 1 }, frames: [] })
  expect(currentAt()).toBe(0)
  // Not all is there before what it lacked.
  expect(compare([A, other], false, 11)).toMatchObject({ frames: [] })
  const sent = change({ upserts: [other] }, 12)
  expect(sent).toMatchObject({ frames: [expect.stringContaining('"B"')] })
  expect(compare([A, other], true, 20)).toMatchObject({ frames: [] })
  expect(currentAt()).toBe(12)
  const last = compare([A], false, 21)
  expect(last).toMatchObject({ answer: { lack: [], dropped: 1 }, frames: [frameOfAny('B')] })
  expect(currentAt()).toBe(21)
  const stale = { step: 'entries', batch: batch(), buckets: entries([A], [0]) }
  expect(sync(stale)).toEqual({ ok: false, reason: 'stale_batch' })
  expect(change({ deletes: ['task:B'] })).toMatchObject({ answer: { message: null }, frames: [] })
})
const frameOfAny = (id: string) => expect.stringContaining(JSON.stringify(ofTask(id)))

it.each([
  ['the same sums', 'present', true],
  ['other sums', 'present', false],
  ['no folder', 'missing', true],
])(
  'a sync of %s (%s) ends a change that was begun, and what it closed: %j',
  (_name, state, isSame) => {
    const { claims, change, sync, currentAt } = published(
      CONFIG,
      taskRecord('A', { status: 'todo' }),
    )
    claims.claim({ hash: 'h', actor: 'ada', task: 'A', ttlMs: HOUR, max: 1, force: true }, 0)
    const done = taskRecord('A', { status: 'done' })
    change({ upserts: [done], more: true })
    const all = isSame ? sums([CONFIG, done]).root : EMPTY_HASH
    const answer = sync({ step: 'root', root: all, store: { state, version: '1' } }, 5)
    const ended = expect.stringContaining('session-changed')
    const isWhole = isSame && state === 'present'
    const frames = isWhole ? [frameOfAny('A'), ended] : []
    expect(answer.ok && answer.frames).toEqual(
      // That the folder is gone is told at once.
      isSame && !isWhole ? [expect.stringContaining('tasks-changed')] : frames,
    )
    expect(currentAt()).toBe(isWhole ? 5 : 0)
  },
)

it('needs a sync of a sidecar that may go on, before anything else', () => {
  const { repository, epoch } = published(A)
  repository.sync(root(null), 0)
  const later = 10 * REPORT_MS
  const refused = { ok: false, reason: 'sync_required' }
  expect(repository.sync({ step: 'end', run: 1 }, later)).toEqual(refused)
  const part = { run: 1, epoch, batch: 9, upserts: [], deletes: [] }
  expect(repository.changes(part, later)).toEqual(refused)
  expect(repository.sync(root(1), later)).toMatchObject({ ok: true })
})

it('gives each list a tag that changes with it alone, and the status one with all that it says', () => {
  const { change, found, sync } = published(A, S)
  const tagsOf = () =>
    (['tasks', 'sessions'] as const).map((kind) => found({ kind, filter: {} }).etag)
  const [tasks, sessions] = tagsOf()
  change({ upserts: [taskRecord('A', { title: 'Other' })] })
  const [newTasks, same] = tagsOf()
  expect([newTasks === tasks, same]).toEqual([false, sessions])
  change({ deletes: ['session:s'] })
  expect(tagsOf()).toEqual([newTasks, expect.not.stringMatching(`^${sessions}$`)])

  const statusTag = (host = {}) => found({ kind: 'status' }, host).etag
  const tags = [statusTag(), statusTag({ streams: 1 }), statusTag({ awakeSince: '2026-01-01' })]
  const now = (ms: number) => ({ now: new Date(ms).toISOString() })
  tags.push(statusTag(now(HOUR)))
  sync({ step: 'end' })
  tags.push(statusTag())
  change()
  tags.push(statusTag())
  expect(new Set(tags).size).toBe(tags.length)
})

it('lists the sessions of a task, and no others, and knows nothing that was never published', () => {
  const { found } = published(A, B, S, sessionRecord('t', { task: 'B' }))
  expect(found({ kind: 'task-sessions', task: 'A' }).sessions).toMatchObject([{ id: 's' }])
  expect(found({ kind: 'task', id: 'A' }).sessions).toMatchObject([{ id: 's' }])
  expect(found({ kind: 'status' })).not.toHaveProperty('config')
  const { reads } = openRepository(openSql(':memory:'))
  const host = { streams: 0, awakeSince: '', now: '' }
  for (const kind of ['status', 'tasks'] as const) {
    expect(reads.find({ kind, filter: {} } as Query, host)).toEqual({ state: 'unpublished' })
  }
})
