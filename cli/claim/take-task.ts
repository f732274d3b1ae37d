// Takes a task for somebody: once, or as soon as one is free. Through restarts of the Signalbox.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed, ClaimRequest } from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import { defined } from '../../worker/shared/json.ts'
import { MAY_PASS } from '../../worker/shared/problem.ts'
import { edgeBoard } from '../board/edge-board.ts'
import { isDataFolder, signalboxes } from '../board/target.ts'
import type { Environment } from '../context.ts'
import { EdgeRefused } from '../request.ts'
import type { Claimant, Place, Placed } from './claimant.ts'
import { claimsAt, isAway, isCode } from './claims-at-edge.ts'
import { forgetClaim, type KeptClaim, keepClaim, keptClaims } from './kept-claims.ts'
import { endKept } from './watch-claims.ts'

export const TTL_MS = 600_000

/** Which task, and how it is held. */
export type Wanted = Omit<ClaimRequest, 'claim' | 'actor' | 'tree' | 'branch' | 'ttlMs'> & {
  ttl?: number
}

/** No task was free in time. */
export class NothingFree extends Error {}

export type Given = Claimed & { claim: string }

/** Throws EdgeRefused, or NothingFree. */
export async function takeTask(
  { ttl, ...wanted }: Wanted,
  { actor, agent, tree, branch, gitFolder, place }: Placed,
  env: Environment,
): Promise<Given> {
  const { edge } = place
  const claims = claimsAt(edge)
  const mine = (await keptClaims(env)).filter(
    (kept) => kept.actor === actor && kept.at === edge.at && kept.board === edge.path,
  )
  const ask = async (kept: KeptClaim): Promise<Given> => {
    const { claim, ttlMs } = kept
    const asked = { ...wanted, ...defined({ tree, branch }), claim, actor, ttlMs }
    const given = await claims.claim(asked)
    await keepClaim(env, { ...kept, task: given.task.id, generation: given.generation })
    return { ...given, claim }
  }
  for (const kept of mine) {
    if (kept.release) await endKept(env, claims, kept, kept.release)
  }
  const own = wanted.max === undefined ? mine.find(({ release }) => !release) : undefined
  const held = defined({ tree, gitFolder, process: agent })
  try {
    if (own?.task) {
      const again = await ask({ ...own, ...held, ttlMs: ttl ?? own.ttlMs }).catch(isLost)
      if (again) return again
    }
    const isAsked = own?.task === ''
    const claim = isAsked ? own.claim : randomBytes(16).toString('base64url')
    const ttlMs = ttl ?? TTL_MS
    const fresh = { claim, actor, board: edge.path, at: edge.at, ttlMs, task: '', generation: 0 }
    const given = await askFirst({ ...fresh, ...held })
    // Only now: its end might have been taken back.
    if (own && !isAsked) await forgetClaim(env, own)
    return given
  } catch (error) {
    throw isCode(error, 'nothing_ready') ? new NothingFree() : error
  }

  /** Kept before: one whose answer is lost is asked for again, and is the same. */
  async function askFirst(fresh: KeptClaim): Promise<Given> {
    await keepClaim(env, fresh)
    try {
      return await ask(fresh)
    } catch (error) {
      if (error instanceof EdgeRefused) await forgetClaim(env, fresh)
      throw error
    }
  }
}

/** The one of before has ended: a new one is asked for. */
function isLost(error: unknown): undefined {
  if (!isCode(error, 'claim_lost')) throw error
}

/** What was released as done, and is still open, is free after some time without a message. */
const ASK_AGAIN_MS = 60_000
/** What answers does so within it: a task that is given as the wait ends is not lost. */
const LAST_ANSWER_MS = 1_000

export interface WhenFree {
  first: Claimant
  /** Finds the board again: a Signalbox may run now that did not before. */
  find: () => Promise<Claimant | undefined>
  take: (claimant: Placed) => Promise<Taken>
  notice: (sentence: string) => void
  signal: AbortSignal
}

/** Throws NothingFree when the signal comes first. */
export async function whenFree({ first, find, take, notice, signal }: WhenFree): Promise<Taken> {
  const again = signalboxes(first.board, find, notice, signal)
  for (let claimant = first; !signal.aborted; ) {
    const { place } = claimant
    try {
      if (place) {
        const at = { ...claimant, place }
        return await asItChanges(() => take(at), place, signal)
      }
    } catch (error) {
      if (!isAway(error) && !isEarly(error, place)) throw error
    }
    claimant = (await again.next()).value ?? claimant
  }
  throw new NothingFree()
}

export interface Taken {
  claimant: Placed
  given: Given
}

/** It runs, and has not published yet what it has found. A board elsewhere may be misspelt. */
const isEarly = (error: unknown, place: Place | undefined): boolean =>
  place !== undefined && isDataFolder(place.edge.at) && isCode(error, 'unknown_repository')

async function asItChanges(
  take: () => Promise<Taken>,
  { edge }: Place,
  signal: AbortSignal,
): Promise<Taken> {
  const over = afterEnd(signal)
  const taken = () => {
    const given = take().catch((error: unknown) => {
      if (!isCode(error, ...MAY_PASS) && !(error instanceof NothingFree)) throw error
    })
    return Promise.race([given, over])
  }
  // As a rule there is one. To follow the board takes as long as all the rest of a claim.
  const first = await taken()
  if (first) return first
  if (signal.aborted) throw new NothingFree()
  const end = new AbortController()
  const until = AbortSignal.any([signal, end.signal])
  const following = changesOf(edge, until)
  try {
    // The stream opens first: it then reports what becomes free while we ask.
    let [next, pause] = [following(), minute(until)]
    while (!signal.aborted) {
      const step = await Promise.race([next, pause])
      if (signal.aborted) break
      if (step === 'over') pause = minute(until)
      else next = following()
      const later = await taken()
      if (later) return later
    }
    throw new NothingFree()
  } finally {
    end.abort()
  }
}

const afterEnd = (signal: AbortSignal) =>
  once(signal, 'abort').then(() => sleep(LAST_ANSWER_MS, undefined, { ref: false }))

const minute = (signal: AbortSignal) =>
  sleep(ASK_AGAIN_MS, 'over', { signal, ref: false }).catch(() => 'over')

/** Resolves at each message of the board, those of sessions included. */
function changesOf(edge: Place['edge'], signal: AbortSignal): () => Promise<unknown> {
  const away = Promise.withResolvers<never>()
  const sentence = `No Signalbox answers at ${edge.url}.`
  const onAway = () => away.reject(new BoardError(0, 'unreachable', sentence))
  const { steps } = edgeBoard(edge, undefined, signal, onAway)
  const iterator = steps[Symbol.asyncIterator]()
  return () => {
    // It may have another address when it runs again.
    const next = Promise.race([iterator.next(), away.promise])
    // It may fail while we ask, before anybody waits for it.
    next.catch(() => undefined)
    return next
  }
}
