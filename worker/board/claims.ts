// Who may work on which task: one agent, one task. A claim is a lease that its holder renews. It is
// laid over what the sidecar publishes, and in no record of it. Pure except for its stores.

import type { RepositoryState } from './board-rows.ts'
import type { BoardStore } from './board-store-sqlite.ts'
import { chooseNamed, chooseNext, type Known, type NotChosen, type Wish } from './choose.ts'
import type {
  Claimed,
  ClaimRefusal,
  ClaimRequest,
  Held,
  NewClaim,
  Release,
  Renewal,
} from './claim-calls.ts'
import {
  endedBy,
  GRACE_MS,
  isFinished,
  isReturning,
  isValid,
  type Reading,
  releasedEnd,
  setRight,
  verdictOf,
} from './claim-ends.ts'
import { heldOf, sessionOf } from './claim-session.ts'
import type { Claim, ClaimEnd, ClaimStore } from './claim-store-sqlite.ts'
import type { StoredTask } from './columns-sqlite.ts'
import type { Presence } from './presence.ts'
import { messageFrame } from './sse.ts'
import type { BoardConfig } from './wire.ts'

const MAX_VALID = 1_000
/** An expiry that is seen so much later: the host slept, or its clock jumped. */
const LATE_MS = 5_000

export class Claims {
  readonly #board: BoardStore
  readonly #claims: ClaimStore
  readonly #presence: Presence
  /** The time of the last turn. */
  #last = Infinity

  constructor(board: BoardStore, claims: ClaimStore, presence: Presence) {
    this.#board = board
    this.#claims = claims
    this.#presence = presence
  }

