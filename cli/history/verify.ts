// Compares an export of a history, or the heads in a log, with what a running Signalbox has.

import type { ActivityRow } from '../../libraries/api/types.ts'
import { type Chained, readProof } from '../../worker/board/activity/activity-chain.ts'
import type { BoardAtEdge } from '../board/edge-board.ts'
import { pagesOf } from './read-history.ts'

export interface Verified {
  /** What the file has and this Signalbox marks, the newest first. */
  marked: ActivityRow[]
  /** Why it is not whole; or what of it is. */
  fault?: string
  whole: string
}

/** Throws BoardError. */
export async function verify(text: string, edge: BoardAtEdge): Promise<Verified> {
  const proof = readProof(text)
  if (proof.fault !== undefined) return { marked: [], fault: proof.fault, whole: '' }
  const known = proof.rows.length > 0 ? proof.rows : proof.heads
  const wanted = new Map(known.map(({ seq, hash }) => [seq, hash]))
  const { marked, newest, oldest, other, goesOn, after } = await compare(wanted, proof.rows, edge)
  const ahead = known.find(({ seq }) => seq > newest)
  const faults = [
    other !== undefined &&
      `Row ${other} is another one here: these are two histories, or one was changed.`,
    ahead && `This Signalbox has no row ${ahead.seq}: its history ends at ${newest}.`,
    // What is kept here still was here when it was exported.
    proof.rows.length > 0 && goesOn && 'Its beginning is cut off: rows before it are here.',
  ]
  const fault = faults.find((it) => typeof it === 'string')
  const kept = known.filter(({ seq }) => seq >= oldest).length
  const gone = kept < known.length ? `; ${known.length - kept} are not kept here any more` : ''
  const what = proof.rows.length > 0 ? 'rows' : 'heads'
  // An end that was cut off and written anew is what an export of that time was.
  const later = after ? ` It ends before row ${after.seq}, of ${after.at}.` : ''
  const here = `${known.length} ${what}, ${kept} of them as they are here${gone}`
  const whole = `It is whole: ${here}.${later}`
  return { marked, whole, ...(fault !== undefined && { fault }) }
}

async function compare(
  wanted: ReadonlyMap<number, string>,
  rows: readonly Chained[],
  edge: BoardAtEdge,
) {
  const marked: ActivityRow[] = []
  const least = Math.min(...wanted.keys())
  const last = rows.at(-1)?.seq ?? 0
  let newest = 0
  let oldest = Number.POSITIVE_INFINITY
  let other: number | undefined
  let goesOn = false
  let after: ActivityRow | undefined
  for await (const { activity, next } of pagesOf(edge)) {
    for (const row of activity) {
      newest = Math.max(newest, row.seq)
      oldest = row.seq
      const hash = wanted.get(row.seq)
      if (hash !== undefined && hash !== row.hash) other = row.seq
      if (row.seq > last && last > 0) after = row
      if (row.marks && hash === row.hash && row.seq <= last) marked.push(row)
    }
    goesOn = oldest < least || next !== undefined
    if (oldest <= least) break
  }
  return { marked, newest, oldest, other, goesOn, after }
}
