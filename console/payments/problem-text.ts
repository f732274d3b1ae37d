// Why something did not work, in a sentence. Pure.

import { ApiProblem } from '../data/http.ts'
import { words } from '../words.ts'

/** The edge's own, where it said one. */
export function problemText(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return words.payments.noAnswer
  return problem.code === 'unreachable' ? words.payments.noAnswer : problem.message
}
