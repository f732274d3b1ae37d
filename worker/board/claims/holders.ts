// Who holds a task, or has finished it, by the claims of the board: the history asks it.

import type { Holders } from '../activity/activity.ts'
import { KEPT_MS } from '../activity/activity-rows.ts'
import { isFinished, isValid } from './claim-ends.ts'
import type { ClaimStore } from './claim-store-sqlite.ts'

export const holdersBy = (claims: ClaimStore): Holders => ({
  isAny: (now) => claims.countValid(now) > 0,
  holderOf(task, now) {
    const claim = claims.openOf(task)
    return claim && isValid(claim, now) ? claim.actor : undefined
  },
  finisherOf: (task, now) =>
    claims
      .endedOf(task)
      .findLast(({ end }) => end && isFinished(end.outcome) && now - end.at < KEPT_MS)?.actor,
})
