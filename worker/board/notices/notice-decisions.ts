// What of a board is news for its rules of notices, and when it is decided next: a message may
// change it, or time alone. Sends nothing, and plans nothing itself. Pure except for its stores.

import { isRecent, timeText } from '../../shared/clock.ts'
import { DEFAULT_MINUTES } from '../../shared/notice-rules.ts'
import type { ClaimStore } from '../claims/claim-store-sqlite.ts'
import { type Presence, REPORTS_SILENT_MS } from '../presence.ts'
import type { RepositoryState } from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { Notice } from './notice-calls.ts'
import { type Cause, causesOf, isOfThePast, type NoticeFacts, readsAll } from './notice-causes.ts'
import type { NoticeState, NoticeStore, StoredRule, Target } from './notice-store-sqlite.ts'
import { FLAPPING_MS, turnOf } from './notice-turn.ts'

/** What comes within this time is one notice. Of 100,000 tasks a look takes half a second. */
const GATHER_MS = 2_000
const GATHER_MS_A_TASK = 0.1
/**
 * A sidecar that lost its power sends nothing. Where it holds a socket, each look wakes the object.
 */
const LOOK_MS = { reports: 60_000, socket: 300_000 }
const MAX_CAUSES = 100
const CLAIMS_OF_MS = 24 * 3_600_000
const MINUTE_MS = 60_000

export interface DecisionsDeps {
  store: Pick<NoticeStore, 'known' | 'remember' | 'forget'>
  board: Pick<BoardStore, 'state' | 'head' | 'lightTasks' | 'openSessions' | 'config' | 'counts'>
  claims: ClaimStore
  presence: Presence
  silentAfterMs: number
  /** In ms: sidecars have their time to report after that. */
  startedAt: number
}

export class Decisions {
  readonly #deps: DecisionsDeps

  constructor(deps: DecisionsDeps) {
    this.#deps = deps
  }

