// What a lead would say of each task of a board, told from what agents and people did, and from the
// rules as they are written down: no row of the edge is read here.

import type { TaskState } from '../../../../../worker/board/tasks/task-state.ts'

export interface ModelTask {
  id: string
  main: 'open' | 'closed' | 'deleted' | 'never'
  /** As it was published: its deps are closed, and the tool lets it begin. */
  isReady: boolean
  /** Its status says that nobody has begun it. */
  isToDo: boolean
  /** Work that the board's own files tell of. */
  inFile: 'active' | 'stalled' | 'awaiting_review' | undefined
  /** Is part of. */
  whole: string | undefined
  /** Is part of others, and counts for them: in no folder, whole, and needed. */
  isPart: boolean
  isOptional: boolean
  deps: readonly string[]
  /** By worktree. */
  marks: Map<string, 'begun' | 'closed'>
  claim?: { tree: string; sign: number; expiresAt: number }
  isDone: boolean
}

export class Model {
  readonly tasks = new Map<string, ModelTask>()
  /** The tool closes a task with parts together with the last of them. */
  readonly #closesWithParts: boolean
  readonly #silentAfterMs: number

  constructor(of: { closesWithParts: boolean; silentAfterMs: number }) {
    this.#closesWithParts = of.closesWithParts
    this.#silentAfterMs = of.silentAfterMs
  }

  states(now: number): Map<string, TaskState> {
    const all = [...this.tasks.values()]
    const pairs = all.flatMap((part) => this.#wholesOf(part).map((whole) => ({ whole, part })))
    const byWhole = Map.groupBy(pairs, ({ whole }) => whole)
    const states = all.flatMap((task): [string, TaskState][] => {
      const parts = byWhole.get(task)?.map(({ part }) => part) ?? []
      const state = this.#stateOf(task, parts, now)
      return state ? [[task.id, state]] : []
    })
    return new Map(states)
  }

  #stateOf(task: ModelTask, parts: readonly ModelTask[], now: number): TaskState | undefined {
    const { main, claim, inFile, marks } = task
    if (main === 'closed') return undefined
    if (claim && claim.expiresAt <= now) return 'stalled'
    if (claim) return now - claim.sign > this.#silentAfterMs ? 'silent' : 'work'
    if (inFile === 'stalled') return 'stalled'
    if (inFile === 'active') return 'work'
    const isFinished = task.isDone || [...marks.values()].includes('closed')
    if (isFinished) return main === 'deleted' ? undefined : 'review'
    return main === 'open' && this.#canBegin(task, parts, now) ? 'ready' : undefined
  }

  #canBegin(task: ModelTask, parts: readonly ModelTask[], now: number): boolean {
    // Who gave up left what is begun: a row does not say that anybody may go on.
    const isBegun = !task.isToDo || task.inFile || [...task.marks.values()].includes('begun')
    if (!task.isReady || isBegun) return false
    if (this.#closesWithParts && parts.length > 0) return false
    const isHeld = (it: ModelTask) => it.claim !== undefined && it.claim.expiresAt > now
    if (parts.some((it) => isHeld(it) || this.#isOpenPart(it, task))) return false
    return !this.#wholesOf(task).some((it) => isHeld(it) || it.main === 'closed')
  }

  /** It must be done before the task. */
  #isOpenPart(part: ModelTask, task: ModelTask): boolean {
    if (part.main !== 'open' || !part.isPart) return false
    const wholes = this.#wholesOf(part)
    const below = [part, ...wholes.slice(0, wholes.indexOf(task))]
    if (below.slice(1).some((it) => it.isOptional)) return false
    return !below.some((it) => this.#waitsFor(it, task.id, new Set()))
  }

  #waitsFor({ id, deps }: ModelTask, other: string, seen: Set<string>): boolean {
    if (seen.has(id)) return false
    seen.add(id)
    return deps.some((dep) => {
      const task = this.tasks.get(dep)
      return dep === other || (task?.main === 'open' && this.#waitsFor(task, other, seen))
    })
  }

  #wholesOf(task: ModelTask): ModelTask[] {
    const wholes: ModelTask[] = []
    for (let at = task.whole; at !== undefined; ) {
      const next = this.tasks.get(at)
      if (!next || next === task || wholes.includes(next)) break
      wholes.push(next)
      at = next.whole
    }
    return wholes
  }
}
