import type { Records } from '../../sidecar/board/record-source.ts'
import type { Edge, Failure } from '../../sidecar/publish/edge.ts'
import type {
  BoardReport,
  ChangesRequest,
  DataRecord,
  Key,
  SyncRequest,
} from '../../worker/board/wire.ts'
import { BUCKETS, bucketOf, EMPTY_HASH, keyOf, toggleHash } from '../../worker/board/wire.ts'

export const task = (n: number | string, version = 1, body = ''): DataRecord => ({
  kind: 'task',
  id: `T-${n}`,
  hash: hashOf(`T-${n}@${version}`),
  file: hashOf(`file of T-${n}@${version}`),
  task: { id: `T-${n}`, title: `Task ${n}, version ${version}`, status: 'open', ready: true, body },
})

function hashOf(text: string): string {
  let out = ''
  for (let salt = 0; out.length < 32; salt++) {
    let h = 0x811c9dc5 ^ salt
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
    out += (h >>> 0).toString(16).padStart(8, '0')
  }
  return out
}

/** A board in memory: what the files say. */
export class FakeRecords implements Records {
  readonly map = new Map<Key, DataRecord>()
  reads: Key[] = []
  /** What `follow` answers, one call after the other. */
  follows: Key[][] = []

  put(...records: DataRecord[]): Key[] {
    for (const record of records) this.map.set(keyOf(record), record)
    return records.map(keyOf)
  }

  remove(key: Key): Key[] {
    this.map.delete(key)
    return [key]
  }

  root(): string {
    return this.buckets().reduce(toggleHash, EMPTY_HASH)
  }

  buckets(): string[] {
    const sums = Array.from({ length: BUCKETS }, () => EMPTY_HASH)
    for (const [key, { hash }] of this.map) {
      const n = bucketOf(key)
      sums[n] = toggleHash(sums[n] ?? EMPTY_HASH, hash)
    }
    return sums
  }

  bucket(n: number): Record<Key, string> {
    const mine = [...this.map].filter(([key]) => bucketOf(key) === n)
    return Object.fromEntries(mine.map(([key, record]) => [key, record.hash]))
  }

  follow(): Key[] {
    return this.follows.shift() ?? []
  }

  read(key: Key): Promise<DataRecord | null> {
    this.reads.push(key)
    return Promise.resolve(this.map.get(key) ?? null)
  }
}

type Body = SyncRequest | ({ step: 'changes' } & ChangesRequest)

/**
 * The edge's rules in memory, and a list of all that it was sent. `fail` may answer a failure
 * instead; `after` may let a message through and lose its answer.
 */
export class FakeEdge implements Edge {
  readonly repo = 'team/lamps'
  readonly reports: BoardReport[] = []
  readonly held = new FakeRecords()
  readonly log: Body[] = []
  epoch = 'e1'
  run = 0
  batch = 0
  /** The sidecar that holds the run has ended. */
  ended = false
  signals = 0
  closed = false
  takesSocket = false
  attach?: NonNullable<Edge['attach']>
  store: string | undefined
  fail: (body: Body) => Failure | undefined | Promise<Failure | undefined> = () => undefined
  after: (body: Body) => Failure | undefined = () => undefined

  /** The steps so far, `changes+` with more to follow. */
  get steps(): string[] {
    return this.log.map((b) => ('more' in b && b.more ? `${b.step}+` : b.step))
  }

  get last(): Body {
    const last = this.log.at(-1)
    if (!last) throw new Error('nothing was sent')
    return last
  }

  changesSent(): ChangesRequest[] {
    return this.log.filter((b) => b.step === 'changes')
  }

  async #take<T>(body: Body, apply: () => T): Promise<{ ok: true; value: T } | Failure> {
    this.log.push(body)
    const failure = await this.fail(body)
    if (failure) return failure
    if (body.run !== null && body.run < this.run) {
      if (!this.ended) return conflict('superseded')
      if (body.step !== 'root') return conflict('sync_required')
    }
    if (body.step === 'changes' && body.epoch !== this.epoch) return conflict('sync_required')
    if ('batch' in body) {
      if (body.batch <= this.batch) return conflict('stale_batch')
      this.batch = body.batch
    }
    const value = apply()
    return this.after(body) ?? { ok: true, value }
  }

  root: Edge['root'] = (body) =>
    this.#take(body, () => {
      if (body.run === null || body.run < this.run) {
        this.run++
        this.batch = 0
      }
      this.ended = false
      this.store = body.store.state
      const match = body.root === this.held.root()
      const store = body.store.state === 'missing' ? 'missing' : 'present'
      const socket = this.takesSocket && ({ socket: true } as const)
      return { step: 'root', run: this.run, epoch: this.epoch, match, store, ...socket }
    })

  buckets: Edge['buckets'] = (body) =>
    this.#take(body, () => {
      const held = this.held.buckets()
      const differ = [...held.keys()].filter((n) => held[n] !== body.buckets[n])
      return { step: 'buckets', differ }
    })

  entries: Edge['entries'] = (body) =>
    this.#take(body, () => {
      const lack: Key[] = []
      let dropped = 0
      for (const [n, entries] of Object.entries(body.buckets)) {
        const held = this.held.bucket(Number(n))
        for (const [key, hash] of Object.entries(entries) as [Key, string][])
          if (held[key] !== hash) lack.push(key)
        for (const key of Object.keys(held) as Key[])
          if (!(key in entries)) {
            this.held.remove(key)
            dropped++
          }
      }
      return { step: 'entries', lack, dropped }
    })

  end: Edge['end'] = (body) =>
    this.#take(body, () => {
      this.ended = true
      return { step: 'end' }
    })

  changes: Edge['changes'] = (body) =>
    this.#take({ step: 'changes', ...body }, () => {
      this.held.put(...body.upserts)
      for (const key of body.deletes) this.held.remove(key)
      if (!body.more) this.signals++
      return { seq: `${this.epoch}-${this.signals}`, message: null }
    })

  report: Edge['report'] = async (report) => {
    this.reports.push(report)
    return { ok: true, value: {} }
  }

  close(): void {
    this.closed = true
  }
}

export const conflict = (code: string): Failure => ({
  ok: false,
  reason: 'conflict',
  status: 409,
  code,
  message: `conflict: ${code}`,
})
export const network: Failure = { ok: false, reason: 'network', message: 'cannot be reached' }
export const tooLarge: Failure = { ok: false, reason: 'too_large', status: 413, message: 'large' }
export const refused: Failure = { ok: false, reason: 'refused', status: 400, message: 'bad' }
export const version: Failure = {
  ok: false,
  reason: 'version',
  code: 'wire_version',
  message: 'no',
}
