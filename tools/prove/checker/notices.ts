// What notices promise: (l) each cause is stored once and arrives with one id, whatever is killed,
// and what is listed as delivered has arrived.

import { type Finding, finding, findings, type History, JUMPS, type Line } from './history.ts'

/** What ends and is back within this time is the same cause. */
const FLAPPING_MS = 600_000

export function checkNotices({ of }: History): Finding[] {
  const notices = of('notice')
  const listed = of('delivery')
  const isJumped = of('fault').some(({ name }) => JUMPS.includes(name))
  const tries = [...Map.groupBy(notices, ({ id }) => id).values()]
  const firsts = tries.flatMap(([first]) => first ?? [])
  // A receiver refuses the time of a clock that is wrong.
  const isTime = (why: string) => isJumped && why.includes('timestamp too')
  const forged = notices.filter((it) => it.forged !== undefined && !isTime(it.forged))
  const changed = tries.flatMap(([first, ...again]) =>
    again.filter((it) => first && textOf(it) !== textOf(first)),
  )
  const lost = listed.filter(({ delivery }) => !notices.some(({ id }) => id === delivery.id))
  const left = listed.filter(
    ({ delivery: { state }, isAhead }) => state !== 'delivered' && !(isAhead && isJumped),
  )
  return [
    ...findings('l', forged, () => 'a notice is not signed by the edge'),
    ...findings('l', changed, ({ id }) => `${id} came with another text before`),
    ...(isJumped ? [] : repeated(firsts)),
    ...findings('l', lost, ({ delivery }) => `${delivery.id} never arrived`),
    ...findings('l', left, ({ delivery }) => `${delivery.id} is ${delivery.state}`),
  ]
}

const textOf = ({ timestamp, causes }: Line<'notice'>): string =>
  JSON.stringify([timestamp, causes])

/** A cause under a second id so soon after the first that it cannot have been away long enough. */
function repeated(firsts: Line<'notice'>[]): Finding[] {
  const all = firsts.flatMap(({ line, timestamp, causes }) =>
    causes.map(({ on, task, since }) => {
      // Each claim that was taken away is one of its own.
      const which = on === 'claim_taken' ? `${on} ${task} ${since}` : `${on} ${task}`
      return { line, at: Date.parse(timestamp), which }
    }),
  )
  return [...Map.groupBy(all, ({ which }) => which)].flatMap(([which, own]) =>
    own
      .toSorted((one, other) => one.at - other.at)
      .flatMap(({ line, at }, n, sorted) => {
        const before = sorted[n - 1]
        const isSoon = before && at - before.at < FLAPPING_MS
        return isSoon ? [finding('l', line, `${which} was sent under two ids`)] : []
      }),
  )
}
