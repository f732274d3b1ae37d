// Renews the claims of this user while the processes that hold them run, and ends them afterwards:
// a long tool call loses no claim, and a killed agent gives its task back.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../context.ts'
import { stateOf } from './agent-process.ts'
import { ClaimRefused, claimsAt } from './claims-at-edge.ts'
import { forgetClaim, type KeptClaim, keptClaims } from './kept-claims.ts'

const LOOK_MS = 2_000
/** It is another's, or of an edge that has lost it. */
const OVER = ['claim_lost', 'unknown_claim']
/** A claim is renewed when a third of its time is over. */
const SHARE = 3

export interface ClaimWatch {
  env: Environment
  /** The edge's, without a trailing slash. */
  url: string
  /** It has `board:work`. */
  token: () => Promise<string>
  signal: AbortSignal
}

/** Until the signal. Never rejects: what cannot be done now is tried again. */
export async function watchClaims({ env, url, token, signal }: ClaimWatch): Promise<void> {
  /** When; for good where the claim has ended. */
  const renewed = new Map<string, number>()
  while (!signal.aborted) {
    const kept = await keptClaims(env, url).catch((): KeptClaim[] => [])
    await Promise.all(kept.map((claim) => lookAfter(claim).catch(() => undefined)))
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined)
  }

  async function lookAfter(kept: KeptClaim): Promise<void> {
    const { claim, board, ttlMs, process: agent } = kept
    if (!agent) return
    const state = stateOf(agent)
    // A stopped one holds until the end of what it asked for itself.
    if (state === 'elsewhere' || state === 'stopped') return
    const edge = claimsAt({ url, path: board, token })
    try {
      if (state === 'gone') {
        await edge.release({ claim, outcome: 'abandoned' })
        await forgetClaim(env, kept)
        return
      }
      const now = performance.now()
      const last = renewed.get(claim)
      if (last !== undefined && now - last < ttlMs / SHARE) return
      const { end } = await edge.renew({ claim })
      renewed.set(claim, end ? Number.POSITIVE_INFINITY : now)
    } catch (error) {
      if (!(error instanceof ClaimRefused) || !OVER.includes(error.problem.code)) return
      // While its agent runs, the file stays: its next command finds out by it that it has ended.
      if (state === 'gone') await forgetClaim(env, kept)
      else renewed.set(claim, Number.POSITIVE_INFINITY)
    }
  }
}
