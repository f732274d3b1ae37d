// The colour of a result. Pure.

export type ResultColor = 'go' | 'stop' | 'soft'

const GOOD = /^(pass(ed)?|ok|success|succeeded|done|true|green)$/i
const BAD = /^(fail(ed|ure)?|error|errored|timed?[ _-]?out|false|red)$/i

/** Boards use words of their own. An unknown result is neither good nor bad. */
export function colorOf(result: string | undefined): ResultColor {
  if (result === undefined) return 'soft'
  if (GOOD.test(result)) return 'go'
  return BAD.test(result) ? 'stop' : 'soft'
}
