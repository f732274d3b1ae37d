// What can be begun among all rows of a board, and which of that is new. Pure.

import { type Config, readyTasks } from '../../worker/board/tasks/free-tasks.ts'
import { above } from '../../worker/board/tasks/parts.ts'
import type { Task } from '../../worker/board/wire.ts'
import type { Changed } from '../board/watched-board.ts'

export const isUnassigned = ({ assignee }: Task): boolean => !assignee

export class ReadyRows {
  readonly #rows = new Map<string, Task>()

  /** `all`: the whole board, as it is now or was before. */
  constructor(all: readonly Task[]) {
    for (const row of all) this.#rows.set(row.id, row)
  }

  /** Those that a change may have made ready, and the one that a claim would take of them. */
  after({ rows, ids }: Changed, config: Config | undefined): { found: Task[]; next?: Task } {
    const touched = ids && new Set([...ids, ...this.#wholesOf(ids)])
    if (ids) for (const id of ids) this.#rows.delete(id)
    else this.#rows.clear()
    for (const row of rows) this.#rows.set(row.id, row)
    for (const whole of this.#wholesOf(ids ?? [])) touched?.add(whole)
    const ready = readyTasks(this.#rows, config)
    // The end of a claim frees its task's parts, and a part that is closed what it is part of.
    const isNew = (task: Task) =>
      !touched || touched.has(task.id) || this.#above(task).some((id) => ids?.has(id))
    const found = ready.tasks.filter(isNew)
    // As a claim chooses among those without an assignee.
    const next = ready.next(found.filter(isUnassigned)) ?? ready.next(found)
    return { found, ...(next && { next }) }
  }

  #wholesOf(ids: Iterable<string>): string[] {
    return [...ids].flatMap((id) => {
      const row = this.#rows.get(id)
      return row ? this.#above(row) : []
    })
  }

  #above = (task: Task): string[] => above(task, (id) => this.#rows.get(id)).map(({ id }) => id)
}
