// Which task is part of which: of `partOf`, else of its `parent`. Pure.

import type { Task } from '../wire.ts'

type Part = Pick<
  Task,
  'id' | 'ready' | 'parent' | 'partOf' | 'deps' | 'folder' | 'optional' | 'invalid'
>
export type Find<Row> = (id: string) => Row | undefined

/** Nobody nests so deep; a chain of ten thousand would be walked ten thousand times. */
const MAX_DEPTH = 64

/** What a task is part of, the nearest first. A circle counts as no parent. */
export function above<Row extends Part>(task: Row, find: Find<Row>): Row[] {
  // A claim asks it of twenty thousand tasks, and most are part of nothing that is part of more.
  const direct = wholeOf(task, find)
  if (!direct || direct.id === task.id) return []
  if (direct.partOf === undefined && direct.parent === undefined) return [direct]
  const chain = [task]
  let last = task
  while (chain.length <= MAX_DEPTH) {
    const next = wholeOf(last, find)
    if (!next) break
    const at = chain.findIndex(({ id }) => id === next.id)
    if (at !== -1) return chain.slice(1, at + 1)
    chain.push(next)
    last = next
  }
  return chain.slice(1)
}

function wholeOf<Row extends Part>({ partOf, parent }: Part, find: Find<Row>): Row | undefined {
  const direct = partOf === undefined ? undefined : find(partOf)
  return direct ?? (parent === undefined ? undefined : find(parent))
}

/** Tasks that wait. A claim reads those that it needs to know, which is seldom any. */
export interface Waits<Row> {
  /** Whether it may have, at any depth, open parts that wait and are not among the open ones. */
  isWhole(id: string): boolean
  /** All open parts of others. */
  parts(): readonly Row[]
  /** All open ones that have deps, among them what is no part of anything. */
  all(): readonly Row[]
}

/** Whether a task has open parts that must be done before it. `open`: all that are ready. */
export function openParts<Row extends Part>(
  open: readonly Row[],
  find: Find<Row>,
  waits: Waits<Row>,
): (task: Row) => boolean {
  let partsOf = partsIn(open, find)
  let isAll = false
  let dependents: ReadonlyMap<string, readonly string[]> | undefined
  return ({ id }) => {
    const upTo = (part: Row): Row[] => {
      const chain = [part, ...above(part, find)]
      return chain.slice(0, chain.map((it) => it.id).indexOf(id))
    }
    // What is ready waits for nothing.
    if (partsOf.get(id)?.some((part) => upTo(part).every((it) => it.ready))) return true
    if (!isAll && waits.isWhole(id)) {
      isAll = true
      partsOf = partsIn([...open, ...waits.parts()], find)
    }
    const parts = partsOf.get(id)
    if (!parts) return false
    dependents ??= dependentsOf(waits.all())
    const blocked = reached(id, dependents)
    return parts.some((part) => !upTo(part).some((it) => blocked.has(it.id)))
  }
}

/** By what they are part of. */
function partsIn<Row extends Part>(open: readonly Row[], find: Find<Row>): Map<string, Row[]> {
  const partsOf = new Map<string, Row[]>()
  for (const part of open) {
    if (part.folder !== undefined || part.optional || part.invalid !== undefined) continue
    for (const whole of above(part, find)) {
      const parts = partsOf.get(whole.id)
      if (parts) parts.push(part)
      else partsOf.set(whole.id, [part])
      if (whole.optional) break
    }
  }
  return partsOf
}

function dependentsOf(tasks: readonly Part[]): Map<string, string[]> {
  const dependents = new Map<string, string[]>()
  for (const { id, deps = [] } of tasks) {
    for (const dep of deps) {
      const known = dependents.get(dep)
      if (known) known.push(id)
      else dependents.set(dep, [id])
    }
  }
  return dependents
}

/** Those that wait for it, also through others. */
function reached(id: string, dependents: ReadonlyMap<string, readonly string[]>): Set<string> {
  const waiting = new Set<string>()
  const left = [id]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const dependent of dependents.get(at) ?? []) {
      if (!waiting.has(dependent)) left.push(dependent)
      waiting.add(dependent)
    }
  }
  return waiting
}
