// One sync: narrows the difference between the board and the edge down to keys, from one root hash
// over 256 buckets to single hashes. Sends no record: what the edge lacks is delivered as a change.

import { type Key, PART_BYTES, type Place, type StoreState } from '../../worker/board/wire.ts'
import type { Records } from '../board/record-source.ts'
import type { MainNews } from '../git/main-tree.ts'
import type { Edge, Reply, StepAnswer } from './edge.ts'
import { splitBuckets } from './split.ts'

/** The position of this sidecar at the edge. Messages raise `batch`; a sync sets the rest. */
export interface Standing {
  /** The edge's epoch; empty before the first sync. */
  epoch: string
  /** null asks the edge for a new run. */
  run: number | null
  batch: number
  /** What the edge makes of a bare store. */
  store: 'present' | 'missing'
  /** What the edge has of the main tree. */
  main?: Place | undefined
  /** The edge takes a socket in place of reports. */
  takesSocket: boolean
  /** Largest message; shrinks when something on the way takes less than the protocol allows. */
  partBytes: number
  /** What the edge refused and is not asked again in this delivery: key → hash, if it has one. */
  refused: Map<Key, string | undefined>
}

/** Before the first sync. */
export const unknownStanding = (): Standing => ({
  epoch: '',
  run: null,
  batch: 0,
  store: 'present',
  takesSocket: false,
  partBytes: PART_BYTES,
  refused: new Map(),
})

/** The root of no board: an edge that has none of it must not take an empty one for published. */
const NO_ROOT = 'f'.repeat(32)

/** Takes its turn before it knows the board: the edge has nothing that would be current by that. */
export const askTurn = (
  edge: Pick<Edge, 'root'>,
  store: StoreState,
  standing: Standing,
): Promise<Reply<StepAnswer<'root'>>> => askRoot(edge, NO_ROOT, store, standing)

/** Asks whether the edge has what has this hash, and takes over where that leaves the sidecar. */
async function askRoot(
  edge: Pick<Edge, 'root'>,
  root: string,
  store: StoreState,
  standing: Standing,
): Promise<Reply<StepAnswer<'root'>>> {
  const reply = await edge.root({ step: 'root', run: standing.run, store, root })
  if (!reply.ok) return reply
  const { run, epoch } = reply.value
  if (run !== standing.run) standing.batch = 0
  standing.run = run
  standing.epoch = epoch
  standing.store = reply.value.store
  standing.main = reply.value.main
  standing.takesSocket = reply.value.socket === true
  return reply
}

/** Where the main tree is now, if that is other than what the edge has. */
export type MainSince = (sent: Standing['main']) => Promise<MainNews | undefined>

/** What was sent of the main tree has arrived. */
export function mainArrived(standing: Standing, news: MainNews | undefined): void {
  if (!news) return
  const { switched: _, from: __, ...at } = news.main
  standing.main = at
  news.arrived()
}

/** The keys whose newest content the edge lacks. */
export async function reconcile(
  edge: Edge,
  records: Records,
  store: StoreState,
  standing: Standing,
  mainSince: MainSince | undefined,
): Promise<Reply<Key[]>> {
  const root = await askRoot(edge, records.root(), store, standing)
  if (!root.ok) return root
  const { run, match } = root.value
  // A store that is missing is not an empty board: nothing is compared, so nothing is dropped.
  if (match || store.state === 'missing') return { ok: true, value: [] }

  const buckets = await edge.buckets({ step: 'buckets', run, buckets: records.buckets() })
  if (!buckets.ok) return buckets
  const lack: Key[] = []
  for (const message of splitBuckets(listed(records, buckets.value.differ), standing.partBytes)) {
    standing.batch++
    // What is dropped may have gone with a switch.
    const news = await mainSince?.(standing.main)
    const main = news && { main: news.main }
    const step = { step: 'entries', run, batch: standing.batch, ...main } as const
    const entries = await edge.entries({ ...step, ...message })
    if (!entries.ok) {
      if (entries.reason === 'too_large') standing.partBytes >>= 1
      return entries
    }
    mainArrived(standing, news)
    for (const key of entries.value.lack) lack.push(key)
  }
  return { ok: true, value: lack }
}

function* listed(records: Records, differ: number[]): Generator<[number, Record<Key, string>]> {
  for (const n of differ) yield [n, records.bucket(n)]
}
