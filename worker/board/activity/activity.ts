// Writes the history of a board: a row for each change, in the transaction of the change. Decides
// nothing of tasks (task-news.ts) and of marks (activity-marks.ts).

import type { Log } from '../../shared/log.ts'
import type { PutResult, RepositoryState } from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { StoredTask } from '../store/columns-sqlite.ts'
import { above } from '../tasks/parts.ts'
import { isInReview } from '../tasks/task-state.ts'
import { statusesOf } from '../tasks/to-do.ts'
import type { MainTree, Task } from '../wire.ts'
import type { Entry } from './activity-rows.ts'
import type { ActivityStore } from './activity-sqlite.ts'
import type { RecordedStore } from './recorded-sqlite.ts'
import { type Before, deletedNews, newsOf, recordOf, reviewNews, shortText } from './task-news.ts'

/** So often the head of the chain is a line of the log: with it an export can be compared. */
const HEAD_LINE_MS = 3_600_000

/** Who works on tasks, and who has done them: their claims say it. */
export interface Holders {
  /** Whether anybody holds a task now. */
  isAny(now: number): boolean
  holderOf(task: string, now: number): string | undefined
  /** Who finished it last, and not too long ago. */
  finisherOf(task: string, now: number): string | undefined
}

/** By id, what a part of a publication made of a task; without `task`, it removed it. */
export type TaskChanges = Map<string, { before?: Before; task?: Task }>

/** A task that came, or changed. */
export function cameIn(changes: TaskChanges, { record, before, checks }: PutResult): void {
  if (record.kind !== 'task') return
  const known = changes.get(record.id)
  const old = before && ({ ...JSON.parse(before), checks: parsed(checks) } as Before)
  const first = known ? known.before : old
  changes.set(record.id, { ...(first && { before: first }), task: record.task })
}

const parsed = (json: string | null | undefined): unknown => (json ? JSON.parse(json) : undefined)

interface ActivityDeps {
  store: ActivityStore
  recorded: RecordedStore
  board: Pick<BoardStore, 'head' | 'stored' | 'config' | 'counts'>
  holders: Holders
  log: Log
}

export class Activity {
  readonly #store: ActivityStore
  readonly #recorded: RecordedStore
  readonly #board: ActivityDeps['board']
  readonly #holders: Holders
  readonly #log: Log

  constructor({ store, recorded, board, holders, log }: ActivityDeps) {
    this.#store = store
    this.#recorded = recorded
    this.#board = board
    this.#holders = holders
    this.#log = log
  }

