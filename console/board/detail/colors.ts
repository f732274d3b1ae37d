// Which colour a result is shown in. Pure.

export type Tone = 'go' | 'stop' | 'soft'

const GOOD = /^(pass(ed)?|ok|success|succeeded|done|true|green)$/i
const BAD = /^(fail(ed|ure)?|error|errored|timed?[ _-]?out|false|red)$/i

/** Boards use words of their own: what is not known is neither good nor bad. */
export function toneOf(result: string | undefined): Tone {
  if (result === undefined) return 'soft'
  if (GOOD.test(result)) return 'go'
  return BAD.test(result) ? 'stop' : 'soft'
}
