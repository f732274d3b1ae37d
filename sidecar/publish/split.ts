// Cuts a change into messages of a bounded size. Pure: the caller says how many bytes a record has,
// and reads the records only as the parts fill, so a first sync of a huge board is never in memory
// as a whole.

import type { DataRecord, Key } from '../../worker/board/wire.ts'
import { keyOf } from '../../worker/board/wire.ts'

export interface Part {
  upserts: DataRecord[]
  deletes: Key[]
}

/** What a message holds beside its records: epoch, run, batch and the names of the fields. */
const ENVELOPE_BYTES = 512

export class Splitter {
  readonly #limitBytes: number
  #part: Part = { upserts: [], deletes: [] }
  #bytes = ENVELOPE_BYTES

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /**
   * Adds what `key` is now (null: nothing any more), `bytes` of JSON. Answers the part that is full
   * when this one does not fit into it; one too large for any part then goes alone.
   */
  add(key: Key, record: DataRecord | null, bytes: number): Part | undefined {
    const full = this.#bytes > ENVELOPE_BYTES && this.#bytes + bytes + 1 > this.#limitBytes
    const done = full ? this.end() : undefined
    if (record === null) this.#part.deletes.push(key)
    else this.#part.upserts.push(record)
    this.#bytes += bytes + 1
    return done
  }

  /** The rest: the last part, empty when nothing was added. */
  end(): Part {
    const part = this.#part
    this.#part = { upserts: [], deletes: [] }
    this.#bytes = ENVELOPE_BYTES
    return part
  }
}

export const keysOf = (part: Part): Key[] => [...part.upserts.map(keyOf), ...part.deletes]

/** Two parts that say the same; undefined for a part of one, which cannot be made smaller. */
export function halve({ upserts, deletes }: Part): [Part, Part] | undefined {
  const size = upserts.length + deletes.length
  if (size < 2) return undefined
  const middle = size >> 1
  const cut = Math.max(0, middle - upserts.length)
  return [
    { upserts: upserts.slice(0, middle), deletes: deletes.slice(0, cut) },
    { upserts: upserts.slice(middle), deletes: deletes.slice(cut) },
  ]
}

/**
 * The record without what makes records large, and a sentence that says so. It keeps its hash:
 * with another one every sync would find a difference that cannot be removed.
 */
export function slim(record: DataRecord): DataRecord {
  const invalid = 'This record is larger than the edge takes: its text was left out.'
  switch (record.kind) {
    case 'task': {
      const { id, title, status, deps, assignee, assignees } = record.task
      const kept = {
        ...(deps && { deps }),
        ...(assignee !== undefined && { assignee }),
        ...(assignees && { assignees }),
      }
      return {
        ...record,
        task: { id, title: title.slice(0, 500), status, ready: false, ...kept, invalid },
      }
    }
    case 'run': {
      const { output: _, cmd: __, ...kept } = record.run
      return { ...record, run: { ...kept, invalid } }
    }
    case 'session': {
      const { summary: _, live: __, ...kept } = record.session
      return { ...record, session: { ...kept, invalid } }
    }
    case 'board': {
      const { extra: _, ...kept } = record.board
      return { ...record, board: { ...kept, invalid } }
    }
  }
}

/** Buckets into messages of entries. None is cut: the edge drops what a bucket does not list. */
export function* splitBuckets(
  buckets: Iterable<[number, Record<Key, string>]>,
  limitBytes: number,
): Generator<{ buckets: Record<string, Record<Key, string>>; more: boolean }> {
  let message: Record<string, Record<Key, string>> = {}
  let bytes = ENVELOPE_BYTES
  let any = false
  for (const [n, entries] of buckets) {
    let size = 8
    // Three bytes of UTF-8 for a UTF-16 unit at most; an id is short, so counting it so is cheap.
    for (const key in entries) size += key.length * 3 + 38
    if (any && bytes + size > limitBytes) {
      yield { buckets: message, more: true }
      message = {}
      bytes = ENVELOPE_BYTES
    }
    message[n] = entries
    bytes += size
    any = true
  }
  if (any) yield { buckets: message, more: false }
}
