// The doctor's check of clocks: the edge refuses webhooks that are too old by its own clock. Pure.

import { error, type Finding, ok, warn } from '../findings.ts'

/** More than the rounding of a Date header and a slow answer can cause. */
const WARN_MS = 5_000

/** How far each clock is ahead of this machine's; undefined: not known. */
export interface Skews {
  edge: number | undefined
  gateways: ReadonlyMap<string, number>
}

/**
 * Gateways are compared with the edge, since its clock decides; without an edge, with this machine.
 */
export function checkClocks({ edge, gateways }: Skews, toleranceMs: number): Finding[] {
  const reference = edge === undefined ? 'this machine' : 'the edge'
  const findings = [...gateways].map(([key, skewMs]) =>
    checkSkew(`${key}'s gateway`, reference, skewMs - (edge ?? 0), toleranceMs),
  )
  if (edge === undefined) return findings
  return [...findings, checkSkew('the edge', 'this machine', edge, toleranceMs)]
}

/** `skewMs`: how far the first is ahead of the second. */
function checkSkew(whose: string, than: string, skewMs: number, toleranceMs: number): Finding {
  const sizeMs = Math.abs(skewMs)
  if (sizeMs < WARN_MS && sizeMs <= toleranceMs / 2) {
    return ok('clock', `The clocks of ${whose} and of ${than} agree.`)
  }
  const seconds = Math.round(sizeMs / 1_000)
  const direction = skewMs > 0 ? 'ahead of' : 'behind'
  const harm =
    skewMs > 0 ? 'old callbacks are accepted for longer' : 'callbacks look older than they are'
  const sentence = `The clock of ${whose} is ${seconds} s ${direction} that of ${than}`
  const tolerance = `the tolerance is ${toleranceMs / 1_000} s`
  const level = sizeMs > toleranceMs / 2 ? error : warn
  return level('clock', `${sentence}: ${harm}, and ${tolerance}.`)
}
