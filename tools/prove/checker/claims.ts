// What claims promise: (i) at no time two of one task are valid, their number only rises, one that
// was answered holds until it is over, whatever fails, and is back when its task is.

import { type Finding, finding, findings, type History, JUMPS, type Line } from './history.ts'

/** A file that was deleted may be published so much later, in ms. */
const PUBLISHED_MS = 60_000

export function checkClaims(history: History): Finding[] {
  const { of } = history
  const claims = of('claim').toSorted((a, b) => a.generation - b.generation)
  const renewals = Map.groupBy(of('renewal'), ({ generation }) => generation)
  const gone = goneOf(history)
  /** Its holder has released it or was killed, or its task is gone. */
  const isOver = ({ task, generation, t }: Line<'claim'>, before: number) =>
    of('release').some((it) => it.generation === generation && it.line < before) ||
    (gone.get(task) ?? []).some((it) => it.t > t - PUBLISHED_MS && it.line < before)
  /** The newest lease that was answered by then, and later ones: a clock set back shortens it. */
  const leasesOf = (claim: Line<'claim'>, next: number) => {
    const leases = [claim, ...(renewals.get(claim.generation) ?? [])].filter((it) => it.expiresAt)
    return leases.slice(leases.findLastIndex(({ line }) => line < next))
  }
  const jumps = of('fault').filter(({ name }) => JUMPS.includes(name))
  /**
   * It holds still when the next one of its task begins. If a clock jumped since its lease was
   * answered, it is over after half of its term by the run's clock: an answer may take seconds.
   */
  const stillHolds = (claim: Line<'claim'>, next: Line<'claim'>): boolean => {
    const leases = leasesOf(claim, next.line)
    const { t = 0, line = 0 } = leases[0] ?? {}
    const last = jumps.findLast((it) => it.line < next.line)
    // One fault moves the clock several times.
    const isJumped = last !== undefined && (last.line > line || last.phase === 'begin')
    const isOver = isJumped && next.t - t >= ((claim.expiresAt ?? 0) - claim.beganAt) / 2
    return !isOver && Math.max(...leases.map((it) => it.expiresAt ?? 0)) > next.beganAt
  }
  const unreturned = of('left').filter(({ health }) => ['active', 'stalled'].includes(health))
  const found = claims.flatMap((claim, n) => {
    const { task, generation, known, line, claimer } = claim
    const found: Finding[] = []
    const before = claims.slice(0, n).findLast((it) => it.task === task)
    if (before && stillHolds(before, claim) && !isOver(before, line)) {
      const why = `${task} was given to ${before.claimer} and ${claimer} at once`
      found.push(finding('i', line, why))
    }
    if (generation <= known || generation === claims[n - 1]?.generation) {
      found.push(finding('i', line, `claim ${generation} came after ${known}`))
    }
    const isTaken = claims.slice(n + 1).some((it) => it.task === task)
    const lost = renewals.get(generation)?.filter(({ status, line: at }) => {
      return status >= 400 && !(status === 410 && (isTaken || isOver(claim, at)))
    })
    const say = ({ status }: Line<'renewal'>) => `the claim of ${task} was lost (${status})`
    return [...found, ...findings('i', lost ?? [], say)]
  })
  return [
    ...found,
    ...findings('i', unreturned, ({ generation }) => `the dead still hold ${generation}`),
    ...afterAbsence(history),
  ]
}

/** By task: when it was deleted, and did not come back as it was. */
function goneOf({ of }: History): Map<string | undefined, Line<'write'>[]> {
  const all = [...Map.groupBy(of('write'), ({ task }) => task)]
  const isForGood = ({ version }: Line<'write'>, at: number, writes: Line<'write'>[]) => {
    const next = writes[at + 1]
    return version === null && (!next || next.version !== writes[at - 1]?.version)
  }
  return new Map(all.map(([task, writes]) => [task, writes.filter(isForGood)]))
}

/** A clock that jumps may end the time in which a closed task is its holder's. */
function afterAbsence({ of }: History): Finding[] {
  const moves = of('fault').filter(({ name }) => JUMPS.includes(name))
  const isExcused = ({ how, awayMs, t }: Line<'returned'>) =>
    how === 'closed' && moves.some((it) => it.t > t - awayMs - PUBLISHED_MS && it.t < t)
  const lost = of('returned').filter((it) => !it.isHeld && !isExcused(it))
  const kept = of('inherited').filter(({ isGiven }) => !isGiven)
  return [
    ...findings('i', lost, (it) => `${it.generation} is not back with its task`),
    ...findings('i', kept, (it) => `nobody was given what ${it.generation} left`),
  ]
}
