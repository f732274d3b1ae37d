// A list of the board: read whole once, then only what changed. Pure.

import type { Session, Sessions, Task, Tasks } from '../api/types.ts'
import { hasRoute, isNear } from './message.ts'

type Item = Task | Session
/** What `GET /api/tasks` or `/api/sessions` answers. */
type Answer = Pick<Tasks, 'gone' | 'seq'> & { [name in keyof (Tasks & Sessions)]?: unknown }

export interface Changes {
  /** The list is not what it was. */
  isNew: boolean
  /** The ids of all that changed, and maybe of more: a list does not show the text of a task. */
  ids: string[]
}

export class WatchedList {
  readonly #name: 'tasks' | 'sessions'
  #items: Map<string, Item> | undefined
  #place: string | undefined

  constructor(name: 'tasks' | 'sessions') {
    this.#name = name
  }

  /** Only what changed after this is to be read; undefined: all. */
  get place(): string | undefined {
    return this.#place
  }

  get items(): Item[] {
    return [...(this.#items?.values() ?? [])]
  }

  /** `seq`: the newest change that the answer includes. */
  apply(answer: Answer, seq: string | undefined): Changes {
    const given = answer[this.#name] as Item[]
    const from = this.#place
    this.#place = answer.seq ?? seq
    return answer.gone
      ? this.#change(given, answer.gone)
      : this.#replace(given, from !== undefined && isNear(from, this.#place))
  }

  #change(given: readonly Item[], gone: readonly string[]): Changes {
    const items = this.#items ?? new Map<string, Item>()
    const order = this.#name === 'tasks' ? byId : newestFirst
    let isNew = false
    let isUnordered = false
    for (const id of gone) isNew = items.delete(id) || isNew
    for (const item of given) {
      const known = items.get(item.id)
      if (keptOf(known, item) !== item) continue
      items.set(item.id, item)
      isNew = true
      isUnordered ||= !known || order(known, item) !== 0
    }
    this.#items = isUnordered ? new Map([...items].sort(([, a], [, b]) => order(a, b))) : items
    return { isNew, ids: idsOf(given, gone) }
  }

  /** `isNear`: the edge has each change in between, so most of the list changed, not a few rows. */
  #replace(given: readonly Item[], isNear: boolean): Changes {
    const before = this.#items
    const items = new Map(given.map((item) => [item.id, keptOf(before?.get(item.id), item)]))
    this.#items = items
    if (!before) return { isNew: true, ids: [] }
    const gone = [...before.keys()].filter((id) => !items.has(id))
    const other = given.filter((item) => items.get(item.id) === item)
    const isNew = gone.length + other.length > 0
    return { isNew, ids: idsOf(isNear ? given : other, gone) }
  }
}

const idsOf = (items: readonly Item[], gone: readonly string[]): string[] =>
  [...items.map(({ id }) => id), ...gone].filter(hasRoute)

/** What did not change stays the same object. */
const keptOf = (known: Item | undefined, item: Item): Item =>
  known && JSON.stringify(known) === JSON.stringify(item) ? known : item

/** The orders of the edge. */
const byId = (a: Item, b: Item): number => (a.id < b.id ? -1 : Number(a.id > b.id))
const newestFirst = (a: Item, b: Item): number => startOf(b) - startOf(a) || byId(b, a)
const startOf = (item: Item): number => ('startedAt' in item && Date.parse(item.startedAt)) || 0