  /** The caller saves `state`. */
  add(entries: readonly Entry[], state: RepositoryState, now: number): void {
    if (entries.length === 0) return
    const hash = this.#store.append(entries, now, {
      epoch: state.epoch,
      change: this.#board.head() + 1,
    })
    const { headLineAt = Number.NEGATIVE_INFINITY } = state
    // A time ahead of `now` was taken before the clock was set back.
    if (headLineAt <= now && now - headLineAt < HEAD_LINE_MS) return
    state.headLineAt = now
    this.#store.prune(now)
    this.#log('info', 'history.head', { seq: this.#store.last()?.seq, head: hash })
  }

  /** Where the main tree is now, before what follows from that. */
  moved(state: RepositoryState, main: MainTree | undefined, now: number): void {
    if (!main) return
    const { switched, from, ...at } = main
    const { main: was } = state
    state.main = at
    if (!was || !switched) return
    // A new branch at the same commit changes no file.
    const head = [from ?? was.head, at.head]
    const isMoved = head[0] !== head[1]
    if (isMoved) state.isSwitching = true
    const changes = {
      ...(was.branch !== at.branch && { branch: [was.branch ?? null, at.branch ?? null] }),
      ...(isMoved && { head }),
    }
    this.add([{ kind: 'switched', changes }], state, now)
  }

  /** A part of a publication was applied. */
  published(state: RepositoryState, changes: TaskChanges, now: number): void {
    if (changes.size === 0) return
    const first = this.#firstOf(state)
    const recorded = this.#recorded.of([...changes.keys()])
    const isClosed = this.#isClosed()
    const actorOf = this.#actors(now)
    const extra = {
      ...(state.isSwitching && { by: 'switch' as const }),
      ...(first === 'again' && { caughtUp: true as const }),
    }
    const entries: Entry[] = []
    for (const [id, { before, task }] of changes) {
      const known = recorded.get(id)
      if (first === 'first' || (!task && !known)) continue
      const news = task
        ? newsOf(known, before, task, isClosed)
        : known && deletedNews(known, isClosed)
      // A branch that is checked out is not merged.
      const isOfReview = before && task && !state.isSwitching
      const review = isOfReview ? reviewNews(before, task, isClosed) : undefined
      for (const one of [news, review]) {
        if (!one) continue
        const { kind, ...rest } = one
        const [wasClosed, isNowClosed] = news?.changes?.closed ?? []
        const isClosing = one === review || (wasClosed === false && isNowClosed === true)
        const actor = actorOf(id, isClosing)
        entries.push({ kind, task: id, ...rest, ...(actor !== undefined && { actor }), ...extra })
      }
    }
    this.add(entries, state, now)
    this.#remember(changes, recorded)
  }

  /** A claim was released as done. Undefined: its task waits for a review already, or is closed. */
  reviewOf(task: StoredTask | undefined, done: Required<Task>['done']): Entry | undefined {
    const isClosed = this.#isClosed()
    if (!task || isInReview(task, isClosed)) return undefined
    if (!isInReview({ ...task, done }, isClosed)) return undefined
    return { kind: 'review', task: task.id, title: shortText(task.title), actor: done.by }
  }

  /** A publication is whole. */
  completed(state: RepositoryState, now: number): void {
    delete state.isSwitching
    if (state.published) return
    if (this.#firstOf(state) === 'first') {
      const changes = { tasks: [0, this.#board.counts().tasks] }
      this.add([{ kind: 'published', changes }], state, now)
    } else {
      const gone: TaskChanges = new Map(this.#recorded.missing().map((id) => [id, {}]))
      this.published(state, gone, now)
    }
    delete state.recording
  }

  /** Until it is published: whether all that comes is new, or was recorded in an earlier life. */
  #firstOf(state: RepositoryState): RepositoryState['recording'] {
    if (!state.published) state.recording ??= this.#recorded.isEmpty() ? 'first' : 'again'
    return state.recording
  }

  #remember(changes: TaskChanges, recorded: ReturnType<RecordedStore['of']>): void {
    const gone = [...changes].flatMap(([id, { task }]) => (task ? [] : [id]))
    const there = [...changes].flatMap(([id, { task }]) => {
      if (!task) return []
      const known = recorded.get(id)
      if (known && task.invalid !== undefined && task.status === '') return []
      const now = recordOf(task)
      const { status, title, tree } = known ?? {}
      const isSame = now.status === status && now.title === title && now.tree === tree
      return isSame ? [] : [{ task: id, ...now }]
    })
    if (gone.length > 0) this.#recorded.forget(gone)
    this.#recorded.put(there)
  }

  #isClosed(): (status: string) => boolean {
    let known: ((status: string) => boolean) | undefined
    return (status) => {
      known ??= statusesOf(this.#board.config()).isClosed
      return known(status)
    }
  }

  /** Who holds the task, or what it is part of. Of one that was closed also who had done it. */
  #actors(now: number): (id: string, isClosing: boolean) => string | undefined {
    const holders = this.#holders
    let isUsed: boolean | undefined
    return (id, isClosing) => {
      isUsed ??= holders.isAny(now)
      if (!isUsed && !isClosing) return undefined
      const task = this.#board.stored(id)
      const chain = [id, ...(task ? above(task, this.#board.stored) : []).map((it) => it.id)]
      const actors = isUsed ? chain.map((it) => holders.holderOf(it, now)) : []
      if (isClosing) actors.push(...chain.map((it) => holders.finisherOf(it, now)))
      return actors.find((it) => it !== undefined)
    }
  }
}
