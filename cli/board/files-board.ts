// A board by its files alone, when no Signalbox runs: read and watched as a sidecar does it.

import { hash } from 'node:crypto'
import type { Board } from '../../sidecar/board/board.ts'
import { fileHash } from '../../sidecar/board/compose.ts'
import type { FoundBoard } from '../../sidecar/boards/discover.ts'
import { factsIn } from '../../sidecar/files/facts.ts'
import { intervalMs } from '../../sidecar/files/scan.ts'
import { Repositories } from '../../sidecar/git/repository.ts'
import { openBoard } from '../../sidecar/open-sidecar.ts'
import { Sidecar } from '../../sidecar/sidecar.ts'
import { watchChokidar } from '../../sidecar/watch/watch-chokidar.ts'
import { BUCKETS, type Key, parseKey, type Task } from '../../worker/board/wire.ts'
import { hostClock as clock } from '../../worker/shared/clock.ts'
import { VERSION } from '../context.ts'
import { type Changed, stepFeed, type WatchedBoard } from './watched-board.ts'

/** Ends with the signal. `path`: where the program git is looked for, as in `PATH`. */
export function filesBoard(
  { store, dir }: FoundBoard,
  path: string,
  since: string | undefined,
  signal: AbortSignal,
): WatchedBoard {
  const log = () => undefined
  const repositories = new Repositories({ path, clock, log })
  const { board, read, trees } = openBoard({
    store,
    runOutput: 'none',
    log,
    trees: { repositories, dir },
  })
  const feed = stepFeed(signal)
  const { publisher, watched } = watchBoard(board, since, feed)
  const sidecar = new Sidecar({
    store,
    board,
    read,
    intervalMs,
    publisher,
    ...(trees && { trees }),
    clock,
    version: VERSION,
    watch: watchChokidar,
    log,
  })
  sidecar.run(signal).catch(feed.fail)
  return watched
}

/**
 * What a wait sees of a board, and who has to say when it is known and what changed.
 * @forTests With a clock, and a board without files.
 */
export function watchBoard(
  board: Board,
  since: string | undefined,
  { steps, add }: Pick<ReturnType<typeof stepFeed>, 'steps' | 'add'>,
) {
  let files: ReadonlyMap<string, string> = new Map()
  let place = ''
  /** What changed after which place: no heartbeat moves it. */
  let last: { after: string; keys: ReadonlySet<Key> } | undefined

  function look(): string[] {
    const before = files
    files = filesOf(board)
    place = placeOf(files, board)
    const names = new Set([...before.keys(), ...files.keys()])
    return [...names].filter((name) => before.get(name) !== files.get(name))
  }
  const publisher = {
    start() {
      look()
      const isOther = since !== undefined && filesPart(since) !== filesPart(place)
      add({ id: place, ...(isOther && { changed: {} }) })
    },
    changed(keys: readonly Key[]) {
      const after = place
      const names = look()
      last = { after, keys: new Set([...(last?.after === after ? last.keys : []), ...keys]) }
      // Only time passed, or sessions changed.
      const isOnlyDerived = names.length === 0
      add({ id: place, ...(!isOnlyDerived && { changed: changedIn(names, keys) }) })
    },
    store: () => undefined,
    close: async () => undefined,
  }
  const rowOf = async (key: Key): Promise<Task | undefined> => {
    // A file that cannot be read now comes again when it can.
    const record = await board.read(key).catch(() => null)
    return record?.kind === 'task' ? record.task : undefined
  }
  async function rowsOf(keys: Iterable<Key>): Promise<Changed> {
    const tasks = [...keys].filter((key) => parseKey(key).kind === 'task')
    const rows: Task[] = []
    for (const key of tasks) rows.push(...[await rowOf(key)].filter((row) => row !== undefined))
    return { rows, ids: new Set(tasks.map((key) => parseKey(key).id)) }
  }
  const watched: WatchedBoard = {
    steps,
    task: async (id) => ({ id: place, value: await rowOf(`task:${id}`) }),
    async changedAfter(after) {
      const id = place
      if (after === id) return { id, value: { rows: [], ids: new Set() } }
      if (last && last.after === after) return { id, value: await rowsOf(last.keys) }
      const all = taskHashes(board).map(([key]) => key)
      return { id, value: { ...(await rowsOf(all)), ids: undefined } }
    },
    async about() {
      const record = await board.read('board:board').catch(() => null)
      // It was there a moment ago.
      return { ...(record?.kind === 'board' && { config: record.board }), isGone: false }
    },
  }
  return { publisher, watched }
}

/** All that a message can be about but sessions, whose heartbeats would end each wait. */
function filesOf(board: Board): Map<string, string> {
  const files = new Map<string, string>()
  for (const fact of factsIn(board.files, board.trees)) {
    if (fact.kind === 'session' || fact.kind === 'live') continue
    const name = `${fact.kind}:${fact.id}`
    const says =
      fact.kind === 'setting' ? fact.value : fileHash(fact, { place: board.placeOf(fact) })
    // Two files may make one task, and two tasks may have one id.
    files.set(name, `${files.get(name) ?? ''}${says}`)
  }
  return files
}

const PREFIX = 'files-'
/** 64 bits of a hash. */
const PART_CHARS = 16

/**
 * Two parts: the files, and the rows that follow from them. The end of a session makes a task free,
 * which a wait for that must see later, too; it ends no wait for a change.
 */
const placeOf = (files: ReadonlyMap<string, string>, board: Board): string =>
  PREFIX + [[...files].sort(), taskHashes(board)].map(partOf).join('')

const partOf = (value: unknown): string =>
  hash('sha256', JSON.stringify(value)).slice(0, PART_CHARS)

const filesPart = (place: string): string => place.slice(0, PREFIX.length + PART_CHARS)

/** The hashes of all rows, sorted. */
function taskHashes(board: Board): [Key, string][] {
  const buckets = Array.from({ length: BUCKETS }, (_, n) => Object.entries(board.bucket(n)))
  const tasks = buckets.flat().filter(([key]) => key.startsWith('task:')) as [Key, string][]
  return tasks.sort(([a], [b]) => (a < b ? -1 : 1))
}

const RUN = /^run:(.+)-\d{8}-\d{6}\.\d{3}\.log$/

/** As a message says it: a run counts as its task, what follows from a file does not count. */
function changedIn(names: readonly string[], keys: readonly Key[]): { task?: string } {
  const tasks = new Set(names.map((name) => /^task:(.+)$/s.exec(name)?.[1] ?? RUN.exec(name)?.[1]))
  const [task] = tasks
  if (tasks.size !== 1 || task === undefined) return {}
  // The second of two tasks with one id is listed by another.
  const listed = keys.filter((key) => key.startsWith('task:'))
  const [only] = listed
  return { task: only !== undefined && listed.length === 1 ? parseKey(only).id : task }
}
