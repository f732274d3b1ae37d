// Ends a claim as its holder says. While no Signalbox of this user runs, that is kept, and the one
// that runs next passes it on: its agent has ended by then.

import { BoardError } from '../../libraries/client/types.ts'
import { isDataFolder } from '../board/target.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import { noticeTo } from '../terminal.ts'
import { type Answered, printAnswer } from './answer.ts'
import { type Claimant, isPlaced } from './claimant.ts'
import { claimsAt, isAway } from './claims-at-edge.ts'
import { forgetClaim, type KeptClaim, keepClaim, type Release } from './kept-claims.ts'
import type { OwnClaim } from './own-claim.ts'

/** Prints one line of JSON. Resolves with the exit code. */
export async function giveBack(
  { claim, kept }: OwnClaim,
  release: Release,
  claimant: Claimant,
  { io, env }: Pick<Context, 'io' | 'env'>,
): Promise<number> {
  // One that is elsewhere has no process here that could do it.
  const passedOn = kept && isDataFolder(kept.at) ? kept : undefined
  const keep = async ({ task, board, ...kept }: KeptClaim): Promise<Answered> => {
    await keepClaim(env, { ...kept, task, board, release })
    const what = 'the release is kept, and passed on when it runs again'
    noticeTo(io)(`No Signalbox answers for ${board}: ${what}.`)
    return { line: { type: 'kept', task, outcome: release.outcome, board } }
  }
  if (!claimant.place && passedOn) return await printAnswer(io, claimant, () => keep(passedOn))
  if (!isPlaced(claimant, io)) return FAILED
  return await printAnswer(io, claimant, async () => {
    try {
      const answer = await claimsAt(claimant.place.edge).release({ claim, ...release })
      if (kept) await forgetClaim(env, kept)
      return { line: { type: 'released', ...answer } }
    } catch (error) {
      if (!isAway(error)) throw error
      if (passedOn) return await keep(passedOn)
      const why = error instanceof Error ? error.message : String(error)
      throw new BoardError(0, 'unreachable', `${why} Nobody passes the release on: run it again.`)
    }
  })
}
