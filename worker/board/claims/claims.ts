// Who may work on which task: one agent, one task. A claim is a lease that its holder renews. It is
// laid over what the sidecar publishes, and in no record of it. Pure except for its stores.
//
// Each request is a turn: first what has expired is sent to clients, then the request is decided,
// and what it changes is written. find-task.ts has which task a claim gets, claim-ends.ts how one
// ends, claim-updates.ts what a publication makes of it, and claim-clock.ts what a clock does.

import { type BoardSettings, MAX_VALID } from '../../shared/board-settings.ts'
import type { Log } from '../../shared/log.ts'
import type { Presence } from '../presence.ts'
import type { RepositoryState } from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { ClaimReads } from '../store/claim-reads-sqlite.ts'
import type { StoredTask } from '../store/columns-sqlite.ts'
import { isAskedFor, type Wish } from './choose.ts'
import type {
  Claimed,
  ClaimRefusal,
  ClaimRequest,
  Held,
  NewClaim,
  Release,
  Renewal,
} from './claim-calls.ts'
import type { ClaimClock } from './claim-clock.ts'
import { endedAs, isFinished, isReturning, isValid, overEnd, releasedEnd } from './claim-ends.ts'
import { heldOf } from './claim-session.ts'
import type { Claim, ClaimStore } from './claim-store-sqlite.ts'
import type { ClaimWrites, Turn } from './claim-writes.ts'
import { findTask } from './find-task.ts'
import { restOf } from './rest.ts'
import type { SettingsChange } from './settings-schema.ts'

type HeldWithTask = Omit<NewClaim, 'isRepeated'>

interface ClaimsDeps {
  board: ClaimReads &
    Pick<BoardStore, 'transaction' | 'state' | 'append' | 'stored' | 'config' | 'task'>
  claims: ClaimStore
  writes: ClaimWrites
  clock: ClaimClock
  presence: Presence
  log: Log
}

/** The methods that requests name: what each is asked, and what it answers. */
export interface ClaimTurns {
  claim: { asked: ClaimRequest; answer: NewClaim }
  renew: { asked: Renewal; answer: Held }
  release: { asked: Release; answer: Held }
  settings: { asked: SettingsChange; answer: BoardSettings }
}

/** `now` in ms. */
export type ClaimMethods = {
  [Name in keyof ClaimTurns]: (
    asked: ClaimTurns[Name]['asked'],
    now: number,
  ) => Claimed<ClaimTurns[Name]['answer']>
}

export class Claims implements ClaimMethods {
  readonly #board: ClaimsDeps['board']
  readonly #claims: ClaimStore
  readonly #writes: ClaimWrites
  readonly #clock: ClaimClock
  readonly #presence: Presence
  readonly #log: Log

  constructor({ board, claims, writes, clock, presence, log }: ClaimsDeps) {
    this.#board = board
    this.#claims = claims
    this.#writes = writes
    this.#clock = clock
    this.#presence = presence
    this.#log = log
  }

