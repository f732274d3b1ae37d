// Who may work on which task: one agent, one task. A claim is a lease that its holder renews. It is
// laid over what the sidecar publishes, and in no record of it. Pure except for its stores.

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
import { GRACE_MS, isFinished, isReturning, isValid, LATE_MS, releasedEnd } from './claim-ends.ts'
import { heldOf } from './claim-session.ts'
import type { Claim, ClaimStore } from './claim-store-sqlite.ts'
import type { ClaimWrites, Turn } from './claim-writes.ts'
import { findTask } from './find-task.ts'
import { restOf, unrested } from './rest.ts'
import type { SettingsChange } from './settings-schema.ts'

type HeldWithTask = Omit<NewClaim, 'isRepeated'>

interface ClaimsDeps {
  board: ClaimReads &
    Pick<BoardStore, 'transaction' | 'state' | 'append' | 'stored' | 'config' | 'task'>
  claims: ClaimStore
  writes: ClaimWrites
  presence: Presence
  log: Log
}

/** The methods that requests name: what each is asked, and what it answers. */
export type ClaimTurns = {
  [Name in keyof Claims as Claims[Name] extends (asked: never, now: number) => Claimed<unknown>
    ? Name
    : never]: {
    asked: Parameters<Claims[Name]>[0]
    answer: Extract<ReturnType<Claims[Name]>, { ok: true }>['answer']
  }
}

export class Claims {
  readonly #board: ClaimsDeps['board']
  readonly #claims: ClaimStore
  readonly #writes: ClaimWrites
  readonly #presence: Presence
  readonly #log: Log

  constructor({ board, claims, writes, presence, log }: ClaimsDeps) {
    this.#board = board
    this.#claims = claims
    this.#writes = writes
    this.#presence = presence
    this.#log = log
  }

