// The doctor's checks of clocks. The edge judges by its own clock which webhooks are too old, and
// which tokens have expired. Pure.

import { error, type Finding, ok, warn } from './findings.ts'

/** More than the rounding of a Date header and a slow answer can cause. */
const WARN_MS = 5_000

/** How far each clock is ahead of this machine's; undefined: not known. */
export interface Skews {
  edge: number | undefined
  gateways: ReadonlyMap<string, number>
}

/**
 * For payments. Gateways are compared with the edge, since its clock decides; without an edge, with
 * this machine.
 */
export function checkClocks({ edge, gateways }: Skews, toleranceMs: number): Finding[] {
  const reference = edge === undefined ? 'this machine' : 'the edge'
  const check = (whose: string, than: string, skewMs: number) => {
    const harm =
      skewMs > 0 ? 'old callbacks are accepted for longer' : 'callbacks look older than they are'
    const tolerance = `the tolerance is ${toleranceMs / 1_000} s`
    const about = { harm: `${harm}, and ${tolerance}`, maxMs: toleranceMs / 2 }
    return checkSkew({ whose, than, skewMs, ...about })
  }
  const findings = [...gateways].map(([key, skewMs]) =>
    check(`${key}'s gateway`, reference, skewMs - (edge ?? 0)),
  )
  if (edge === undefined) return findings
  return [...findings, check('the edge', 'this machine', edge)]
}

/** Beyond this a token that was just made may count as expired, or a stale session as alive. */
const BOARD_TOLERANCE_MS = 300_000

/** For a sidecar. `skewMs`: how far the edge's clock is ahead of ours, ±1 s. */
export const checkEdgeClock = (skewMs: number): Finding =>
  checkSkew({
    whose: 'the edge',
    than: 'this machine',
    skewMs,
    maxMs: BOARD_TOLERANCE_MS,
    harm: 'sessions look stale, and tokens expire at the wrong time',
  })

interface Skew {
  whose: string
  than: string
  /** How far the first is ahead of the second. */
  skewMs: number
  /** More is an error. */
  maxMs: number
  harm: string
}

function checkSkew({ whose, than, skewMs, maxMs, harm }: Skew): Finding {
  const sizeMs = Math.abs(skewMs)
  if (sizeMs < WARN_MS && sizeMs <= maxMs) {
    return ok('clock', `The clocks of ${whose} and of ${than} agree.`)
  }
  const seconds = Math.round(sizeMs / 1_000)
  const direction = skewMs > 0 ? 'ahead of' : 'behind'
  const level = sizeMs > maxMs ? error : warn
  return level(
    'clock',
    `The clock of ${whose} is ${seconds} s ${direction} that of ${than}: ${harm}.`,
  )
}
