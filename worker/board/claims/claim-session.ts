// How others see a claim: as a session of its task, and as its holder gets it. Pure.

import { timeText } from '../../shared/clock.ts'
import type { Overlay } from '../store/columns-sqlite.ts'
import type { Session } from '../wire.ts'
import type { Held } from './claim-calls.ts'
import { isFinished } from './claim-ends.ts'
import { type Claim, type ClaimEnd, type ClaimStore, sessionId } from './claim-store-sqlite.ts'

export function heldOf({ task, title, generation, expiresAt, end }: Claim): Held {
  return {
    task,
    title,
    generation,
    expiresAt,
    session: sessionId(generation),
    ...(end && { end: { outcome: end.outcome, at: end.at } }),
  }
}

/** What lies over its task; undefined: nothing. */
export function overlayOf({ generation, actor: by, isStalled, end }: Claim): Overlay | undefined {
  const session = sessionId(generation)
  if (end) return end.rests && { done: { at: timeText(end.at), by, session, ...summaryOf(end) } }
  const executionState = isStalled ? 'stalled' : 'active'
  return { activeAttempt: session, executionState, sessionId: session }
}

/** What lies over each of these tasks. */
export function overlaysBy(claims: ClaimStore, tasks: readonly string[]): Map<string, Overlay> {
  const over = claims.over(tasks).flatMap((claim): [string, Overlay][] => {
    const overlay = overlayOf(claim)
    return overlay ? [[claim.task, overlay]] : []
  })
  return new Map(over)
}

const summaryOf = ({ summary }: ClaimEnd) => (summary === undefined ? {} : { summary })

/** The session of a task that a claim is. */
export function sessionOf(claim: Claim): Session {
  const { generation, task, actor, client, model, branch, tree, progress, end } = claim
  const attempt = sessionId(generation)
  const state = end ? (isFinished(end.outcome) ? 'finished' : 'canceled') : 'active'
  return {
    id: attempt,
    task,
    attempt,
    actor,
    ...(client !== undefined && { client }),
    ...(model !== undefined && { model }),
    status: end ? state : 'in_progress',
    startedAt: timeText(claim.startedAt),
    ...(claim.activeAt !== undefined && { activeAt: timeText(claim.activeAt) }),
    ...(end && { endedAt: timeText(end.at) }),
    ...(branch !== undefined && { branch }),
    ...(end && summaryOf(end)),
    ...(state === 'canceled' && end && { cancelReason: end.outcome }),
    health: claim.isStalled ? 'stalled' : state,
    live: {
      heartbeatAt: timeText(claim.renewedAt),
      ...(progress !== undefined && { progress }),
      ...(tree !== undefined && { worktree: tree }),
    },
    claim: { generation, expiresAt: timeText(claim.expiresAt) },
    ...(tree !== undefined && { tree }),
  }
}
