// For whom `signalbox mcp` works: an agent on this machine, at the Signalbox that runs for its
// board.

import { randomBytes } from 'node:crypto'
import { claimsOf } from '../../libraries/client/requests.ts'
import { type Caller, Refused } from '../../libraries/mcp/caller.ts'
import { defined } from '../../worker/shared/json.ts'
import { messageOf } from '../../worker/shared/log.ts'
import { coversPath } from '../../worker/shared/repos.ts'
import { sha256Hex } from '../../worker/shared/sha256.ts'
import type { Environment } from '../context.ts'
import { identify } from './agent-process.ts'
import type { Claimant, Place } from './claimant.ts'
import { claimsAt } from './claims-at-edge.ts'
import { forgetClaim, type KeptClaim, keepClaim, type Release } from './kept-claims.ts'
import { endKept } from './watch-claims.ts'

const ABANDONED: Release = { outcome: 'abandoned' }
const SECRET_CHARS = 22

export interface StdioCaller extends Caller {
  /** The agent has ended: gives back what it holds. */
  end(): Promise<void>
}

/** `find` looks again: another one may run by now, at another address. */
export function stdioCaller(
  first: Claimant,
  find: () => Promise<Claimant | undefined>,
  { env, onError }: { env: Environment; onError: Caller['onError'] },
): StdioCaller {
  const { actor, agent, tree, branch, board } = first
  const own = randomBytes(32).toString('base64url')
  const self = identify(process.pid)
  const held = new Map<string, KeptClaim>()
  let place = first.place

  async function keep(kept: KeptClaim): Promise<void> {
    held.set(kept.claim, kept)
    await keepClaim(env, kept)
  }

  async function placed(): Promise<Place> {
    place ??= (await find())?.place
    if (place) return place
    throw unreachable(`A board needs a running Signalbox, and none runs for ${board}: start it.`)
  }

  return {
    actor,
    needsAgent: true,
    from: defined({ tree, branch }),
    board: async () => (await placed()).edge.path,
    async covers(board) {
      const { repos } = claimsOf(await (await placed()).edge.token())
      return Array.isArray(repos) && coversPath(repos.map(String), board)
    },
    async send(route, init) {
      const { edge } = await placed()
      const headers = new Headers(init.headers)
      const token = await edge.token().catch((error: unknown) => {
        throw new Refused({ error: messageOf(error), code: 'token' })
      })
      headers.set('Authorization', `Bearer ${token}`)
      try {
        return await fetch(`${edge.url}${route}`, { ...init, headers })
      } catch (error) {
        if (init.signal?.aborted) throw error
        place = undefined
        throw unreachable(`No Signalbox answers at ${edge.url}: try again.`)
      }
    },
    secretFor: async (words) =>
      Buffer.from(await sha256Hex(`${own} ${words}`), 'hex')
        .toString('base64url')
        .slice(0, SECRET_CHARS),
    held: {
      async taking({ claim, actor, board, ttlMs }, ask) {
        const { at } = (await placed()).edge
        const known = { claim, actor, board, ttlMs, at, ...(tree !== undefined && { tree }) }
        const fresh = { ...known, task: '', generation: 0 }
        const isHeld = held.has(claim)
        // By this process: its agent knows nothing of a claim whose answer ends with it.
        if (!isHeld) await keepClaim(env, { ...fresh, ...(self && { process: self }) })
        try {
          const given = await ask()
          const { task, generation } = given
          await keep({ ...known, task: task.id, generation, ...(agent && { process: agent }) })
          return given
        } catch (error) {
          const isRefused = error instanceof Refused && !error.isUnsure
          // It may have been given all the same, and then nobody works on it.
          if (!isHeld && isRefused) await forgetClaim(env, fresh)
          else if (!isHeld) await keep({ ...fresh, release: ABANDONED })
          throw error
        }
      },
      async ended(claim) {
        held.delete(claim)
        await forgetClaim(env, { claim })
      },
    },
    onError,
    async end() {
      await Promise.all(
        [...held.values()].map(async (kept) => {
          try {
            const { edge } = await placed()
            await endKept(env, claimsAt({ ...edge, path: kept.board }), kept, ABANDONED)
          } catch {
            // Whichever runs next passes it on.
            await keepClaim(env, { ...kept, release: ABANDONED })
          }
        }),
      )
    },
  }
}

const unreachable = (error: string) =>
  new Refused({ error, code: 'unreachable' }, { isUnsure: true })
