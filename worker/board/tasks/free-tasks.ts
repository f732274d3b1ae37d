// Which tasks can be begun now, of all that are open: the same rule for a claim at the edge, for an
// agent that waits, and for the page. Pure.

import { traitsOf } from '../../shared/layouts.ts'
import type { BoardConfig, LightTask } from '../wire.ts'
import { isClosedInTree } from './closed-in.ts'
import { nextOf, type Order } from './next-task.ts'
import { above, type Find, openParts, type Waits } from './parts.ts'
import { statusesOf } from './to-do.ts'
import { type Claimer, isClaim, type Past, whyNot } from './why-not.ts'

/** The configuration, as far as it counts. */
export type Config = Pick<BoardConfig, 'states' | 'closed' | 'initial' | 'currentTag'> & {
  layout?: BoardConfig['layout'] | undefined
}

export interface Board<Of extends LightTask = LightTask> {
  config: Config | undefined
  find: Find<Of>
  /** By the task: the actor that has a claim of it, or may get it back. */
  holders: ReadonlyMap<string, string>
}

export interface OpenBoard<Of extends LightTask = LightTask> extends Board<Of> {
  /** Tasks that do not read closed: all that could be begun, and some of those that wait. */
  open: readonly Of[]
  /** Those that wait. */
  waits: Waits<Of>
  /** Whether a task has had parts, closed ones, too. Asked only of some tools. */
  hasParts(id: string): boolean
}

/** Those that are offered to `claimer`, in no order. `pastOf`: what their last claims say. */
export function freeTasks<Of extends LightTask>(
  board: OpenBoard<Of>,
  claimer: Claimer,
  pastOf: (task: Of) => Past,
): Of[] {
  const { open, config, holders, find } = board
  const facts = { find, ...statusesOf(config) }
  const isHeld = ({ id }: LightTask) => holders.has(id)
  const isOthers = ({ id }: LightTask) => isOther(holders.get(id), claimer)
  const hasOpenParts = openParts(open, find, board.waits)
  const isShared = new Set<string>()
  for (const [id, holder] of holders) {
    const held = isOther(holder, claimer) && find(id)
    if (held) for (const whole of above(held, find)) isShared.add(whole.id)
  }
  const { closesWholes } = traitsOf(config?.layout)
  return open.filter((task) => {
    if (isHeld(task) || isShared.has(task.id)) return false
    if (!task.ready && !isReadyIn(task, claimer, facts.isClosed, find)) return false
    if (whyNot(task, claimer, pastOf(task), facts).length > 0) return false
    if (above(task, find).some((whole) => isOthers(whole) || facts.isClosed(whole.status))) {
      return false
    }
    return !hasOpenParts(task) && !(closesWholes && board.hasParts(task.id))
  })
}

/** Of most tasks that wait, no dep was touched in the tree: they need no closer look. */
const isReadyIn = (
  { deps = [] }: LightTask,
  { tree }: Claimer,
  isClosed: (status: string) => boolean,
  find: Find<LightTask>,
): boolean => tree !== undefined && deps.some((dep) => isClosedInTree(find(dep), tree, isClosed))

export const isOther = (holder: string | undefined, { actor }: Claimer): boolean =>
  holder !== undefined && holder !== actor

/** The order of these tasks for this claimer. */
export function orderFor({ config, holders, find }: Board, claimer: Claimer): Order {
  const busy = new Set<string>()
  for (const [id, holder] of holders) {
    const { parent } = (isOther(holder, claimer) && find(id)) || {}
    if (parent !== undefined) busy.add(parent)
  }
  return { config, isBusy: (parent) => busy.has(parent) }
}

/** It works in no tree. */
const ANYBODY: Claimer = {}

/** What clients see: the tasks that anybody could begin now. `rows`: all of the board. */
export function readyTasks<Of extends LightTask>(
  rows: ReadonlyMap<string, Of>,
  config: Config | undefined,
): { tasks: Of[]; next(among: readonly Of[]): Of | undefined } {
  const { isClosed } = statusesOf(config)
  const wholes = new Set<string>()
  const holders = new Map<string, string>()
  const open: Of[] = []
  for (const task of rows.values()) {
    for (const whole of [task.parent, task.partOf]) if (whole !== undefined) wholes.add(whole)
    const { executionState, activeAttempt = '' } = task
    if (executionState === 'active' && isClaim(activeAttempt)) holders.set(task.id, activeAttempt)
    if (!isClosed(task.status)) open.push(task)
  }
  const find = (id: string) => rows.get(id)
  const hasParts = (id: string) => wholes.has(id)
  const waits = { isWhole: () => false, parts: () => [], all: () => open }
  const board = { config, find, holders, open, waits, hasParts }
  return {
    tasks: freeTasks(board, ANYBODY, shownPast),
    next: (among) => nextOf(among, orderFor(board, ANYBODY)),
  }
}

/** A claim that has expired is left. */
const shownPast = ({ executionState, activeAttempt, done }: LightTask): Past => ({
  ...(executionState === 'stalled' && isClaim(activeAttempt) && { left: {} }),
  ...(done && { done: {} }),
})
