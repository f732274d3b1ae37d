// What `GET /api/activity` answers: rows of the history, each with what stands out in it now.

import { sha256Sync } from '../../shared/sha256-sync.ts'
import { parseEventId } from '../streams/sse.ts'
import { type Around, marksOf, NEAR_MS, Nearby } from './activity-marks.ts'
import type { ActivityFilter, ActivityStore } from './activity-sqlite.ts'

export interface ActivityQuery {
  filter: ActivityFilter
  /** As it was asked for. */
  since?: string
  before?: number
  limit: number
}

/** The board's log of messages, and the time (ms). */
interface Log {
  epoch: string
  head: number
  now: number
}

/** Two clocks differ by so much. */
const AHEAD_MS = 10_000
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

export class ActivityReads {
  readonly #store: ActivityStore

  constructor(store: ActivityStore) {
    this.#store = store
  }

  /** `tag` changes whenever the text would. Undefined: `since` is no place of this history. */
  answer(query: ActivityQuery, log: Log): { tag: string; text: string } | undefined {
    const { filter, before = Number.MAX_SAFE_INTEGER, limit } = query
    const { now } = log
    const since = query.since === undefined ? 1 : this.#after(query.since, log)
    if (since === undefined) return undefined
    const first = this.#store.first(now)
    const from = Math.max(since, first)
    const found = this.#store.list(filter, { from, before }, limit + 1)
    const stored = found.slice(0, limit)
    const around = this.#around()
    const marked = stored.map((it) => ({ ...it, marks: marksOf(it.row, around, now) }))
    const rows = marked.map(({ json, hash, marks }) => {
      const shown = marks.length > 0 ? `,"marks":${JSON.stringify(marks)}` : ''
      return `${json.slice(0, -1)}${shown},"hash":"${hash}"}`
    })
    const oldest = stored.at(-1)?.row.seq
    const next = found.length > limit && oldest !== undefined ? `,"next":${oldest}` : ''
    const isWhole = Object.keys(filter).length === 0 && oldest !== undefined
    const previous = isWhole ? `,"previous":"${this.#store.hashOf(oldest - 1)}"` : ''
    const all = JSON.stringify(marked.map(({ marks }) => marks))
    const tag = sha256Sync(`${this.#store.last()?.seq} ${first} ${all}`)
    return { tag: tag.slice(0, 32), text: `{"activity":[${rows.join()}]${next}${previous}}` }
  }

  /** The first row after this time, or after this event. */
  #after(since: string, { epoch, head, now }: Log): number | undefined {
    const event = parseEventId(since)
    if (event) {
      if (event.epoch !== epoch || event.seq > head) return undefined
      return this.#store.lastUpTo(epoch, event.seq) + 1
    }
    const at = TIME.test(since) ? Date.parse(since) : Number.NaN
    if (Number.isNaN(at) || at > now + AHEAD_MS) return undefined
    return this.#store.firstAt(at) ?? Number.MAX_SAFE_INTEGER
  }

  #around(): Around {
    const store = this.#store
    const slots = new Map<number, Nearby>()
    return {
      ...store,
      nearby(at) {
        const slot = Math.floor(at / NEAR_MS)
        const [from, to] = [(slot - 1) * NEAR_MS, (slot + 2) * NEAR_MS]
        const known = slots.get(slot) ?? new Nearby(store.between(from, to))
        slots.set(slot, known)
        return known
      },
    }
  }
}