  claim(request: ClaimRequest, now: number): Claimed<NewClaim> {
    return this.#turn(now, (turn) => {
      const { frames } = turn
      const refused = (refusal: ClaimRefusal) => ({ ok: false, ...refusal, frames }) as const
      const state = this.#board.state()
      const { published, reading } = state
      // What the next task is, is known when all were read.
      const isLater = reading !== undefined && request.task === undefined
      if (!published) return refused({ reason: isLater ? 'nothing_ready' : 'unpublished' })
      const earlier = this.#earlier(request, now)
      if (earlier && 'reason' in earlier) return refused(earlier)
      if (earlier) return { ok: true, answer: { ...earlier, isRepeated: true }, frames }
      const settings = this.#claims.settings()
      const limited = this.#limited(request, settings, now)
      if (limited) return refused(limited)
      const known = { holders: this.#holders(state, now), now, settings }
      const found = findTask(request, known, this.#board, this.#claims)
      if ('reason' in found) return refused(found)
      const claim = this.#begin(found, request, turn)
      return { ok: true, answer: { ...this.#withTask(claim), isRepeated: false }, frames }
    })
  }

  renew({ hash, ttlMs, progress, activeAt, ofActor }: Renewal, now: number): Claimed<Held> {
    return this.#turn(now, (turn) => {
      const { frames } = turn
      const known = this.#claims.bySecret(hash)
      if (!known) return { ok: false, ...this.#unknown({ hash }, ofActor, now), frames }
      if (!coversActor(ofActor, known.actor)) return { ok: false, reason: 'forbidden', frames }
      if (known.end?.byOther || known.end?.isTaken) {
        return { ok: false, ...this.#lost(known), frames }
      }
      const isReturning = this.#isReturning(known, now)
      if (known.end && !isReturning) return { ok: true, answer: heldOf(known), frames }
      const { isStalled = false, ...claim } = known
      const isProgress = progress !== undefined && progress !== known.progress
      const lastActiveAt = isProgress ? now : Math.min(activeAt ?? 0, now)
      const isActive = lastActiveAt > (known.activeAt ?? known.startedAt)
      const lasts = ttlMs ?? claim.ttlMs
      const renewed: Claim = {
        ...claim,
        ttlMs: lasts,
        renewedAt: now,
        expiresAt: now + lasts,
        ...(progress !== undefined && { progress }),
        ...(isActive && { activeAt: lastActiveAt }),
      }
      if (isProgress || isStalled) this.#writes.dispatch(renewed, turn)
      else if (isActive) this.#writes.note(renewed)
      else this.#writes.keep(renewed)
      const held = heldOf(renewed)
      return { ok: true, answer: isReturning ? { ...held, isReturning } : held, frames }
    })
  }

  release(release: Release, now: number): Claimed<Held> {
    return this.#turn(now, (turn) => {
      const { frames } = turn
      const byOther = 'session' in release
      const known = byOther ? this.#bySession(release.session) : this.#claims.bySecret(release.hash)
      if (!known) return { ok: false, ...this.#unknown(release, release.ofActor, now), frames }
      if (!coversActor(release.ofActor, known.actor)) {
        return { ok: false, reason: 'forbidden', frames }
      }
      const { outcome, summary } = release
      const given = { outcome, byOther, ...(summary !== undefined && { summary }) }
      if (!known.end) {
        const end = {
          at: now,
          outcome,
          ...(byOther && { byOther }),
          ...(summary !== undefined && { summary }),
        }
        return { ok: true, answer: heldOf(this.#writes.end(known, end, turn)), frames }
      }
      const isLost = known.end.byOther || known.end.isTaken
      if (isLost && !byOther && !isFinished(known.end.outcome)) {
        return { ok: false, ...this.#lost(known), frames }
      }
      const end = releasedEnd(known.end, given, this.#isReturning(known, now), now)
      if (end === known.end) return { ok: true, answer: heldOf(known), frames }
      const isDone = end.outcome === 'done' && known.end.outcome !== 'done' && !end.isTaken
      const rests = isDone && { rests: restOf(this.#board.stored(known.task), known.copy) }
      const released = { ...known, end: { ...end, ...rests } }
      this.#writes.dispatch(released, turn)
      return { ok: true, answer: heldOf(released), frames }
    })
  }

  /**
   * Changes what a lead has set, in what is named. That counts as configuration: whoever waits asks
   * again. Undefined: the board is not published.
   */
  set(change: SettingsChange, now: number): { settings?: BoardSettings; frames: string[] } {
    return this.#board.transaction(() => {
      if (!this.#board.state().published) return { frames: [] }
      const before = this.#claims.settings()
      const settings = { ...before, ...change }
      if (JSON.stringify(settings) === JSON.stringify(before)) return { settings, frames: [] }
      this.#claims.keepSettings(settings)
      const frames = [this.#board.append({ type: 'tasks-changed' }, now)]
      this.#log('info', 'board.settings', settings)
      return { settings, frames }
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
    this.#writes.pass(task.id, claim.generation)
    this.#writes.dispatch(claim, turn, 'began')
    return claim
  }

  /** Sends clients what has expired. */
  expire(now: number): string[] {
    return this.#turn(now, ({ frames }) => ({ ok: true, answer: undefined, frames })).frames
  }

  /** One transaction, with what has expired before it. */
  #turn<Outcome extends { frames: string[] }>(now: number, run: (turn: Turn) => Outcome): Outcome {
    return this.#board.transaction(() => {
      const turn: Turn = { frames: [], now }
      this.#writes.setRight(now)
      for (const claim of this.#claims.pending(now)) {
        const isLate = now - claim.expiresAt > LATE_MS
        if (isLate) this.#writes.keep({ ...claim, expiresAt: now + GRACE_MS })
        else this.#stall(claim, turn)
      }
      for (const claim of this.#claims.rested(now)) this.#writes.dispatch(unrested(claim), turn)
      const outcome = run(turn)
      this.#writes.plan(now)
      return outcome
    })
  }

  #stall(claim: Claim, turn: Turn): void {
    const expiredAs = this.#board.stored(claim.task)?.fileHash
    const as = expiredAs === undefined ? {} : { expiredAs }
    this.#writes.dispatch({ ...claim, ...as, isStalled: true }, turn, 'expired')
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

  /** Of one of several with a title nobody could say that it is this one. */
  #twinsOf({ id, title, parent }: StoredTask): string[] {
    return this.#board
      .titled(title, parent)
      .filter((task) => task.id !== id)
      .map((task) => task.id)
  }

  #isReturning(claim: Claim, now: number): boolean {
    return isReturning(claim, this.#presence.seenUntil(this.#board.state(), now))
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

  /** Of a secret that no claim has which is kept. */
  #unknown(asked: { hash: string } | { session: string }, of: string | undefined, now: number) {
    const forgotten = 'hash' in asked ? this.#claims.forgotten(asked.hash, now) : undefined
    if (!forgotten) return { reason: 'unknown_claim' } as const
    return coversActor(of, forgotten.actor)
      ? this.#lost(forgotten)
      : ({ reason: 'forbidden' } as const)
  }

  #lost({ task, generation }: Pick<Claim, 'task' | 'generation'>): ClaimRefusal {
    const holder = this.#claims.openOf(task)
    const isOther = holder && holder.generation !== generation
    return { reason: 'claim_lost', generation, ...(isOther && { by: holder.actor }) }
  }
}

/** A token of an actor is also for those that it names below itself: `ci/7` of `ci`. */
export const coversActor = (ofActor: string | undefined, actor: string): boolean =>
  ofActor === undefined || actor === ofActor || actor.startsWith(`${ofActor}/`)
