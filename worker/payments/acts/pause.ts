// The maintenance switch. It is a save like another: what was decided before it on
// other rows is decided again.

import type { Act, AskedBy, Pause } from './act.ts'
import { recordAct } from './store.ts'

interface Switched extends AskedBy {
  now: number
}

/** Paused before, it stays that pause. */
export function pause({ now, ...asked }: Switched): Act<Pause> {
  return {
    keys: [],
    decide(rows) {
      if (rows.pause) return rows.pause
      const pause = { since: now, by: asked.by }
      rows.pause = pause
      recordAct(rows, asked, { at: now, action: 'pause' })
      return pause
    },
  }
}

/** Answers what has ended with it. */
export function resume({ now, ...asked }: Switched): Act<Pause | undefined> {
  return {
    keys: [],
    decide(rows) {
      const { pause } = rows
      if (!pause) return undefined
      rows.pause = undefined
      recordAct(rows, asked, { at: now, action: 'resume' })
      return pause
    },
  }
}
