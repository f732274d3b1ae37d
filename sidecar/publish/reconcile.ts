// One sync: narrows the difference between the board and the edge down to keys, from one root hash
// over 256 buckets to single hashes. Sends no record: what the edge lacks is delivered as a change.

import type { Key, StoreState } from '../../worker/board/wire.ts'
import type { Records } from '../board/record-source.ts'
import type { MainNews } from '../git/main-tree.ts'
import type { Edge, Reply, StepAnswer } from './edge.ts'
import type { Position } from './position.ts'
import { splitBuckets } from './split.ts'

/** The root of no board: an edge that has none of it must not take an empty one for published. */
const NO_ROOT = 'f'.repeat(32)

/** Takes its turn before it knows the board: the edge has nothing that would be current by that. */
export const askTurn = (
  edge: Pick<Edge, 'root'>,
  store: StoreState,
  position: Readonly<Position>,
): Promise<Reply<StepAnswer<'root'>>> => askRoot(edge, NO_ROOT, store, position)

/** Asks whether the edge has what has this hash, and takes over where that leaves the sidecar. */
async function askRoot(
  edge: Pick<Edge, 'root'>,
  root: string,
  store: StoreState,
  position: Readonly<Position>,
): Promise<Reply<StepAnswer<'root'>>> {
  const reply = await edge.root({ step: 'root', run: position.run, store, root })
  if (!reply.ok) return reply
  position.take(reply.value)
  return reply
}

/** Where the main tree is now, if that is other than what the edge has. */
export type MainSince = (sent: Position['main']) => Promise<MainNews | undefined>

/** The keys whose newest content the edge lacks. */
export async function reconcile(
  edge: Edge,
  records: Records,
  store: StoreState,
  position: Readonly<Position>,
  mainSince: MainSince | undefined,
): Promise<Reply<Key[]>> {
  const root = await askRoot(edge, records.root(), store, position)
  if (!root.ok) return root
  const { run, match } = root.value
  // A store that is missing is not an empty board: nothing is compared, so nothing is dropped.
  if (match || store.state === 'missing') return { ok: true, value: [] }

  const buckets = await edge.buckets({ step: 'buckets', run, buckets: records.buckets() })
  if (!buckets.ok) return buckets
  const lack: Key[] = []
  for (const message of splitBuckets(listed(records, buckets.value.differ), position.partBytes)) {
    // What is dropped may have gone with a switch.
    const news = await mainSince?.(position.main)
    const main = news && { main: news.main }
    const step = { step: 'entries', run, batch: position.nextBatch(), ...main } as const
    const entries = await edge.entries({ ...step, ...message })
    if (!entries.ok) {
      if (entries.reason === 'too_large') position.shrinkParts()
      return entries
    }
    position.mainArrived(news)
    for (const key of entries.value.lack) lack.push(key)
  }
  return { ok: true, value: lack }
}

function* listed(records: Records, differ: number[]): Generator<[number, Record<Key, string>]> {
  for (const n of differ) yield [n, records.bucket(n)]
}