  claim(request: ClaimRequest, now: number): Claimed<NewClaim> {
    return this.#turn(now, (frames) => {
      const refused = (refusal: ClaimRefusal) => ({ ok: false, ...refusal, frames }) as const
      const state = this.#board.state()
      const { published, reading } = state
      // What the next task is, is known when all were read.
      const isLater = reading !== undefined && request.task === undefined
      if (!published) return refused({ reason: isLater ? 'nothing_ready' : 'unpublished' })
      const known = this.#claims.bySecret(request.hash)
      if (known) {
        if (!isValid(known, now)) return refused(this.#lost(known))
        return { ok: true, answer: { ...this.#whole(known), isRepeated: true }, frames }
      }
      if (this.#claims.countValid(now) >= MAX_VALID) return refused({ reason: 'too_many_claims' })
      const own = this.#claims.validOf(request.actor, now)
      const [held] = own
      if (held && own.length >= request.max) {
        return refused({ reason: 'already_holding', task: held.task })
      }
      const found = this.#choose(request, this.#holders(state, now), now)
      if ('reason' in found) return refused(found)
      const before = this.#claims.openOf(found.id)
      if (before) this.#end(before, { at: now, outcome: 'replaced' }, frames, now)
      const { hash, actor, ttlMs, max, client, model, branch, tree } = request
      const claim: Claim = {
        generation: Math.max(this.#claims.lastGeneration() + 1, now),
        hash,
        actor,
        ttlMs,
        max,
        task: found.id,
        title: found.title,
        ...(client !== undefined && { client }),
        ...(model !== undefined && { model }),
        ...(branch !== undefined && { branch }),
        ...(tree !== undefined && { tree }),
        startedAt: now,
        renewedAt: now,
        expiresAt: now + ttlMs,
      }
      this.#tell(claim, frames, now)
      return { ok: true, answer: { ...this.#whole(claim), isRepeated: false }, frames }
    })
  }

  renew({ hash, ttlMs, progress, ofActor }: Renewal, now: number): Claimed<Held> {
    return this.#turn(now, (frames) => {
      const known = this.#claims.bySecret(hash)
      if (!known) return { ok: false, reason: 'unknown_claim', frames }
      if (!coversActor(ofActor, known.actor)) return { ok: false, reason: 'forbidden', frames }
      if (known.end?.byOther || this.#isTaken(known)) {
        return { ok: false, ...this.#lost(known), frames }
      }
      const isReturning = this.#isReturning(known, now)
      if (known.end && !isReturning) return { ok: true, answer: heldOf(known), frames }
      const { isStalled = false, ...claim } = known
      const isNew = isStalled || (progress !== undefined && progress !== known.progress)
      const lasts = ttlMs ?? claim.ttlMs
      const renewed: Claim = {
        ...claim,
        ttlMs: lasts,
        renewedAt: now,
        expiresAt: now + lasts,
        ...(progress !== undefined && { progress }),
      }
      if (isNew) this.#tell(renewed, frames, now)
      else this.#keep(renewed)
      const held = heldOf(renewed)
      return { ok: true, answer: isReturning ? { ...held, isReturning } : held, frames }
    })
  }

  release(release: Release, now: number): Claimed<Held> {
    return this.#turn(now, (frames) => {
      const byOther = 'session' in release
      const known = byOther ? this.#bySession(release.session) : this.#claims.bySecret(release.hash)
      if (!known) return { ok: false, reason: 'unknown_claim', frames }
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
        return { ok: true, answer: heldOf(this.#end(known, end, frames, now)), frames }
      }
      const isLost = known.end.byOther || this.#isTaken(known)
      if (isLost && !byOther && !isFinished(known.end.outcome)) {
        return { ok: false, ...this.#lost(known), frames }
      }
      const end = releasedEnd(known.end, given, this.#isReturning(known, now), now)
      const released = { ...known, end }
      if (end !== known.end) this.#tell(released, frames, now)
      return { ok: true, answer: heldOf(released), frames }
    })
  }

  /** Ends the claims of tasks that were closed or went, or takes that back: a change is whole. */
  settle(now: number): string[] {
    const frames: string[] = []
    const claims = [...this.#claims.open(), ...this.#claims.watched()]
    if (claims.length === 0) return frames
    this.#setRight(now)
    const closed = new Set(this.#config()?.closed)
    for (const claim of claims) {
      const task = this.#board.stored(claim.task)
      const reading: Reading = !task ? 'deleted' : closed.has(task.status) ? 'closed' : 'open'
      const hasRoom = () => this.#claims.validOf(claim.actor, now).length < claim.max
      const verdict = verdictOf(claim, task, reading, now, hasRoom)
      if (verdict === 'closed' || verdict === 'deleted') {
        this.#end(claim, endedBy(verdict, now), frames, now)
      } else if (verdict === 'returns') {
        const { end: _, ...open } = claim
        this.#tell(open, frames, now)
      } else if (verdict === 'over' && claim.end) {
        const { isWatched: _, until: __, ...end } = claim.end
        this.#keep({ ...claim, end: { ...seen(task), ...end } })
      }
    }
    this.#plan(now)
    return frames
  }

  /** Sends clients what has expired. */
  expire(now: number): string[] {
    return this.#turn(now, (frames) => ({ ok: true, answer: undefined, frames })).frames
  }

  /** One transaction, with what has expired before it. */
  #turn<Outcome extends { frames: string[] }>(
    now: number,
    run: (frames: string[]) => Outcome,
  ): Outcome {
    return this.#board.transaction(() => {
      const frames: string[] = []
      this.#setRight(now)
      for (const claim of this.#claims.pending(now)) {
        if (now - claim.expiresAt <= LATE_MS) this.#tell({ ...claim, isStalled: true }, frames, now)
        else this.#keep({ ...claim, expiresAt: now + GRACE_MS })
      }
      const outcome = run(frames)
      this.#plan(now)
      return outcome
    })
  }

  /** A renewal leaves the time as it is: what is due then finds out, and plans the next. */
  #plan(now: number): void {
    const first = this.#claims.nextExpiry()
    const planned = this.#claims.planned('claims') ?? 0
    const isPlanned = first !== undefined && now < planned && planned <= first
    if (!isPlanned) this.#claims.plan('claims', first)
  }

  /** Where the clock was set back, or may have been before this process. */
  #setRight(now: number): void {
    const isBack = now < this.#last
    this.#last = now
    if (!isBack) return
    for (const claim of [...this.#claims.longerThan(now, GRACE_MS), ...this.#claims.watched()]) {
      const right = setRight(claim, now)
      if (right) this.#keep(right)
    }
  }

  /** By the task: who holds it, or may get it back. Nobody else may take it. */
  #holders(state: RepositoryState, now: number): Map<string, Claim> {
    const time = this.#presence.seenUntil(state, now)
    const valid = this.#claims.open().filter((claim) => isValid(claim, now))
    const returning = this.#claims.watched().filter((claim) => isReturning(claim, time))
    return new Map([...valid, ...returning].map((claim) => [claim.task, claim]))
  }

  #isReturning(claim: Claim, now: number): boolean {
    return isReturning(claim, this.#presence.seenUntil(this.#board.state(), now))
  }

  /** Another claim of the task was given. */
  #isTaken({ task, generation }: Claim): boolean {
    return this.#claims.lastOf(task)?.generation !== generation
  }

  #choose(wish: Wish, holders: Known['holders'], now: number): StoredTask | NotChosen {
    const { task: id } = wish
    const known = { config: this.#config(), holders, now }
    if (id !== undefined) {
      return chooseNamed(wish, id, this.#board.stored(id), this.#claims.lastOf(id), known)
    }
    const last = new Map(this.#claims.lastOfAll().map((claim) => [claim.task, claim]))
    return chooseNext(wish, this.#board.readyTasks(), last, known)
  }

  #config(): BoardConfig | undefined {
    const row = this.#board.config()
    return row && (JSON.parse(row.json) as BoardConfig)
  }

  #bySession(id: string): Claim | undefined {
    const [, generation] = /^claim-(\d{1,15})$/.exec(id) ?? []
    return generation === undefined ? undefined : this.#claims.byGeneration(Number(generation))
  }

  #end(claim: Claim, end: ClaimEnd, frames: string[], now: number): Claim {
    const { isStalled: _, ...open } = claim
    const task = this.#board.stored(claim.task)
    // What was begun is free once its task is there, whatever it says then.
    const away = !task && end.outcome === 'abandoned' && { isWatched: true as const }
    const ended = { ...open, end: { ...end, ...seen(task), ...away } }
    this.#tell(ended, frames, now)
    for (const id of this.#claims.forgetOldest()) this.#board.forgetSession(id)
    return ended
  }

  /** Clients need not read it again. */
  #keep(claim: Claim): void {
    this.#claims.put(claim, sessionOf(claim), undefined)
  }

  /** Numbers the rows anew, and adds a message: clients read them again. */
  #tell(claim: Claim, frames: string[], now: number): void {
    const state = this.#board.state()
    const session = sessionOf(claim)
    const seq = this.#board.head() + 1
    this.#claims.put(claim, session, seq)
    const execution = claim.isStalled ? 'stalled' : 'active'
    this.#board.layOver(
      claim.task,
      claim.end
        ? undefined
        : { activeAttempt: session.attempt, executionState: execution, sessionId: session.id },
      seq,
    )
    state.tasksRev++
    state.sessionsRev++
    const message = { type: 'session-changed', session: session.id } as const
    frames.push(
      messageFrame({ epoch: state.epoch, seq: this.#board.append(message, now) }, message),
    )
    this.#board.save(state)
  }

  #whole(claim: Claim): Held & { json: string } {
    return { ...heldOf(claim), json: this.#board.task(claim.task)?.json ?? '{}' }
  }

  #lost({ task, generation }: Claim): ClaimRefusal {
    const holder = this.#claims.openOf(task)
    const isOther = holder && holder.generation !== generation
    return { reason: 'claim_lost', generation, ...(isOther && { by: holder.actor }) }
  }
}

/** A token of an actor is also for those that it names below itself: `ci/7` of `ci`. */
export const coversActor = (ofActor: string | undefined, actor: string): boolean =>
  ofActor === undefined || actor === ofActor || actor.startsWith(`${ofActor}/`)

/** What an end says of its task: until that changes, it can be begun again. */
const seen = (task: StoredTask | undefined): Pick<ClaimEnd, 'status' | 'file'> =>
  task ? { status: task.status, file: task.fileHash } : {}
