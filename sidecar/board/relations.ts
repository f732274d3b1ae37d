// Which facts hang on which, and what follows from them: tasks from their deps and sessions,
// sessions from their heartbeats, all of them from the board's rules. No I/O, no clock.

import { type BoardConfig, type Key, parseKey } from '../../worker/board/wire.ts'
import { foldStatus } from '../../worker/shared/status.ts'
import {
  type Fact,
  type LiveFact,
  type Rules,
  type SessionFact,
  STALE_AFTER_MS,
  type TaskFact,
} from '../files/facts.ts'
import {
  type DerivedTask,
  deriveTask,
  type Health,
  healthOf,
  type NewestSession,
  newerFirst,
  type SessionSigns,
  staleAt,
} from './derive.ts'
import { type HeldStore, IdHolders } from './id-holders.ts'

/** Before any configuration was read. */
const NO_RULES: Rules = {
  isRead: false,
  closed: [],
  states: [],
  staleAfterMs: STALE_AFTER_MS,
  prefix: undefined,
}

/** What follows from other files, beside the entry itself. */
export interface Derived {
  task?: DerivedTask
  health?: Health
  board?: Pick<BoardConfig, 'currentTag'>
  /** Why a record is not listed under its own id. */
  invalid?: string
  /** Another record has its id. */
  isTwin?: boolean
  /** The linked worktree that has it. */
  tree?: string
}

/** Without what is in none of the tool's lists, such as drafts and its archive. */
export type Counts = Record<'tasks' | 'closed' | 'ready', number>

export class Relations {
  readonly holders: IdHolders
  readonly #store: HeldStore
  /** Folded id of a dep → the tasks that wait for it. */
  readonly #dependents = new Multimap<TaskFact>()
  /** Folded id of a change → the tasks of its archived list, whose ids begin with it. */
  readonly #archived = new Multimap<TaskFact>()
  /** Folded id of a task → its sessions. */
  readonly #sessions = new Multimap<SessionFact>()
  readonly #running = new Set<SessionFact>()
  #rules = NO_RULES
  /** Folded. */
  #closed = new Set<string>()
  /** Folded status → as the configuration spells it. */
  #states = new Map<string, string>()

  constructor(store: HeldStore) {
    this.holders = new IdHolders(store)
    this.#store = store
  }

  /** `wasHolder`: as an earlier run published it; undefined: it was read now. */
  add(fact: Fact, wasHolder?: boolean): void {
    if (wasHolder === undefined) this.holders.add(fact)
    else this.holders.restore(fact, wasHolder)
    this.#index(fact, 'add')
    if (fact.kind === 'session' && this.#staleAt(fact) !== undefined) this.#running.add(fact)
  }

  remove(fact: Fact): void {
    this.holders.remove(fact)
    this.#index(fact, 'remove')
    if (fact.kind === 'session') this.#running.delete(fact)
  }

  /** Under the ids by which others look for it. */
  #index(fact: Fact, act: 'add' | 'remove'): void {
    if (fact.kind === 'session') this.#sessions[act](this.#store.fold(fact.task), fact)
    if (fact.kind !== 'task') return
    for (const dep of fact.deps) this.#dependents[act](this.#store.fold(dep), fact)
    const change = archivedChangeOf(fact)
    if (change !== undefined) this.#archived[act](this.#store.fold(change), fact)
  }

  get rules(): Rules {
    return this.#rules
  }

  /** Sets the rules of the configuration. True: they changed, and all must be derived again. */
  takeRules(): boolean {
    const board = this.holders.holder('board:board')
    // A configuration that is gone for a moment must not open every closed task.
    if (board?.kind !== 'board') return false
    const { isRead, closed, states, staleAfterMs, prefix } = board
    const before = this.#rules
    const rules = { isRead, closed, states, staleAfterMs, prefix }
    this.holders.usePrefix(prefix)
    this.#rules = rules
    this.#closed = new Set(closed.map(foldStatus))
    this.#states = new Map(states.map((state) => [foldStatus(state), state]))
    return JSON.stringify(before) !== JSON.stringify(rules)
  }

