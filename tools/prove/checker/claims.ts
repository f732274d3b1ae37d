// What claims promise: (i) at no time two of one task are valid, their number only rises, and one
// that was answered holds until it is over, whatever fails.

import { type Finding, finding, type History, type Line } from './history.ts'

/** A file that was deleted may be published so much later, in ms. */
const PUBLISHED_MS = 60_000

export function checkClaims({ of }: History): Finding[] {
  const claims = of('claim').toSorted((a, b) => a.generation - b.generation)
  const renewals = Map.groupBy(of('renewal'), ({ generation }) => generation)
  /** Its holder has released it or was killed, or its task is gone. */
  const isOver = ({ task, generation, t }: Line<'claim'>, before: number) =>
    of('release').some((it) => it.generation === generation && it.line < before) ||
    of('write').some((it) => isGone(it, task) && it.t > t - PUBLISHED_MS && it.line < before)
  const unreturned = of('left')
    .filter(({ health }) => health === 'active' || health === 'stalled')
    .map(({ line, generation }) => finding('i', line, `the dead still hold ${generation}`))
  const found = claims.flatMap((claim, n) => {
    const { task, generation, known, line, beganAt } = claim
    const found: Finding[] = []
    const before = claims.slice(0, n).findLast((it) => it.task === task)
    const renewed = renewals.get(before?.generation ?? 0) ?? []
    const until = Math.max(before?.expiresAt ?? 0, ...renewed.map((it) => it.expiresAt ?? 0))
    if (before && until > beganAt && !isOver(before, line)) {
      const who = `${before.claimer} and ${claim.claimer}`
      found.push(finding('i', line, `${task} was given to ${who} at once`))
    }
    if (generation <= known || generation === claims[n - 1]?.generation) {
      found.push(finding('i', line, `claim ${generation} came after ${known}`))
    }
    const isTaken = claims.slice(n + 1).some((it) => it.task === task)
    for (const { status, line: at } of renewals.get(generation) ?? []) {
      if (status < 400 || (status === 410 && (isTaken || isOver(claim, at)))) continue
      found.push(finding('i', at, `the claim of ${task} was lost (${status})`))
    }
    return found
  })
  return [...found, ...unreturned]
}

const isGone = (write: Line<'write'>, task: string) => write.task === task && write.version === null
