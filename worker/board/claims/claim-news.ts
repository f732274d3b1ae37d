// What the history has of a claim: what has become of it since it was last stored. Pure.

import type { Entry } from '../activity/activity-rows.ts'
import { shortText } from '../activity/task-news.ts'
import { sessionOf } from './claim-session.ts'
import type { Claim } from './claim-store-sqlite.ts'

/** Agents say every few seconds what they do. */
const PROGRESS_MS = 300_000

/** `before`: undefined where it is new. One change of a claim is one row for each task of it. */
export function claimNews(before: Claim | undefined, claim: Claim, now: number): Entry[] {
  const entry = of(before, claim)
  if (!before || before.task === claim.task || claim.end) {
    const kind = kindOf(before, claim, now)
    return kind ? [{ kind, ...entry }] : []
  }
  const changes = { task: [before.task, claim.task] }
  const left = { ...of(undefined, before), changes }
  return [
    { kind: 'ended', ...left },
    { kind: 'claimed', ...entry, changes },
  ]
}

/** With what was said of it. */
const progressIsDue = ({ progressAt }: Claim, now: number): boolean =>
  progressAt === undefined || now - progressAt >= PROGRESS_MS || progressAt > now

function kindOf(before: Claim | undefined, claim: Claim, now: number): Entry['kind'] | undefined {
  if (!before) return 'claimed'
  const { end } = claim
  if (end) {
    const { outcome, summary } = before.end ?? {}
    if (outcome === end.outcome && summary === end.summary) return undefined
    return end.outcome === 'done' || end.outcome === 'abandoned' || before.end
      ? 'released'
      : 'ended'
  }
  if (before.end || (before.isStalled && !claim.isStalled)) return 'claimed'
  if (claim.isStalled && !before.isStalled) return 'expired'
  const isNew = claim.progress !== before.progress
  return isNew && progressIsDue(before, now) ? 'progress' : undefined
}

function of(before: Claim | undefined, claim: Claim): Omit<Entry, 'kind'> {
  const { task, title, actor, tree, progress, end } = claim
  const summary = end ? end.summary : progress
  const was = before ? sessionOf(before).health : null
  const { health } = sessionOf(claim)
  return {
    task,
    title: shortText(title),
    actor,
    ...(tree !== undefined && { tree }),
    ...(was !== health && { changes: { health: [was, health] } }),
    ...(summary !== undefined && { summary }),
    ...(end?.byOther && { by: 'other' as const }),
  }
}
