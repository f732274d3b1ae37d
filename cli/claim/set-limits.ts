// Sets what a lead allows on a board, at its edge.

import type { BoardSettingsChange } from '../../libraries/api/types.ts'
import type { TargetOptions } from '../board/target.ts'
import type { Context } from '../context.ts'
import type { Input } from '../usage.ts'
import { askBoard } from './answer.ts'
import { claimsAt } from './claims-at-edge.ts'

/** Prints one line of JSON. Resolves with the exit code. */
export const setLimits = (
  change: BoardSettingsChange,
  input: Input<TargetOptions>,
  context: Context,
): Promise<number> =>
  askBoard(input, context, async ({ board, edge }) => {
    const settings = await claimsAt(edge).set(change)
    return { line: { type: settings.paused ? 'paused' : 'open', ...settings, board } }
  })
