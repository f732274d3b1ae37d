// How a command about claims or notices prints what the edge answers, and how it ends by that.

import { BoardError } from '../../libraries/client/types.ts'
import { noBoardIn } from '../../sidecar/layouts/registry.ts'
import { jsonText } from '../../worker/shared/printable.ts'
import { LIMIT_CODES, TAKEN } from '../../worker/shared/problem.ts'
import type { BoardAtEdge } from '../board/edge-board.ts'
import { findTarget, type TargetOptions } from '../board/target.ts'
import type { Context } from '../context.ts'
import { FAILED, NOT_OURS, TIMED_OUT } from '../exit-codes.ts'
import { EdgeRefused } from '../request.ts'
import { noticeTo } from '../terminal.ts'
import type { Input } from '../usage.ts'

/** What a command prints, and how it ends. */
export type Answered = ({ line: object } | { text: string }) & { code?: number }

/** Prints what it answers, and turns what the edge refuses into an exit code and a sentence. */
export async function printAnswer(
  io: Context['io'],
  { board }: { board: string },
  ask: () => Promise<Answered>,
): Promise<number> {
  const notice = noticeTo(io)
  try {
    const answer = await ask()
    io.out('line' in answer ? `${jsonText(answer.line)}\n` : answer.text)
    return answer.code ?? 0
  } catch (error) {
    if (error instanceof EdgeRefused) {
      const { problem } = error
      io.out(`${jsonText({ type: problem.code, ...problem, board })}\n`)
      notice(problem.error)
      if (LIMIT_CODES.includes(problem.code)) return TIMED_OUT
      return TAKEN.includes(problem.code) ? NOT_OURS : FAILED
    }
    if (!(error instanceof BoardError)) throw error
    notice(error.message)
    return FAILED
  }
}

/** Asks the board that is meant, where it runs. Resolves with the exit code. */
export async function askBoard(
  input: Input<TargetOptions>,
  context: Context,
  ask: (at: { board: string; edge: BoardAtEdge }) => Promise<Answered>,
): Promise<number> {
  const notice = noticeTo(context.io)
  const target = await findTarget(input, context, notice)
  if (target?.edge) {
    const { board, edge } = target
    return await printAnswer(context.io, target, () => ask({ board, edge }))
  }
  if (target) notice(`No Signalbox runs for ${target.board}: start it, or use --url.`)
  else notice(noBoardIn(context.cwd, 'above or below').message)
  return FAILED
}
