// Reads as much of a board as the choice of a task needs, and no more: of a large one most waits.
// choose.ts decides.

import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { ClaimReads } from '../store/claim-reads-sqlite.ts'
import type { StoredTask } from '../store/columns-sqlite.ts'
import { isClosedInTree } from '../tasks/closed-in.ts'
import { statusesOf } from '../tasks/to-do.ts'
import type { LightTask } from '../wire.ts'
import { chooseNamed, chooseNext, type Known, type NotChosen, type Wish } from './choose.ts'
import type { ClaimStore } from './claim-store-sqlite.ts'

/** The task that a claim gets, or why it gets none. */
export function findTask(
  wish: Wish,
  known: Known,
  board: ClaimReads & Pick<BoardStore, 'stored' | 'config'>,
  claims: ClaimStore,
): StoredTask | NotChosen {
  const { task: id } = wish
  const config = board.config()
  const stored = (id: string) => board.stored(id)
  if (id !== undefined) {
    const find = remembering(new Map(), stored)
    return chooseNamed(wish, id, { config, find }, claims.lastOf(id), known)
  }
  const { isClosed } = statusesOf(config)
  const { closed = [] } = config ?? {}
  const isOpen = ({ status }: LightTask) => !isClosed(status)
  const open = board.openTasks(closed).filter(isOpen)
  const read = new Map<string, LightTask | undefined>(open.map((task) => [task.id, task]))
  const { tree } = wish
  const inTree = tree === undefined ? [] : open.filter((it) => isClosedInTree(it, tree, isClosed))
  // What waits for them is ready in that tree.
  const waiting = inTree.length === 0 ? [] : board.waitingFor(inTree.map(({ id }) => id))
  for (const task of waiting) {
    if (!isOpen(task) || read.has(task.id)) continue
    read.set(task.id, task)
    open.push(task)
  }
  const find = remembering(read, stored)
  const hasParts = amongst(() => board.wholes())
  const waits = {
    isWhole: amongst(() => board.wholesOfWaiting(closed)),
    parts: () => board.waitingParts(closed).filter(isOpen),
    all: () => board.withDeps(closed).filter(isOpen),
  }
  const fileHash = (id: string) => stored(id)?.fileHash
  const found = chooseNext(
    wish,
    { config, find, open, waits, hasParts },
    claims.all(),
    known,
    fileHash,
  )
  return 'reason' in found ? found : (stored(found.id) ?? { reason: 'not_found' })
}

/** Reads each but once. */
function remembering<Read>(
  known: Map<string, Read | undefined>,
  read: (id: string) => Read | undefined,
) {
  return (id: string): Read | undefined => {
    if (!known.has(id)) known.set(id, read(id))
    return known.get(id)
  }
}

/** Reads them when it is asked for the first. */
function amongst(read: () => ReadonlySet<string>): (id: string) => boolean {
  let ids: ReadonlySet<string> | undefined
  return (id) => {
    ids ??= read()
    return ids.has(id)
  }
}
