// Which claim a command is about, by its secret.

import { dirname } from 'node:path'
import { isWithin } from '../../sidecar/layouts/store-folder.ts'
import { isDataFolder } from '../board/target.ts'
import type { Context } from '../context.ts'
import { OWN_CLAIM } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { isSame } from './agent-process.ts'
import { CLAIMING, type Claimant, type Claiming, namedIn, type Place } from './claimant.ts'
import { type KeptClaim, keptClaims } from './kept-claims.ts'

/** The options of commands about a claim that was made before. */
export const HELD = [...CLAIMING, OWN_CLAIM] as const

export interface OwnClaim {
  /** Its secret. */
  claim: string
  kept?: KeptClaim
}

/** This actor's claim on the board, or the named one. Undefined: none; a sentence is printed. */
export async function ownClaim(
  claimant: Claimant,
  input: Claiming,
  { io, env }: Context,
): Promise<OwnClaim | undefined> {
  const named = namedIn(input)
  const all = await keptClaims(env)
  const kept =
    named === undefined ? ownAmong(all, claimant) : all.find(({ claim }) => claim === named)
  const claim = named ?? kept?.claim
  if (claim !== undefined) return { claim, ...(kept && { kept }) }
  const { actor, board } = claimant
  noticeTo(io)(`${actor} holds no claim of ${board}; --claim or --actor names another one.`)
  return undefined
}

/**
 * That of the actor; else the only one of its process: who claims in the main tree, and then makes
 * a worktree, is in another tree and has the same claim.
 * @forTests Each case without an edge.
 */
export function ownAmong(
  all: readonly KeptClaim[],
  claimant: Omit<Claimant, 'place'> & { place: Pick<Place, 'edge'> | undefined },
): KeptClaim | undefined {
  const { place, here, data, board, actor, isNamed, agent } = claimant
  const open = all.filter(({ release }) => release === undefined)
  const around = place
    ? open.filter((it) => it.at === place.edge.at && it.board === place.edge.path)
    : // Under which name is known when it runs.
      open.filter(({ at }) => (data === undefined ? isAround(here, at) : at === data))
  const ofBoard = around.filter((it) => it.board === board)
  const near = ofBoard.length > 0 ? ofBoard : around
  const own = near.find((it) => it.actor === actor)
  if (own || isNamed || !agent) return own
  const [only, another] = near.filter((it) => it.process && isSame(it.process, agent))
  return another ? undefined : only
}

const isAround = (here: string, at: string): boolean =>
  isDataFolder(at) && isWithin(here, dirname(at))
