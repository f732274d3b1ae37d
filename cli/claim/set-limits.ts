// Sets what a lead allows on a board, at its edge.

import type { BoardSettingsChange } from '../../libraries/api/types.ts'
import { runningBoard, type TargetOptions } from '../board/target.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import type { Input } from '../usage.ts'
import { printAnswer } from './answer.ts'
import { claimsAt } from './claims-at-edge.ts'

/** Prints one line of JSON. Resolves with the exit code. */
export async function setLimits(
  change: BoardSettingsChange,
  input: Input<TargetOptions>,
  context: Context,
): Promise<number> {
  const target = await runningBoard(input, context)
  if (!target) return FAILED
  const { board, edge } = target
  return await printAnswer(context.io, target, async () => {
    const settings = await claimsAt(edge).set(change)
    return { line: { type: settings.paused ? 'paused' : 'open', ...settings, board } }
  })
}
