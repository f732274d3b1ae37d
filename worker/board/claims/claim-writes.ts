// Writes claims, sends clients messages about them, lays them over their tasks, and has a line of
// the log of each beginning and end. Decides nothing.

import type { Log } from '../../shared/log.ts'
import type { Activity } from '../activity/activity.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { StoredTask } from '../store/columns-sqlite.ts'
import { overEnd } from './claim-ends.ts'
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

interface ClaimWritesDeps {
  board: Pick<
    BoardStore,
    'state' | 'save' | 'head' | 'append' | 'stored' | 'layOver' | 'forgetSession'
  >
  claims: ClaimStore
  activity: Activity
  log: Log
}

export class ClaimWrites {
  readonly #board: ClaimWritesDeps['board']
  readonly #claims: ClaimStore
  readonly #activity: Activity
  readonly #log: Log

  constructor({ board, claims, activity, log }: ClaimWritesDeps) {
    this.#board = board
    this.#claims = claims
    this.#activity = activity
    this.#log = log
  }

  /** Clients need not read it again. */
  store(claim: Claim): void {
    this.#claims.put(claim, sessionOf(claim), undefined)
  }

  /** Clients get it when they read again, and no message: each agent would cause one all day. */
  storeListed(claim: Claim): void {
    const state = this.#board.state()
    this.#claims.put(claim, sessionOf(claim), this.#board.head() + 1)
    state.sessionsRev++
    this.#board.save(state)
  }

  /** Numbers the rows anew, and adds a message: clients read them again. */
  storeAndSend(written: Claim, { frames, now }: Turn, event?: ClaimEvent): void {
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
    this.storeAndSend(ended, turn, 'ended')
    for (const old of this.#claims.forgetOldest(turn.now)) {
      this.#board.forgetSession(sessionId(old.generation))
      if (old.end?.rests) this.#board.layOver(old.task, undefined, this.#board.head() + 1)
    }
    return ended
  }

  /** Another claim of their task was given, or came to it. */
  markTaken(task: string, generation: number): void {
    for (const claim of this.#claims.endedOf(task)) {
      if (!claim.end || claim.end.isTaken || claim.generation === generation) continue
      this.store({ ...claim, end: { ...overEnd(claim.end), isTaken: true } })
    }
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
