// The promises that a history breaks, in full in docs/reliability.md. Imports only Node.
// (a) clients read what the files say; (b) no message before its data; (c) streams lose none;
// (d) events follow the status graph, and arrive; (e) money agrees; (f) no order is paid twice
// without an alert; (g) what was answered is stored, once; (h) what had ended stays; (i) a task has
// one claim; (j) rows show worktrees; (k) the history has each change; (l) notices arrive, once.

import { checkActivity } from './activity.ts'
import { checkBoard } from './board.ts'
import { checkClaims } from './claims.ts'
import { checkEvents } from './events.ts'
import { type Finding, finding, type History, type Kind, readHistory } from './history.ts'
import { checkNotices } from './notices.ts'
import { checkPayments } from './payments.ts'
import { checkTrees } from './trees.ts'

/** Without one of these nothing was tried, so nothing was shown. */
const TRIED = `connect message read files claim renewal release returned left mark row
  offered charge charge-call refund refund-call cancel seen webhook listener endpoint
  booking stored movement event activity notice delivery later`.split(/\s+/) as Kind[]

/** Every broken promise, in the order of the lines that show it. */
export function checkHistory(text: string): Finding[] {
  const history = readHistory(text)
  const gaps = checkComplete(history)
  if (gaps.length > 0) return gaps
  const board = [checkBoard, checkClaims, checkTrees, checkActivity, checkNotices]
  const checks = [...board, checkEvents, checkPayments]
  const found = checks.flatMap((check) => check(history))
  return found.sort((a, b) => a.line - b.line)
}

/** One whole run, and no more than that. */
function checkComplete({ lines, of }: History): Finding[] {
  const last = lines.at(-1)
  const wrong = (line: number, what: string) => [finding('rest', line, what)]
  if (last?.kind !== 'rest') return wrong(last?.line ?? 0, 'the run did not come to rest')
  if (lines[0]?.kind !== 'run') return wrong(1, 'the beginning of the run is missing')
  const other = lines.slice(1, -1).find(({ kind }) => kind === 'run' || kind === 'rest')
  if (other) return wrong(other.line, 'a second run begins or ends here')
  const idle = of('fault').find(({ held }) => held === false)
  if (idle) return wrong(idle.line, `${idle.name} found no batch to hold back`)
  const isListed = of('booking').some(({ payment }) => payment.refunds?.length)
  if (!isListed) return wrong(last.line, 'no gateway lists a refund')
  const missing = TRIED.filter((kind) => of(kind).length === 0)
  return missing.flatMap((kind) => wrong(last.line, `no ${kind} was seen in the whole run`))
}

export const textOf = ({ check, line, what }: Finding): string => `line ${line}: (${check}) ${what}`
