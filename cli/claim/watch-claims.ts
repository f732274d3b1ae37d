// Renews the claims of this user while the processes that hold them run, and ends them afterwards:
// a long tool call loses no claim, and a killed agent gives its task back. What was released while
// no Signalbox ran is passed on first.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../context.ts'
import { stateOf } from './agent-process.ts'
import { type ClaimsAtEdge, claimsAt, isCode } from './claims-at-edge.ts'
import { fileOf, forgetClaim, type KeptClaim, keptClaims, type Release } from './kept-claims.ts'
import { Signs } from './signs.ts'

const LOOK_MS = 2_000
/** It is another's, or of an edge that has lost it. */
export const OVER = ['claim_lost', 'unknown_claim']
/** A claim is renewed when a third of its time is over. */
const SHARE = 3
/** Also for a lease of a day, since a renewal says that somebody works. */
const SIGN_MS = 300_000

export const renewAfter = (ttlMs: number): number => Math.min(ttlMs / SHARE, SIGN_MS)

export interface ClaimWatch {
  env: Environment
  /** Its data folder, and its URL, under which claims with --url are kept. */
  at: readonly string[]
  /** The edge's, without a trailing slash. */
  url: string
  /** It has `board:work`. */
  token: () => Promise<string>
  signal: AbortSignal
}

/** Until the signal. Never rejects: what cannot be done now is tried again. */
export async function watchClaims({ env, at, url, token, signal }: ClaimWatch): Promise<void> {
  /** When; for good where the claim has ended. */
  const renewed = new Map<string, number>()
  /** Those whose process was gone at the last look. */
  const gone = new Set<string>()
  const signs = new Signs()
  while (!signal.aborted) {
    const kept = await keptClaims(env).catch((): KeptClaim[] => [])
    const ours = kept.filter((claim) => at.includes(claim.at))
    await Promise.all(ours.map((claim) => lookAfter(claim).catch(() => undefined)))
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined)
  }

  async function lookAfter(kept: KeptClaim): Promise<void> {
    const { claim, board, ttlMs, gitFolder, process: agent, release } = kept
    const claims = claimsAt({ url, path: board, token })
    if (release) return await endKept(env, claims, kept, release)
    if (!agent) return
    const state = stateOf(agent)
    // A stopped one holds until the end of what it asked for itself.
    if (state === 'elsewhere' || state === 'stopped') return
    if (state === 'gone') {
      // What it closed last is published until the next look.
      if (gone.has(claim)) await endKept(env, claims, kept, await leftBy(kept, claims))
      gone.add(claim)
      return
    }
    const now = performance.now()
    const last = renewed.get(claim)
    if (last !== undefined && now - last < renewAfter(ttlMs)) return
    try {
      const worker = { claim, pid: agent.pid, gitFolder, file: fileOf(env, kept) }
      const sign = await signs.last(worker, Date.now())
      const { end, returning } = await claims.renew({ claim, ...sign })
      renewed.set(claim, end && !returning ? Number.POSITIVE_INFINITY : now)
    } catch (error) {
      // The file stays: the next command of its agent finds out by it that it has ended.
      if (isCode(error, ...OVER)) renewed.set(claim, Number.POSITIVE_INFINITY)
    }
  }
}

/** How a claim ends whose process has ended: it may have closed its task, and nothing else. */
async function leftBy({ claim, tree }: KeptClaim, claims: ClaimsAtEdge): Promise<Release> {
  try {
    // Its task may have another id by now.
    const { task } = await claims.renew({ claim })
    return { outcome: (await claims.isClosed(task, tree)) ? 'done' : 'abandoned' }
  } catch (error) {
    if (isCode(error, ...OVER, 'not_found', 'unknown_task')) return { outcome: 'abandoned' }
    throw error
  }
}

/** Releases it at its edge, where it may have ended already, and keeps it no longer. */
export async function endKept(
  env: Environment,
  claims: ClaimsAtEdge,
  kept: KeptClaim,
  release: Release,
): Promise<void> {
  try {
    await claims.release({ claim: kept.claim, ...release })
  } catch (error) {
    if (!isCode(error, ...OVER)) throw error
  }
  await forgetClaim(env, kept)
}