  claim(request: ClaimRequest, now: number): Claimed<NewClaim> {
    return this.#turn<NewClaim>(now, (turn) => {
      const state = this.#board.state()
      const { published, reading } = state
      // What the next task is, is known when all were read.
      const isLater = reading !== undefined && request.task === undefined
      if (!published) return { reason: isLater ? 'nothing_ready' : 'unpublished' }
      const earlier = this.#earlier(request, now)
      if (earlier) return isRefusal(earlier) ? earlier : { ...earlier, isRepeated: true }
      const settings = this.#claims.settings()
      const limited = this.#limited(request, settings, now)
      if (limited) return limited
      const known = { holders: this.#holders(state, now), now, settings }
      const found = findTask(request, known, this.#board, this.#claims)
      if (isRefusal(found)) return found
      return { ...this.#withTask(this.#begin(found, request, turn)), isRepeated: false }
    })
  }

  renew(renewal: Renewal, now: number): Claimed<Held> {
    return this.#turn<Held>(now, (turn) => {
      const found = this.#find(renewal, now)
      if (isRefusal(found)) return found
      if (found.end?.byOther || found.end?.isTaken) return this.#lost(found)
      const isReturning = this.#isReturning(found, now)
      if (found.end && !isReturning) return heldOf(found)
      const { progress, activeAt = 0, ttlMs = found.ttlMs } = renewal
      const { isStalled = false, ...claim } = found
      const isProgress = progress !== undefined && progress !== found.progress
      const lastActiveAt = isProgress ? now : Math.min(activeAt, now)
      const isActive = lastActiveAt > (found.activeAt ?? found.startedAt)
      const renewed: Claim = {
        ...claim,
        ttlMs,
        renewedAt: now,
        expiresAt: now + ttlMs,
        ...(progress !== undefined && { progress }),
        ...(isActive && { activeAt: lastActiveAt }),
      }
      if (isProgress || isStalled) this.#writes.storeAndSend(renewed, turn)
      else if (isActive) this.#writes.storeListed(renewed)
      else this.#writes.store(renewed)
      return { ...heldOf(renewed), ...(isReturning && { isReturning }) }
    })
  }

  release(release: Release, now: number): Claimed<Held> {
    return this.#turn<Held>(now, (turn) => {
      const found = this.#find(release, now)
      if (isRefusal(found)) return found
      const byOther = 'session' in release
      const { outcome, summary } = release
      const given = { outcome, byOther, ...(summary !== undefined && { summary }) }
      if (!found.end) return heldOf(this.#writes.end(found, endedAs(given, now), turn))
      const isLost = found.end.byOther || found.end.isTaken
      if (isLost && !byOther && !isFinished(found.end.outcome)) return this.#lost(found)
      const end = releasedEnd(found.end, given, this.#isReturning(found, now), now)
      if (end === found.end) return heldOf(found)
      const isDone = end.outcome === 'done' && found.end.outcome !== 'done' && !end.isTaken
      const rests = isDone && { rests: restOf(this.#board.stored(found.task), found.copy) }
      const released = { ...found, end: { ...end, ...rests } }
      this.#writes.storeAndSend(released, turn)
      return heldOf(released)
    })
  }

  /**
   * Changes what a lead has set, in what is named. That counts as configuration, so programs that
   * wait ask again.
   */
  settings(change: SettingsChange, now: number): Claimed<BoardSettings> {
    return this.#board.transaction(() => {
      if (!this.#board.state().published) return { ok: false, reason: 'unpublished', frames: [] }
      const before = this.#claims.settings()
      const settings = { ...before, ...change }
      const isSame = JSON.stringify(settings) === JSON.stringify(before)
      if (isSame) return { ok: true, answer: settings, frames: [] }
      this.#claims.keepSettings(settings)
      const frames = [this.#board.append({ type: 'tasks-changed' }, now)]
      this.#log('info', 'board.settings', settings)
      return { ok: true, answer: settings, frames }
    })
  }

  /** What came of an earlier request with this secret. Undefined: there was none. */
  #earlier(request: ClaimRequest, now: number): HeldWithTask | ClaimRefusal | undefined {
    const known = this.#claims.bySecret(request.hash)
    if (!known) {
      const forgotten = this.#claims.forgotten(request.hash, now)
      return forgotten && this.#lost(forgotten)
    }
    if (!isValid(known, now)) return this.#lost(known)
    if (this.#isOf(known, request)) return this.#withTask(known)
    return { reason: 'already_holding', task: known.task }
  }

  /** Why this actor gets no task now, whichever it asks for. */
  #limited(
    { actor, max }: ClaimRequest,
    { paused, atMost }: BoardSettings,
    now: number,
  ): ClaimRefusal | undefined {
    if (paused) return { reason: 'board_paused' }
    const valid = this.#claims.countValid(now)
    if (valid >= MAX_VALID) return { reason: 'too_many_claims' }
    const own = this.#claims.validOf(actor, now)
    const [held] = own
    if (held && own.length >= max) return { reason: 'already_holding', task: held.task }
    if (atMost !== null && valid >= atMost) return { reason: 'board_full', atMost }
    return undefined
  }

  #begin(task: StoredTask, request: ClaimRequest, turn: Turn): Claim {
    const { now } = turn
    const before = this.#claims.openOf(task.id)
    if (before) this.#writes.end(before, { at: now, outcome: 'replaced' }, turn)
    const { hash, actor, ttlMs, max, client, model, branch, tree } = request
    const twins = this.#twinsOf(task)
    const claim: Claim = {
      generation: Math.max(this.#claims.lastGeneration() + 1, now),
      hash,
      actor,
      ttlMs,
      max,
      task: task.id,
      title: task.title,
      ...(task.inMain !== false && { copy: task.copyHash }),
      ...(task.parent !== undefined && { parent: task.parent }),
      ...(twins.length > 0 && { twins }),
      ...(client !== undefined && { client }),
      ...(model !== undefined && { model }),
      ...(branch !== undefined && { branch }),
      ...(tree !== undefined && { tree }),
      startedAt: now,
      renewedAt: now,
      expiresAt: now + ttlMs,
    }
    this.#writes.markTaken(task.id, claim.generation)
    this.#writes.storeAndSend(claim, turn, 'began')
    return claim
  }

  /** Sends clients what has expired. */
  expire(now: number): string[] {
    return this.#turn(now, () => ({})).frames
  }

  /** One transaction, with what has expired before it. */
  #turn<Answer extends object>(
    now: number,
    run: (turn: Turn) => Answer | ClaimRefusal,
  ): Claimed<Answer> {
    return this.#board.transaction(() => {
      const turn: Turn = { frames: [], now }
      const { frames } = turn
      this.#clock.correct(now)
      for (const claim of this.#clock.expired(now)) this.#stall(claim, turn)
      for (const { end, ...claim } of this.#claims.rested(now)) {
        if (end) this.#writes.storeAndSend({ ...claim, end: overEnd(end) }, turn)
      }
      const outcome = run(turn)
      this.#clock.plan(now)
      return isRefusal(outcome)
        ? { ok: false, ...outcome, frames }
        : { ok: true, answer: outcome, frames }
    })
  }

  #stall(claim: Claim, turn: Turn): void {
    const expiredAs = this.#board.stored(claim.task)?.fileHash
    const as = expiredAs === undefined ? {} : { expiredAs }
    this.#writes.storeAndSend({ ...claim, ...as, isStalled: true }, turn, 'expired')
  }

  /** By the task: who holds it, may get it back, or may turn out to be its own. Nobody else may. */
  #holders(state: RepositoryState, now: number): Map<string, Claim> {
    const time = this.#presence.seenUntil(state, now)
    const valid = this.#claims.open().filter((claim) => isValid(claim, now))
    const returning = this.#claims.watched().filter((claim) => isReturning(claim, time))
    const candidates = (state.candidates ?? []).flatMap(
      ({ id, generation, until }): [string, Claim][] => {
        const claim = until > time ? this.#claims.byGeneration(generation) : undefined
        return claim && (!claim.end || isReturning(claim, time)) ? [[id, claim]] : []
      },
    )
    const own = [...returning, ...valid].map((claim): [string, Claim] => [claim.task, claim])
    return new Map([...candidates, ...own])
  }

  /** Others with its title. As long as there are any, it is not known by that. */
  #twinsOf({ id, title, parent }: StoredTask): string[] {
    return this.#board
      .titled(title, parent)
      .filter((task) => task.id !== id)
      .map((task) => task.id)
  }

  #isReturning(claim: Claim, now: number): boolean {
    return isReturning(claim, this.#presence.seenUntil(this.#board.state(), now))
  }

  /** The claim that is meant, or why there is nothing to do with it. */
  #find(asked: Renewal | Release, now: number): Claim | ClaimRefusal {
    const isByOther = 'session' in asked
    const kept = isByOther ? this.#bySession(asked.session) : this.#claims.bySecret(asked.hash)
    const known = kept ?? (isByOther ? undefined : this.#claims.forgotten(asked.hash, now))
    if (!known) return { reason: 'unknown_claim' }
    if (!coversActor(asked.ofActor, known.actor)) return { reason: 'forbidden' }
    return kept ?? this.#lost(known)
  }

  /** Whether what is asked for now is what the claim holds. */
  #isOf({ task: id }: Claim, wish: Wish): boolean {
    const task = this.#board.stored(id)
    return (wish.task ?? id) === id && (!task || isAskedFor(wish, task))
  }

  #bySession(id: string): Claim | undefined {
    const [, generation] = /^claim-(\d{1,15})$/.exec(id) ?? []
    return generation === undefined ? undefined : this.#claims.byGeneration(Number(generation))
  }

  #withTask(claim: Claim): HeldWithTask {
    return { ...heldOf(claim), json: this.#board.task(claim.task)?.json ?? '{}' }
  }

  #lost({ task, generation }: Pick<Claim, 'task' | 'generation'>): ClaimRefusal {
    const holder = this.#claims.openOf(task)
    const isOther = holder && holder.generation !== generation
    return { reason: 'claim_lost', generation, ...(isOther && { by: holder.actor }) }
  }
}

const isRefusal = (outcome: object): outcome is ClaimRefusal => 'reason' in outcome

/** A token of an actor is also for those that it names below itself: `ci/7` of `ci`. */
export const coversActor = (ofActor: string | undefined, actor: string): boolean =>
  ofActor === undefined || actor === ofActor || actor.startsWith(`${ofActor}/`)
