// Whether a task can be begun, and why not. Pure.

import type { LightTask } from '../wire.ts'
import { closingMarks, isClosedInMain, isClosedInTree } from './closed-in.ts'
import { above, type Find } from './parts.ts'
import type { Statuses } from './to-do.ts'

/** Who would begin it. */
export interface Claimer {
  /** Absent: anybody. It does not matter then to whom a task is assigned. */
  actor?: string
  assignee?: string
  /** The linked worktree that it works in: what that one has begun is its own. */
  tree?: string
}

/** `tree`: in which worktree. `to`: a person. */
export interface Why {
  kind: 'waits' | 'begun' | 'closed' | 'assigned' | 'part' | 'shared_id' | 'unreadable' | 'held'
  task?: string
  tree?: string
  to?: string
}

/** What its last claim says of a task. */
export interface Past {
  /** It was left, in this worktree or in any: it may say begun, and nobody has begun it since. */
  left?: { tree?: string }
  /** It was done, in this worktree, and no file says so yet. */
  done?: { tree?: string }
}

interface BoardFacts extends Statuses {
  find: Find<LightTask>
}

/** Empty: it can be begun. The first is what must change first. */
export function whyNot(task: LightTask, claimer: Claimer, past: Past, facts: BoardFacts): Why[] {
  return [
    ...standing(task, claimer, facts),
    ...inTrees(task, claimer, past, facts),
    ...inMain(task, past, facts),
    ...assigned(task, claimer),
  ]
}

function standing(task: LightTask, { tree }: Claimer, facts: BoardFacts): Why[] {
  if (task.ready) return []
  if (task.invalid !== undefined) return [{ kind: task.sharesId ? 'shared_id' : 'unreadable' }]
  if (task.held) return [whyHeld(task, facts)]
  const { deps = [] } = task
  const { find, isClosed } = facts
  const open = deps.filter((id) => {
    const dep = find(id)
    return !dep || !isClosedInMain(dep, isClosed)
  })
  const waits = open.filter((id) => !isClosedInTree(find(id), tree, isClosed))
  // The sidecar knows more than the rows do: of two tasks with the id of a dep none counts.
  const shown = open.length === 0 ? deps.slice(0, 1) : waits
  if (deps.length === 0) return [{ kind: 'held' }]
  return shown.map((dep) => {
    const [closed] = closingMarks(find(dep) ?? {}, isClosed)
    return { kind: 'waits', task: dep, ...(closed && { tree: closed.tree }) }
  })
}

function whyHeld(task: LightTask, facts: BoardFacts): Why {
  const [tree] = task.inMain === false ? (task.trees ?? []) : []
  if (tree) return { kind: 'held', tree: tree.tree }
  const [whole] = above(task, facts.find)
  const isWaiting = whole && !whole.ready && !facts.isClosed(whole.status)
  return isWaiting && !task.folder ? { kind: 'part', task: whole.id } : { kind: 'held' }
}

function inTrees(task: LightTask, claimer: Claimer, { left }: Past, facts: BoardFacts): Why[] {
  const { trees = [] } = task
  if (trees.length === 0 || task.inMain === false) return []
  return trees.flatMap(({ tree, status, invalid }): Why[] => {
    if (status !== undefined && facts.isClosed(status)) return [{ kind: 'closed', tree }]
    if (tree === claimer.tree) return []
    // A rebase that stopped at a conflict: it may be the finished task.
    if (invalid) return [{ kind: 'unreadable', tree }]
    const wasLeft = left && (left.tree ?? tree) === tree
    const isBegun = status !== undefined && !facts.isToDo(status) && !wasLeft
    return isBegun ? [{ kind: 'begun', tree }] : []
  })
}

function inMain(task: LightTask, { left, done }: Past, facts: BoardFacts): Why[] {
  if (done) return [{ kind: 'closed', ...done }]
  return isWorkedOn(task) || !(left || facts.isToDo(task.status)) ? [{ kind: 'begun' }] : []
}

/** A claim that has expired holds nothing. */
const isWorkedOn = ({ executionState, activeAttempt }: LightTask): boolean =>
  executionState !== undefined && !(executionState === 'stalled' && isClaim(activeAttempt))

/** The attempt of a session that is a claim. */
export const isClaim = (attempt: string | undefined): boolean =>
  attempt?.startsWith('claim-') === true

function assigned({ assignee, assignees }: LightTask, claimer: Claimer): Why[] {
  const all = assignees ?? (assignee === undefined ? [] : [assignee])
  const [to] = all
  const own = [claimer.actor, claimer.assignee].map(nameOf)
  const isAnybodys = to === undefined || claimer.actor === undefined
  return isAnybodys || all.some((it) => own.includes(nameOf(it))) ? [] : [{ kind: 'assigned', to }]
}

/** Tools write `@codex`, and people say `codex`. */
const nameOf = (name: string | undefined): string | undefined => name?.replace(/^@/, '')

/** The first of them, in a sentence. */
export function whySentence([why]: readonly Why[]): string {
  const { kind, task, tree, to } = why ?? { kind: 'held' }
  switch (kind) {
    case 'waits':
      return tree === undefined
        ? `The task waits for ${task}.`
        : `The task waits for ${task}, which is done in the worktree ${tree} and not merged yet.`
    case 'begun':
      return tree === undefined
        ? 'The task was begun already.'
        : `The task was begun in the worktree ${tree}.`
    case 'closed':
      return tree === undefined
        ? 'The task was done already, and its file does not say so yet.'
        : `The task is done in the worktree ${tree}, and not merged yet.`
    case 'assigned':
      return `The task is assigned to ${to}.`
    case 'part':
      return `The task is part of ${task}, which cannot be begun yet.`
    case 'shared_id':
      return 'Two tasks have this id.'
    case 'unreadable':
      return tree === undefined
        ? 'The task’s file cannot be read whole.'
        : `The task’s copy in the worktree ${tree} cannot be read.`
    case 'held':
      return tree === undefined
        ? 'The board’s tool lets nobody begin the task.'
        : `Only the worktree ${tree} has the task.`
  }
}
