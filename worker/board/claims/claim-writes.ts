// Writes claims, dispatches them to clients, lays them over their tasks, and has a line of the log
// of each beginning and end. Decides nothing.

import type { Log } from '../../shared/log.ts'
import type { Activity } from '../activity/activity.ts'
import type { Agenda } from '../store/agenda-sqlite.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { StoredTask } from '../store/columns-sqlite.ts'
import { AHEAD_MS, GRACE_MS, LATE_MS, resumed, setRight } from './claim-ends.ts'
import { claimNews } from './claim-news.ts'
import { overlayOf, sessionOf } from './claim-session.ts'
import { type Claim, type ClaimEnd, type ClaimStore, sessionId } from './claim-store-sqlite.ts'
import { restOf } from './rest.ts'

export type ClaimEvent = 'began' | 'ended' | 'returned' | 'moved' | 'expired'

/** Where what clients are sent is gathered, and what time it is (ms). */
export interface Turn {
  frames: string[]
  now: number
}

/** By a clock that nobody sets; absent where the host has none, as workerd. */
export type Elapsed = () => number

interface ClaimWritesDeps {
  board: Pick<
    BoardStore,
    'state' | 'save' | 'head' | 'append' | 'stored' | 'layOver' | 'forgetSession'
  >
  claims: ClaimStore
  agenda: Agenda
  activity: Activity
  log: Log
  elapsed: Elapsed | undefined
}

export class ClaimWrites {
  readonly #board: ClaimWritesDeps['board']
  readonly #claims: ClaimStore
  readonly #agenda: Agenda
  readonly #activity: Activity
  readonly #log: Log
  readonly #elapsed: Elapsed | undefined
  /** The time of the last turn. */
  #last = Infinity
  /** By how much that was ahead of what had elapsed. */
  #ahead: number | undefined

  constructor({ board, claims, agenda, activity, log, elapsed }: ClaimWritesDeps) {
    this.#board = board
    this.#claims = claims
    this.#agenda = agenda
    this.#activity = activity
    this.#log = log
    this.#elapsed = elapsed
  }

  /** Clients need not read it again. */
  keep(claim: Claim): void {
    this.#claims.put(claim, sessionOf(claim), undefined)
  }

  /** Clients get it when they read again, and no message: each agent would cause one all day. */
  note(claim: Claim): void {
    const state = this.#board.state()
    this.#claims.put(claim, sessionOf(claim), this.#board.head() + 1)
    state.sessionsRev++
    this.#board.save(state)
  }

  /** Numbers the rows anew, and adds a message: clients read them again. */
  dispatch(written: Claim, { frames, now }: Turn, event?: ClaimEvent): void {
    const state = this.#board.state()
    const news = claimNews(this.#claims.byGeneration(written.generation), written, now)
    const isProgress = news.some(({ kind }) => kind === 'progress')
    const claim = isProgress ? { ...written, progressAt: now } : written
    const overlay = overlayOf(claim)
    if (news.some(({ kind }) => kind === 'released') && overlay && 'done' in overlay) {
      const review = this.#activity.reviewOf(this.#board.stored(claim.task), overlay.done)
      if (review) news.push(review)
    }
    this.#activity.add(news, state, now)
    const session = sessionOf(claim)
    const seq = this.#board.head() + 1
    this.#claims.put(claim, session, seq)
    // Over a task that another claim holds lies that one.
    if (!claim.end?.isTaken) this.#board.layOver(claim.task, overlay, seq)
    state.tasksRev++
    state.sessionsRev++
    frames.push(this.#board.append({ type: 'session-changed', session: session.id }, now))
    this.#board.save(state)
    if (event) this.#line(event, claim)
  }

  end(claim: Claim, end: ClaimEnd, turn: Turn): Claim {
    const { isStalled: _, ...open } = claim
    const task = this.#board.stored(claim.task)
    // What was begun is free once its task is there, whatever it says then.
    const away = !task && end.outcome === 'abandoned' && { isWatched: true as const }
    const rests = end.outcome === 'done' && { rests: restOf(task, claim.copy) }
    const ended = { ...open, end: { ...end, ...seen(task), ...away, ...rests } }
    this.dispatch(ended, turn, 'ended')
    for (const old of this.#claims.forgetOldest(turn.now)) {
      this.#board.forgetSession(sessionId(old.generation))
      if (old.end?.rests) this.#board.layOver(old.task, undefined, this.#board.head() + 1)
    }
    return ended
  }

  /** Another claim of their task was given, or came to it. */
  pass(task: string, generation: number): void {
    for (const claim of this.#claims.endedOf(task)) {
      if (!claim.end || claim.end.isTaken || claim.generation === generation) continue
      const { isWatched: _, until: __, rests: ___, ...end } = claim.end
      this.keep({ ...claim, end: { ...end, isTaken: true } })
    }
  }

  /** The sidecar was not there since then: what may come back has that time as well. */
  resume(since: number, now: number): void {
    if (since >= now) return
    for (const claim of this.#claims.watched()) {
      const later = resumed(claim, since, now)
      if (later) this.keep(later)
    }
  }

  /** Where the clock was set, or may have been before this process, or the host slept. */
  setRight(now: number): void {
    if (this.#elapsed) this.#spare(now, now - this.#elapsed())
    const isBack = now < this.#last
    this.#last = now
    if (!isBack) return
    this.#seenBefore(now)
    const long = [...this.#claims.longerThan(now, GRACE_MS), ...this.#claims.watched()]
    const ended = this.#claims.endedAfter(now + AHEAD_MS)
    const all = new Map([...long, ...ended].map((claim) => [claim.generation, claim]))
    for (const claim of all.values()) {
      const right = setRight(claim, now)
      if (right) this.keep(right)
    }
  }

  /** The clock went on by more than time has passed: nobody could renew in between. */
  #spare(now: number, ahead: number): void {
    const jumpMs = ahead - (this.#ahead ?? ahead)
    this.#ahead = ahead
    if (jumpMs <= LATE_MS) return
    for (const claim of this.#claims.pending(now + GRACE_MS))
      this.keep({ ...claim, expiresAt: now + GRACE_MS })
    this.resume(now - jumpMs, now)
  }

  /** A time ahead of `now` would hide that the clock jumps ahead again before the next report. */
  #seenBefore(now: number): void {
    const state = this.#board.state()
    if (state.lastSeenAt === undefined || state.lastSeenAt <= now) return
    state.lastSeenAt = now
    this.#board.save(state)
  }

  /** A renewal leaves the time as it is: what is due then finds out, and plans the next. */
  plan(now: number): void {
    const first = this.#claims.nextExpiry()
    const planned = this.#agenda.planned('claims') ?? 0
    const isPlanned = first !== undefined && now < planned && planned <= first
    if (!isPlanned) this.#agenda.plan('claims', first)
  }

  #line(event: ClaimEvent, { task, actor, generation, tree, end }: Claim): void {
    const { outcome, byOther } = end ?? {}
    this.#log('info', `claim.${event}`, {
      task,
      actor,
      generation,
      ...(tree !== undefined && { tree }),
      ...(outcome !== undefined && { outcome }),
      ...(byOther && { byOther }),
    })
  }
}

/** What an end says of its task: until that changes, it can be begun again. */
export const seen = (task: StoredTask | undefined): Pick<ClaimEnd, 'status' | 'file'> =>
  task ? { status: task.status, file: task.fileHash } : {}
