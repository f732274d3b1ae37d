// How the work on a task stands, in a word or two. Pure.

import { words } from '../words.ts'
import type { CardData } from './cards.ts'

export interface Standing {
  name: 'active' | 'stalled' | 'awaiting_review' | 'ready' | 'blocked'
  text: string
}

/** Undefined: there is nothing to say. Work under way beats being ready for it. */
export function standing({ task, isClosed, waitsFor, actor }: CardData): Standing | undefined {
  const say = words.board.card
  // Of a file that cannot be read whole, nobody knows what it waits for.
  if (isClosed || task.invalid !== undefined) return undefined
  const { executionState } = task
  if (executionState) {
    const text = say.execution[executionState]
    return { name: executionState, text: actor === undefined ? text : say.by(text, actor) }
  }
  if (task.ready) return { name: 'ready', text: say.ready }
  if (waitsFor.length === 0) return undefined
  const names = waitsFor.map(({ id, isKnown }) => (isKnown ? id : say.missingDep(id)))
  return { name: 'blocked', text: say.blocked(names) }
}
