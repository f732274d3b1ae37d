// How the work on the open task stands, as its card says it.

import type { Live } from '../../data/live/live.ts'
import { StandingChip } from '../card-chips.tsx'
import { cardsOf } from '../cards.ts'
import { standing } from '../status.ts'

export function TaskStanding({ id, live }: { id: string; live: Live }) {
  const tasks = live.tasks.value
  const task = tasks?.get(id)
  if (!tasks || !task) return null
  const related = [task, ...(task.deps ?? []).flatMap((dep) => tasks.get(dep) ?? [])]
  const board = {
    tasks: new Map(related.map((it) => [it.id, it])),
    sessions: live.sessions.value,
    config: live.status.value?.config,
  }
  const card = cardsOf(board, new Map()).get(id)
  const state = card && standing(card)
  return state ? <StandingChip standing={state} /> : null
}
