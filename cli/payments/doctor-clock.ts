// The doctor's verdict on clocks: what is too old by the edge's clock is not acted on. Pure.

import { error, type Finding, ok, warn } from '../findings.ts'

/** More than a Date header's seconds and a slow answer explain. */
const WARN_MS = 5_000

/** How far each clock is ahead of this machine's; undefined: it does not tell. */
export interface Skews {
  edge: number | undefined
  gateways: ReadonlyMap<string, number>
}

/** Gateways are compared with the edge, whose clock judges; without one, with this machine. */
export function checkClocks({ edge, gateways }: Skews, toleranceMs: number): Finding[] {
  const judge = edge === undefined ? 'this machine' : 'the edge'
  const findings = [...gateways].map(([key, skewMs]) =>
    checkSkew(`${key}'s gateway`, judge, skewMs - (edge ?? 0), toleranceMs),
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
  const side = skewMs > 0 ? 'ahead of' : 'behind'
  const harm =
    skewMs > 0 ? 'old callbacks are taken for longer' : 'callbacks look older than they are'
  const sentence = `The clock of ${whose} is ${seconds} s ${side} that of ${than}`
  const tolerance = `the tolerance is ${toleranceMs / 1_000} s`
  const level = sizeMs > toleranceMs / 2 ? error : warn
  return level('clock', `${sentence}: ${harm}, and ${tolerance}.`)
}