  isClosed(name: string): boolean {
    const task = this.holders.holder(name)
    if (task?.kind !== 'task' || !this.#isClosed(task)) return false
    return !this.holders.isShared(name) && this.holders.whyIgnored(task) === undefined
  }

  /** Adds the keys of every record that a coming or going claim on `name` may change. */
  touch(name: string, into: Set<Key>): void {
    for (const each of [name, ...this.holders.alsoNamed(name)]) {
      for (const { key, fact } of this.holders.held(each)) {
        if (fact.kind === 'live') this.touch(`session:${fact.id}`, into)
        else if (fact.kind !== 'setting') into.add(key)
        if (fact.kind !== 'session') continue
        this.#touchTask(fact.task, into)
        // One that only this tree has.
        if (fact.tree !== undefined) into.add(`task:${fact.task}`)
      }
    }
    for (const task of this.#archived.of(name.replace(/^task:/, ''))) this.#touchTask(task.id, into)
  }

  /** Adds the keys of the tasks that wait for the task of this name. */
  touchDependents(name: string, into: Set<Key>): void {
    for (const task of this.#dependents.of(name.slice('task:'.length))) {
      this.#touchTask(task.id, into)
    }
  }

  /** Adds the keys of what is another at `now` than it was at `before`, without a file's doing. */
  touchStale(before: number, now: number, into: Set<Key>): void {
    for (const session of this.#running) {
      if (this.#healthOf(session, before) === this.#healthOf(session, now)) continue
      this.touch(this.holders.nameOf(session), into)
    }
  }

  nextStaleAt(after: number): number | undefined {
    let next: number | undefined
    for (const session of this.#running) {
      const at = this.#staleAt(session)
      if (at !== undefined && at > after && (next === undefined || at < next)) next = at
    }
    return next
  }

  heartbeatOf(session: SessionFact): LiveFact | undefined {
    const live = this.holders.holder(`live:${session.id}`)
    return live?.kind === 'live' ? live : undefined
  }

  /** The other file of a record that two files make. */
  partOf(fact: Fact): LiveFact | TaskFact | undefined {
    if (fact.kind === 'session') return this.heartbeatOf(fact)
    return fact.kind === 'task' ? this.holders.about(fact) : undefined
  }

  derive(fact: Fact, now: number): Derived {
    const name = this.holders.nameOf(fact)
    const inMain = this.holders.holder(name)
    const holder = inMain ?? fact
    const isTwin = holder !== fact && (!isOutside(fact) || holder.path === fact.path)
    const ignored = this.holders.whyIgnored(fact)
    const invalid = isTwin ? twinOf(fact, holder) : ignored && `its tool ignores it: ${ignored}`
    const twin = invalid === undefined ? {} : { invalid }
    switch (fact.kind) {
      case 'task': {
        const newest = holder === fact ? this.#newestSession(fact, now) : undefined
        const closed = this.#isClosed(fact)
        // One that only a tree has is never ready, and nothing that its deps do changes it.
        const isClosed = (dep: string) => this.isClosed(`task:${this.#store.fold(dep)}`)
        const depsClosed = inMain !== undefined && fact.deps.every(isClosed)
        const isHeld = fact.standing !== undefined || ignored !== undefined || !this.#rules.isRead
        const signs = { closed, isHeld, activeAttempt: fact.attempt, depsClosed, newest }
        return {
          task: { ...deriveTask(signs), ...this.#shown(fact), ...this.#archivedParent(fact) },
          ...twin,
          ...(isTwin && { isTwin }),
        }
      }
      case 'session':
        return { health: this.#healthOf(fact, now), ...twin, ...inTree(fact) }
      case 'board': {
        const currentTag = this.#setting('currentTag') ?? this.#setting('defaultTag')
        return { ...(currentTag !== undefined && { board: { currentTag } }), ...twin }
      }
      case 'run':
        return { ...twin, ...inTree(fact) }
      case 'live':
      case 'setting':
        return twin
    }
  }

  count(facts: Iterable<Fact>, now: number): Counts {
    const counts = { tasks: 0, closed: 0, ready: 0 }
    for (const fact of facts) {
      const as = fact.kind === 'task' && this.#countOf(fact, now)
      if (!as) continue
      counts.tasks++
      if (as !== 'waiting') counts[as]++
    }
    return counts
  }

  /** How a task counts. Undefined: it is a part of another one, or in none of the tool's lists. */
  #countOf(fact: TaskFact, now: number): 'closed' | 'ready' | 'waiting' | undefined {
    if (isOutside(fact) || !this.holders.isListed(fact)) return undefined
    if (this.#isClosed(fact)) return 'closed'
    const { task, invalid } = this.derive(fact, now)
    const isWhole = invalid === undefined && this.holders.about(fact)?.standing !== 'held'
    return task?.ready && isWhole && !this.#isBeside(fact) ? 'ready' : 'waiting'
  }

  get project(): string | undefined {
    const board = this.holders.holder('board:board')
    return board?.kind === 'board' ? board.project : undefined
  }

  #touchTask(id: string, into: Set<Key>): void {
    for (const { key } of this.holders.held(`task:${this.#store.fold(id)}`)) into.add(key)
  }

  #isClosed({ standing, status }: TaskFact): boolean {
    if (standing === 'closed') return true
    return standing !== 'outside' && this.#closed.has(foldStatus(status))
  }

  /** As the configuration spells it. */
  #shown({ status, milestone }: TaskFact): Pick<DerivedTask, 'status' | 'milestone'> {
    const state = this.#states.get(foldStatus(status))
    const id = milestone && this.#store.fold(milestone)
    const title =
      id && (this.#setting(`milestone:${id}`) ?? this.#setting(`archived-milestone:${id}`))
    return {
      ...(state !== undefined && state !== status && { status: state }),
      ...(title && { milestone: title }),
    }
  }

  /** An archived task's own change: an open one may have the same id. */
  #archivedParent(fact: TaskFact): Pick<DerivedTask, 'parent'> {
    const change = archivedChangeOf(fact)
    if (change === undefined) return {}
    const held = this.holders.held(`task:${this.#store.fold(change)}`)
    const own = held.findIndex((other) => this.holders.areBeside(other.fact, fact))
    const key = held[own]?.key
    return own > 0 && key ? { parent: parseKey(key).id } : {}
  }

  /** Such a file should not stand alone. */
  #isBeside = ({ path }: Fact): boolean => this.#store.classify(path) === 'about'

  #setting(id: string): string | undefined {
    const fact = this.holders.holder(`setting:${id}`)
    return fact?.kind === 'setting' ? fact.value : undefined
  }

  #newestSession({ id, tree }: TaskFact, now: number): NewestSession | undefined {
    let newest: SessionFact | undefined
    for (const session of this.#sessions.of(this.#store.fold(id))) {
      // A task of the main tree has only what its own files say.
      if (session.tree !== tree) continue
      // A session that lost its id to another file cannot be told apart from that one.
      if (this.holders.holder(this.holders.nameOf(session)) !== session) continue
      if (newest === undefined || newerFirst(session, newest) < 0) newest = session
    }
    if (newest === undefined) return undefined
    return { id: newest.id, attempt: newest.attempt, health: this.#healthOf(newest, now) }
  }

  #healthOf(session: SessionFact, now: number): Health {
    return healthOf(this.#signs(session), this.#rules.staleAfterMs, now)
  }

  #staleAt(session: SessionFact): number | undefined {
    return staleAt(this.#signs(session), this.#rules.staleAfterMs)
  }

  #signs(session: SessionFact): SessionSigns {
    const { status, startedAtMs } = session
    return { status, startedAtMs, heartbeatAtMs: this.heartbeatOf(session)?.heartbeatAtMs }
  }
}