  /** When what has changed since it was last decided is due, in ms. Infinity: nothing has. */
  afterChange(state: NoticeState, now: number): number {
    if (state.rules.length === 0 || !this.#hasChanged(state, now)) return Infinity
    // Counted only then: most turns change nothing, and most boards have no rules.
    return now + GATHER_MS + this.#deps.board.counts().tasks * GATHER_MS_A_TASK
  }

  /** What each target is sent. The caller has a transaction. */
  decide(state: NoticeState, now: number): { state: NoticeState; notices: Map<Target, Notice> } {
    const board = this.#deps.board.state()
    const { decideAt: _, lastedAt: __, ...decided } = state
    if (!board.published) return { state: decided, notices: new Map() }
    const { rules, allAt, isPart } = this.#rulesToDecide(state, board, now)
    const facts = this.#facts(board, rules, now)
    const turns = rules.map((rule) => ({ rule, ...this.#decideRule(rule, facts, board) }))

    const notices = new Map<Target, Notice>()
    for (const target of state.targets) {
      const causes = turns.flatMap(({ rule, news }) => (rule.target === target.key ? news : []))
      if (causes.length > 0) notices.set(target, noticeWith(causes))
    }

    const lasting = turns.filter(({ rule }) => readsAll(rule.on))
    const lastedAt = Math.min(allAt, ...lasting.map(({ nextAt }) => nextAt))
    const decideAt = Math.min(lastedAt, ...turns.map(({ nextAt }) => nextAt))
    const isOffline = facts.offlineSince !== undefined
    return {
      state: {
        ...decided,
        rules: state.rules.map((rule) => (rules.includes(rule) ? { ...rule, isSeen: true } : rule)),
        looked: { head: this.#deps.board.head(), isOffline, isPart },
        ...(lastedAt < Infinity && { lastedAt }),
        ...(decideAt < Infinity && { decideAt }),
      },
      notices,
    }
  }

  /** `left`: rules that went. As if all had ended now: a mistake in the file may be repaired. */
  endOthers(rules: readonly StoredRule[], left: readonly StoredRule[], now: number): void {
    const { store } = this.#deps
    for (const { key } of left) {
      const known = store.known(key)
      store.remember(key, known, turnOf(known, [], { afterMs: 0, now }).known)
    }
    const keys = rules.map(({ key }) => key)
    store.forget(keys, now - FLAPPING_MS)
  }

  /** How long a cause must have lasted. */
  minutesOf({ on, minutes }: Pick<StoredRule, 'on' | 'minutes'>): number {
    return minutes ?? (on === 'silent' ? this.#deps.silentAfterMs / MINUTE_MS : DEFAULT_MINUTES[on])
  }

  /** `allAt`: when those that read all tasks are decided, if they are not now; in ms. */
  #rulesToDecide(state: NoticeState, board: RepositoryState, now: number) {
    const { lastedAt = Infinity } = state
    // In the midst of a publication a parent may have a part of its parts.
    const isPart = !isWhole(board)
    // Whether its sidecar is there is asked each minute: all tasks are not read for that.
    const needsNoReading = this.#isAsLooked(state) && lastedAt > now
    const rules = state.rules.filter(({ on }) => !(isPart || needsNoReading) || !readsAll(on))
    return { rules, allAt: needsNoReading ? lastedAt : Infinity, isPart }
  }

  /** What is news for a rule now, and when it is decided again, in ms. */
  #decideRule(rule: StoredRule, facts: NoticeFacts, board: RepositoryState) {
    const { key, on, isSeen } = rule
    const { now } = facts
    const before = this.#deps.store.known(key)
    const afterMs = this.minutesOf(rule) * MINUTE_MS
    const causes = causesOf(on, facts)
    const isOld = !isSeen && isOfThePast(on)
    const { known, news, nextAt = Infinity } = turnOf(before, causes, { afterMs, now, isOld })
    this.#deps.store.remember(key, before, known)
    // No message says that a sidecar is gone, or that a silent holder works: a renewal is none.
    let lookMs = Infinity
    if (on === 'offline' && facts.offlineSince === undefined) lookMs = untilLookMs(board)
    if (on === 'silent' && causes.length > 0) lookMs = Math.max(afterMs, LOOK_MS.reports)
    return { news, nextAt: Math.min(nextAt, now + lookMs) }
  }

  /** For each rule, and no message came since. */
  #isAsLooked({ rules, looked }: NoticeState): boolean {
    const isSame = looked?.head === this.#deps.board.head() && !looked.isPart
    return isSame && rules.every(({ isSeen }) => isSeen)
  }

  #facts(board: RepositoryState, rules: readonly StoredRule[], now: number): NoticeFacts {
    const sessions = this.#deps.board.openSessions()
    const { state, since } = this.#deps.presence.shownOf(board, now)
    const hasListened = !isRecent(this.#deps.startedAt, REPORTS_SILENT_MS, now)
    const all = rules.some(({ on }) => readsAll(on))
    const ids = all ? undefined : new Set(sessions.map(({ task }) => task))
    return {
      tasks: this.#deps.board.lightTasks(ids),
      config: this.#deps.board.config(),
      sessions,
      ended: this.#deps.claims.endedAfter(now - CLAIMS_OF_MS),
      offlineSince: state === 'offline' && hasListened ? since : undefined,
      isPaused: this.#deps.claims.settings().paused,
      now,
    }
  }

  /** Since it was last decided. That a sidecar reports again may be no message. */
  #hasChanged({ looked, rules, decideAt = Infinity }: NoticeState, now: number): boolean {
    if (looked?.head !== this.#deps.board.head()) return true
    const board = this.#deps.board.state()
    // Planned while one held a socket, or had ended: the next may be killed before it opens one.
    const isLate = !looked.isOffline && decideAt > now + untilLookMs(board)
    if (isLate && rules.some(({ on }) => on === 'offline')) return true
    if (!looked.isOffline && !looked.isPart) return false
    const isBack = this.#deps.presence.shownOf(board, now).state !== 'offline'
    return (looked.isOffline && isBack) || (looked.isPart && isWhole(board))
  }
}

/** Until the next look whether its sidecar is there. One that has ended in order is not missed. */
function untilLookMs({ ended, socket }: RepositoryState): number {
  if (ended) return Infinity
  return socket ? LOOK_MS.socket : LOOK_MS.reports
}

const isWhole = ({ pending, lacking }: RepositoryState): boolean =>
  Object.keys(pending).length === 0 && !lacking

function noticeWith(causes: readonly (Cause & { since: number })[]): Notice {
  const more = causes.length - MAX_CAUSES
  return {
    causes: causes.slice(0, MAX_CAUSES).map(({ key: _, isVague: __, since, ...cause }) => ({
      ...cause,
      since: timeText(since),
    })),
    ...(more > 0 && { more }),
  }
}
