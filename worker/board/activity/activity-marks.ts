// What stands out in the history: what may have been lost, opened again, or done by nobody who said
// so. It follows from the rows and from the time, and is stored nowhere. Pure.

import { type Described, KEPT_MS } from './activity-rows.ts'
import type { ActivityStore } from './activity-sqlite.ts'
import type { Mark } from './mark-words.ts'

/** A file that is away for a moment, as a stash or a tool leaves it, was not deleted. */
const STANDS_MS = 120_000
/** Claims are used on a board that had one so lately. */
const USED_MS = 86_400_000
/**
 * The parts of a change are published within this time. A switch of the main tree ends by moving
 * its HEAD, so what it wrote may be published before: where that takes long, the sidecar sees the
 * HEAD by the second of two looks, which are 5 s apart, and more on a busy machine.
 */
export const NEAR_MS = 30_000

/** What was published at about the same time, some of it up to twice `NEAR_MS` away. */
export class Nearby {
  readonly #gained: Map<string | undefined, Described[]>
  readonly #lost: Map<string | undefined, Described[]>
  readonly #switches: readonly number[]

  constructor(rows: readonly Described[]) {
    const ofMain = rows.filter(({ tree }) => tree === undefined)
    const changed = ofMain.filter(({ changes }) => changes?.title)
    const of = (kind: Described['kind']) => ofMain.filter((row) => row.kind === kind)
    const switched = of('switched').filter(({ changes }) => changes?.head)
    this.#switches = switched.map(({ at }) => Date.parse(at))
    this.#gained = Map.groupBy([...of('created'), ...changed], ({ title }) => title)
    this.#lost = Map.groupBy([...of('deleted'), ...changed], (row) => textBefore(row))
  }

  /** git switched the main tree at about this time. */
  isSwitch = (at: number): boolean => this.#switches.some((it) => Math.abs(it - at) <= NEAR_MS)

  /** A row of another task that has this text now. */
  gained = (text: string | undefined, but: string | undefined): Described | undefined =>
    this.#gained.get(text)?.find(({ task }) => task !== but)

  /** A row of another task that had this text. */
  lost = (text: string | undefined, but: string | undefined): Described | undefined =>
    this.#lost.get(text)?.find(({ task }) => task !== but)
}

const textBefore = ({ title, changes }: Described): string | undefined => {
  const before = changes?.title?.[0]
  return typeof before === 'string' ? before : title
}

/** The rows around one. */
export interface Around extends Pick<ActivityStore, 'ofClaims' | 'hadClaim' | 'backAt'> {
  nearby(at: number): Nearby
}

/** `now` in ms. */
export function marksOf(row: Described, around: Around, now: number): Mark[] {
  const { kind, task, changes, by, tree } = row
  if (task === undefined || by !== undefined || tree !== undefined) return []
  if (kind !== 'deleted' && kind !== 'status') return []
  const at = Date.parse(row.at)
  const nearby = around.nearby(at)
  if (nearby.isSwitch(at)) return []
  if (kind === 'deleted') {
    const stoodMs = (around.backAt(task, row.seq) ?? now) - at
    return stoodMs >= STANDS_MS && isLostOpen(row, nearby) ? ['deleted_while_open'] : []
  }
  // What could not be read had no status.
  if (changes?.status?.[0] === '') return []
  // In a numbered list a text may have come from another number, where it had its own status; and
  // where the text that was here went to another one, this one is new.
  const from = changes?.title ? nearby.lost(row.title, task) : undefined
  const isNew = !from && changes?.title && nearby.gained(textBefore(row), task)
  if (isNew) return []
  const wasClosed = (from ?? row).changes?.closed?.[0]
  const isClosed = changes?.closed?.[1]
  if (wasClosed === true && isClosed === false) return ['reopened']
  if (wasClosed !== false || isClosed !== true || row.actor !== undefined) return []
  const tasks = [task, ...(from?.task === undefined ? [] : [from.task])]
  const isUsed = around.hadClaim(at - USED_MS, at)
  return isUsed && !tasks.some((id) => wasHeld(id, row.seq, at, around)) ? ['unclaimed'] : []
}

/** The text of the row, or what had to make room for it, is nowhere any more, and was open. */
function isLostOpen(row: Described, nearby: Nearby): boolean {
  const seen = new Set<Described>()
  let lost = row
  for (;;) {
    seen.add(lost)
    const next = nearby.gained(textBefore(lost), lost.task)
    if (!next || seen.has(next)) break
    if (next.kind === 'created') return false
    lost = next
  }
  return lost.changes?.closed?.[0] === false
}

/** By a claim that was valid then, or had finished before. */
function wasHeld(task: string, before: number, at: number, around: Around): boolean {
  const rows = around.ofClaims(task, before)
  const [last] = rows
  if (last?.kind === 'claimed' || last?.kind === 'progress') return true
  return rows.some(
    ({ changes, ...row }) =>
      changes?.health?.[1] === 'finished' && at - Date.parse(row.at) < KEPT_MS,
  )
}