/** The tool may give its id to another task. */
const isOutside = (fact: Fact): boolean => fact.kind === 'task' && fact.standing === 'outside'

const inTree = ({ tree }: Fact): Pick<Derived, 'tree'> => (tree === undefined ? {} : { tree })

function archivedChangeOf({ id, standing }: TaskFact): string | undefined {
  const end = standing === 'outside' ? id.indexOf('/') : -1
  return end === -1 ? undefined : id.slice(0, end)
}

function twinOf(fact: Fact, holder: Fact): string {
  if (holder.path === fact.path) return `another entry of this file has the id ${holder.id}`
  return `another file has the id ${holder.id}: ${holder.path.split(/[\\/]/).at(-1)}`
}

/**
 * A map from one key to several values. A key with one value, which is nearly every key of a board,
 * holds the value itself and no set: at 100,000 keys the sets alone would take 20 MiB.
 */
class Multimap<V extends object> {
  readonly #map = new Map<string, V | Set<V>>()

  add(key: string, value: V): void {
    const held = this.#map.get(key)
    if (held === undefined) this.#map.set(key, value)
    else if (held instanceof Set) held.add(value)
    else if (held !== value) this.#map.set(key, new Set([held, value]))
  }

  remove(key: string, value: V): void {
    const held = this.#map.get(key)
    if (held === value) this.#map.delete(key)
    else if (held instanceof Set && held.delete(value) && held.size === 0) this.#map.delete(key)
  }

  of(key: string): Iterable<V> {
    const held = this.#map.get(key)
    if (held === undefined) return []
    return held instanceof Set ? held : [held]
  }
}
