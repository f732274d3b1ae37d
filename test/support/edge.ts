// An edge under test, on any host, and a publisher that sends the requests of a sidecar.

import { SignJWT } from 'jose'
import type {
  BoardReport,
  ChangesAnswer,
  ChangesRequest,
  DataRecord,
  Key,
  Probe,
  Session,
  SyncAnswer,
  SyncRequest,
  Task,
} from '../../worker/board/wire.ts'
import { BUCKETS, bucketOf, EMPTY_HASH, keyOf, toggleHash, WIRE } from '../../worker/board/wire.ts'
import { EventStream } from './event-stream.ts'
import { jsonOf } from './json-of.ts'

export const SECRET = 'a-secret-for-tests-of-32-bytes-or-more'
export const NOTICE_SECRET = `whsec_${btoa('a-secret-of-notices-of-32-bytes!')}`

/** Sends a request to the edge; `path` begins with a slash. */
export type Fetch = (path: string, init?: RequestInit) => Promise<Response>

/**
 * Headers of a request behind which its connection is not used again. workerd resets one after a
 * body that it did not read, and does not say so: the next request would get no answer.
 */
export const LAST: Readonly<Record<string, string>> = { Connection: 'close' }

export interface Edge {
  /** The origin that browsers send. */
  origin: string
  fetch: Fetch
}

let repositories = 0
/** A repository path that no other test uses. */
export const freshPath = (): string => `test/${++repositories}-${crypto.randomUUID()}`

export interface Claims {
  scope?: string
  repos?: string[]
  exp?: string | number
  aud?: string
  sub?: string
  jti?: string
  sid?: string
  actor?: string
}

/** The `aud` of the cookie, which is no token for the API. */
export const OF_SESSIONS = 'signalbox:session'

export const token = (
  { scope = 'board:read board:write', repos = ['*'], aud, exp, ...claims }: Claims,
  secret = SECRET,
): Promise<string> =>
  new SignJWT({ scope, repos, ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(aud ?? 'signalbox')
    .setExpirationTime(exp ?? '1h')
    .sign(new TextEncoder().encode(secret))

/** The first step of a sync, by default of a board without tasks. */
export const syncRoot = (
  run: number | null,
  {
    root = EMPTY_HASH,
    state = 'present',
  }: { root?: string; state?: 'present' | 'missing' | 'bare' } = {},
) => ({ step: 'root' as const, run, root, store: { state, version: '0.0.0' } })

/** A client and a publisher of one repository. */
export class Repo {
  readonly path = freshPath()
  readonly #edge: Edge
  #bearer = ''
  epoch = ''
  run = 0
  batch = 0

  constructor(edge: Edge) {
    this.#edge = edge
  }

  async request(route: string, init: RequestInit = {}): Promise<Response> {
    this.#bearer ||= await token({ repos: [this.path], exp: '1d' })
    const [pathname, query] = route.split('?')
    const headers = new Headers(init.headers)
    if (!headers.has('Authorization')) headers.set('Authorization', `Bearer ${this.#bearer}`)
    const search = new URLSearchParams(query)
    if (!search.has('path')) search.set('path', this.path)
    return await this.#edge.fetch(`/api${pathname}?${search}`, { ...init, headers })
  }

  async json<T = unknown>(route: string): Promise<T> {
    return jsonOf<T>(await this.request(route), 200)
  }

  async stream(lastEventId?: string): Promise<EventStream> {
    const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
    return new EventStream(await this.request('/events', { headers }))
  }

  post(route: 'sync' | 'changes' | 'tickets', body: object): Promise<Response> {
    return this.request(`/${route}`, { method: 'POST', body: JSON.stringify(body) })
  }

  async sync<A extends SyncAnswer | Probe>(
    body: (SyncRequest | Probe) & { step: A['step'] },
  ): Promise<A> {
    return jsonOf<A>(await this.post('sync', { wire: WIRE, ...body }), 200)
  }

  /** The first step of a sync, as after the start of a sidecar. */
  async begin(root = EMPTY_HASH): Promise<boolean> {
    const answer = await this.sync<SyncAnswer & { step: 'root' }>(syncRoot(null, { root }))
    this.epoch = answer.epoch
    this.run = answer.run
    this.batch = 0
    return answer.match
  }

  part(parts: Partial<ChangesRequest>): ChangesRequest & { wire: number } {
    this.batch++
    const { epoch, run, batch } = this
    return { wire: WIRE, epoch, run, batch, upserts: [], deletes: [], ...parts }
  }

  async changes(parts: Partial<ChangesRequest>): Promise<ChangesAnswer> {
    return jsonOf<ChangesAnswer>(await this.post('changes', this.part(parts)), 200)
  }
}

/** A repository with these records, after its first sync. */
export async function publishedRepo(edge: Edge, records: DataRecord[] = []): Promise<Repo> {
  const repo = new Repo(edge)
  await repo.begin()
  if (records.length > 0) await repo.changes({ upserts: records })
  return repo
}

/** What a running sidecar says of its board to the directory. */
export const boardReport = (fields: Partial<BoardReport> = {}) => ({
  wire: WIRE,
  run: 1,
  sidecar: { state: 'running' as const, version: '1.2.3' },
  title: 'Lamps',
  layout: 'cairn' as const,
  store: 'present' as const,
  counts: { tasks: 3, closed: 1, ready: 2 },
  changedAt: '2026-01-05T10:00:00.000Z',
  ...fields,
})

/** 32 hex digits, different for each record. */
export const freshHash = (): string => crypto.randomUUID().replaceAll('-', '')

export type TaskRecord = DataRecord & { kind: 'task' }

export function taskRecord(id: string, fields: Partial<Task> = {}): TaskRecord {
  const task: Task = { id, title: `Task ${id}`, status: 'backlog', ready: true, ...fields }
  return { kind: 'task', id, hash: freshHash(), file: freshHash(), task }
}

/** The same task after another file changed, but not its own. */
export function following(record: TaskRecord, fields: Partial<Task>): TaskRecord {
  return { ...record, hash: freshHash(), task: { ...record.task, ...fields } }
}

export function sessionRecord(id: string, fields: Partial<Session> = {}): DataRecord {
  const session: Session = {
    id,
    task: 'A-1',
    attempt: 'att_1',
    actor: 'agent:one',
    status: 'active',
    startedAt: '2026-01-01T10:00:00Z',
    health: 'active',
    ...fields,
  }
  return { kind: 'session', id, hash: freshHash(), session }
}

export function runRecord(task: string, stamp: string): DataRecord {
  const file = `${task}-${stamp}.log`
  const run = { file, at: '2026-01-01T10:00:00.000Z', exit: 0, timedout: false }
  return { kind: 'run', id: file, hash: freshHash(), task, run }
}

/** Root and bucket hashes of these records, as a sidecar computes them. */
export function sums(records: DataRecord[]): { root: string; buckets: string[] } {
  const buckets = new Array<string>(BUCKETS).fill(EMPTY_HASH)
  for (const record of records) {
    const n = bucketOf(keyOf(record))
    buckets[n] = toggleHash(buckets[n] ?? EMPTY_HASH, record.hash)
  }
  return { root: buckets.reduce(toggleHash, EMPTY_HASH), buckets }
}

/** Keys and hashes of the named buckets. */
export function entries(
  records: DataRecord[],
  buckets: number[],
): Record<string, Record<Key, string>> {
  const named: Record<string, Record<Key, string>> = {}
  for (const n of buckets) named[n] = {}
  for (const record of records) {
    const bucket = named[bucketOf(keyOf(record))]
    if (bucket) bucket[keyOf(record)] = record.hash
  }
  return named
}
