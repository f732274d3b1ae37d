// Notices of a board: decides when something changed, or has lasted, and when what was decided is
// due. Sends nothing itself: the host does, outside of the turn. Pure except for its stores.

import { isRecent, timeText } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { DEFAULT_MINUTES } from '../../shared/notice-rules.ts'
import { MAX_RETRY_MS, type Sent } from '../../shared/outgoing.ts'
import type { ClaimStore } from '../claims/claim-store-sqlite.ts'
import { type Presence, REPORTS_SILENT_MS } from '../presence.ts'
import type { Agenda } from '../store/agenda-sqlite.ts'
import type { RepositoryState } from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { CommandEnd } from '../wire.ts'
import { rulesAfter } from './kept-rules.ts'
import type { BoardRules, Notice, NoticesShown, ShownDelivery } from './notice-calls.ts'
import { type Cause, causesOf, isOfThePast, type NoticeFacts, readsAll } from './notice-causes.ts'
import {
  COMMAND_LEASE_MS,
  Deliveries,
  type DueCommand,
  type DueRequest,
  LONGEST_WAIT_MS,
  shownDelivery,
} from './notice-deliveries.ts'
import type { NoticeState, NoticeStore, StoredRule, Target } from './notice-store-sqlite.ts'
import { FLAPPING_MS, turnOf } from './notice-turn.ts'

/** `hasCommands`: the sidecar has some to run, and the host signals it. */
export interface Due {
  requests: DueRequest[]
  hasCommands: boolean
}

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

interface NoticesHost {
  silentAfterMs: number
  /** In ms; undefined: it need not wait for sidecars to report. */
  startedAt: number | undefined
  log: Log
}

/** The methods that requests name: what each is asked, and what it answers. */
export interface NoticeTurns {
  commands: { asked: Record<string, never>; answer: DueCommand[] }
  ran: { asked: CommandEnd; answer: boolean }
}

/** `now` in ms. */
export type NoticeMethods = {
  [Name in keyof NoticeTurns]: (
    asked: NoticeTurns[Name]['asked'],
    now: number,
    random: number,
  ) => NoticeTurns[Name]['answer']
}

interface NoticesDeps {
  store: NoticeStore
  board: Pick<
    BoardStore,
    'transaction' | 'state' | 'head' | 'lightTasks' | 'openSessions' | 'config' | 'counts'
  >
  claims: ClaimStore
  agenda: Agenda
  presence: Presence
  host: NoticesHost
}

export class Notices implements NoticeMethods {
  readonly #store: NoticeStore
  readonly #deliveries: Deliveries
  readonly #board: NoticesDeps['board']
  readonly #claims: ClaimStore
  readonly #agenda: Agenda
  readonly #presence: Presence
  readonly #host: NoticesHost

  constructor({ store, board, claims, agenda, presence, host }: NoticesDeps) {
    this.#store = store
    this.#deliveries = new Deliveries(store, host.log)
    this.#board = board
    this.#claims = claims
    this.#agenda = agenda
    this.#presence = presence
    this.#host = host
  }

  /** Takes the rules that the sidecar publishes. The caller has a transaction. */
  setRules(published: BoardRules, now: number): void {
    const next = rulesAfter(this.#store.state(), published, now)
    if (!next) return
    const { state, left } = next
    this.#deliveries.endOthers(state.targets, now)
    // As if all of it had ended now: it may be back after a mistake in the file.
    for (const { key } of left) {
      const known = this.#store.known(key)
      this.#store.remember(key, known, turnOf(known, [], { afterMs: 0, now }).known)
    }
    const keys = state.rules.map(({ key }) => key)
    this.#store.forget(keys, now - FLAPPING_MS)
    this.#save(state, now)
  }

  /** After each turn: what changed is looked at soon, with what else comes by then. */
  follow(now: number): void {
    const state = this.#store.state()
    // Planned by a clock that was ahead.
    const isAhead = this.#store.isAnyAfter(now + LONGEST_WAIT_MS)
    const hasChanged = state.rules.length > 0 && this.#hasChanged(state, now)
    // Counted only then: most turns change nothing, and most boards have no rules.
    const tasks = hasChanged ? this.#board.counts().tasks : 0
    const at = now + GATHER_MS + tasks * GATHER_MS_A_TASK
    const isPlanned = !hasChanged || (state.decideAt ?? Infinity) <= at
    if (isPlanned && !isAhead) return
    this.#board.transaction(() => {
      this.#store.bringForward(now + LONGEST_WAIT_MS, now)
      this.#save(isPlanned ? state : { ...state, decideAt: at }, now)
    })
  }

  /** The alarm calls it. The host sends what it returns, and calls `tried` with each answer. */
  due(now: number): Due {
    const at = this.#agenda.planned('notices')
    if (at === undefined || at > now) return { requests: [], hasCommands: false }
    return this.#board.transaction(() => {
      const before = this.#store.state()
      const isDecided = (before.decideAt ?? Infinity) <= now
      const state = isDecided ? this.#decide(before, now) : before
      const requests = this.#deliveries.requests(state, now)
      const next = this.#store.next()
      const hasCommands = commandsAt(state, next, now) <= now
      this.#save({ ...state, ...(hasCommands && { signalledAt: now }) }, now, next)
      return { requests, hasCommands }
    })
  }

  /** What came of sending one. */
  tried(id: string, sent: Sent, now: number, random: number): void {
    this.#board.transaction(() => {
      this.#deliveries.tried(id, sent, now, random)
      this.#save(this.#store.state(), now)
    })
  }

  /** Of these, in any order. */
  deliveries(ids: readonly string[]): ShownDelivery[] {
    return ids.flatMap((id) => this.#store.delivery(id) ?? []).map(shownDelivery)
  }

  /** A delivery to each target of this rule. Undefined: there is no such rule. */
  test(on: StoredRule['on'], now: number): string[] | undefined {
    return this.#board.transaction(() => {
      const state = this.#store.state()
      const wanted = new Set(state.rules.flatMap((rule) => (rule.on === on ? rule.target : [])))
      const targets = state.targets.filter(({ key }) => wanted.has(key))
      if (targets.length === 0) return undefined
      const notice: Notice = { causes: [{ on, since: timeText(now) }], test: true }
      const ids = targets.map((target) => this.#deliveries.add(target, notice, now))
      this.#save(withNewCommands(targets, state), now)
      return ids
    })
  }

  shown(): NoticesShown {
    const { rules, targets } = this.#store.state()
    return {
      rules: rules.map((rule) => {
        const { to = 'webhook', host } = targets.find(({ key }) => key === rule.target) ?? {}
        const minutes = this.#minutesOf(rule)
        return { on: rule.on, minutes, to, ...(host !== undefined && { host }) }
      }),
      deliveries: this.#store.newest().map(shownDelivery),
    }
  }

  hasCommands(now: number): boolean {
    return this.#deliveries.hasCommands(now)
  }

  /** For the sidecar, which runs them. Nobody else gets them meanwhile. */
  commands(_: unknown, now: number): DueCommand[] {
    return this.#board.transaction(() => {
      const state = this.#store.state()
      const due = this.#deliveries.commands(state, now)
      this.#save(state, now)
      return due
    })
  }

  /** False: there is no such delivery. */
  ran({ id, error }: CommandEnd, now: number, random: number): boolean {
    if (this.#store.delivery(id)?.to !== 'command') return false
    // A command has no status.
    const sent: Sent = error === undefined ? { ok: true, status: 0 } : { ok: false, error }
    this.tried(id, sent, now, random)
    return true
  }

  #decide(state: NoticeState, now: number): NoticeState {
    const board = this.#board.state()
    const { decideAt: _, lastedAt: __, ...decided } = state
    if (!board.published) return decided
    const { rules, allAt, isPart } = this.#rulesToDecide(state, board, now)
    const facts = this.#facts(board, rules, now)
    const turns = rules.map((rule) => ({ rule, ...this.#decideRule(rule, facts, board) }))

    const news = Map.groupBy(
      turns.flatMap(({ rule, news }) => news.map((cause) => ({ target: rule.target, cause }))),
      ({ target }) => target,
    )
    const targets = state.targets.filter(({ key }) => news.has(key))
    for (const target of targets) {
      const causes = news.get(target.key)?.map(({ cause }) => cause) ?? []
      this.#deliveries.add(target, noticeWith(causes), now)
    }

    const lasting = turns.filter(({ rule }) => readsAll(rule.on))
    const lastedAt = Math.min(allAt, ...lasting.map(({ nextAt }) => nextAt))
    const decideAt = Math.min(lastedAt, ...turns.map(({ nextAt }) => nextAt))
    const isOffline = facts.offlineSince !== undefined
    return {
      ...withNewCommands(targets, decided),
      rules: state.rules.map((rule) => (rules.includes(rule) ? { ...rule, isSeen: true } : rule)),
      looked: { head: this.#board.head(), isOffline, isPart },
      ...(lastedAt < Infinity && { lastedAt }),
      ...(decideAt < Infinity && { decideAt }),
    }
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
    const before = this.#store.known(key)
    const afterMs = this.#minutesOf(rule) * MINUTE_MS
    const causes = causesOf(on, facts)
    const isOld = !isSeen && isOfThePast(on)
    const { known, news, nextAt = Infinity } = turnOf(before, causes, { afterMs, now, isOld })
    this.#store.remember(key, before, known)
    // No message says that a sidecar is gone, or that a silent holder works: a renewal is none.
    let lookMs = Infinity
    if (on === 'offline' && facts.offlineSince === undefined) lookMs = untilLookMs(board)
    if (on === 'silent' && causes.length > 0) lookMs = Math.max(afterMs, LOOK_MS.reports)
    return { news, nextAt: Math.min(nextAt, now + lookMs) }
  }

  /** For each rule, and no message came since. */
  #isAsLooked({ rules, looked }: NoticeState): boolean {
    const isSame = looked?.head === this.#board.head() && !looked.isPart
    return isSame && rules.every(({ isSeen }) => isSeen)
  }

  #facts(board: RepositoryState, rules: readonly StoredRule[], now: number): NoticeFacts {
    const sessions = this.#board.openSessions()
    const { state, since } = this.#presence.shownOf(board, now)
    const all = rules.some(({ on }) => readsAll(on))
    const ids = all ? undefined : new Set(sessions.map(({ task }) => task))
    return {
      tasks: this.#board.lightTasks(ids),
      config: this.#board.config(),
      sessions,
      ended: this.#claims.endedAfter(now - CLAIMS_OF_MS),
      offlineSince: state === 'offline' && this.#hasListened(now) ? since : undefined,
      isPaused: this.#claims.settings().paused,
      now,
    }
  }

  #hasListened(now: number): boolean {
    const { startedAt } = this.#host
    return startedAt === undefined || !isRecent(startedAt, REPORTS_SILENT_MS, now)
  }

  #minutesOf({ on, minutes }: Pick<StoredRule, 'on' | 'minutes'>): number {
    return minutes ?? (on === 'silent' ? this.#host.silentAfterMs / MINUTE_MS : DEFAULT_MINUTES[on])
  }

  /** Since it was last decided. That a sidecar reports again may be no message. */
  #hasChanged({ looked, rules, decideAt = Infinity }: NoticeState, now: number): boolean {
    if (looked?.head !== this.#board.head()) return true
    const board = this.#board.state()
    // Planned while one held a socket, or had ended: the next may be killed before it opens one.
    const isLate = !looked.isOffline && decideAt > now + untilLookMs(board)
    if (isLate && rules.some(({ on }) => on === 'offline')) return true
    if (!looked.isOffline && !looked.isPart) return false
    const isBack = this.#presence.shownOf(board, now).state !== 'offline'
    return (looked.isOffline && isBack) || (looked.isPart && isWhole(board))
  }

  /** Saves it, and plans the alarm for what is due first. */
  #save(state: NoticeState, now: number, next = this.#store.next()): void {
    this.#store.save(state)
    const { decideAt = Infinity } = state
    const first = Math.min(decideAt, next.requestAt, commandsAt(state, next, now))
    this.#agenda.plan('notices', first < Infinity ? first : undefined)
  }
}

type News = Cause & { since: number }

/** Until the next look whether its sidecar is there. One that has ended in order is not missed. */
function untilLookMs({ ended, socket }: RepositoryState): number {
  if (ended) return Infinity
  return socket ? LOOK_MS.socket : LOOK_MS.reports
}

const isWhole = ({ pending, lacking }: RepositoryState): boolean =>
  Object.keys(pending).length === 0 && !lacking

/** Of a new command the sidecar is signalled at once. */
function withNewCommands(
  targets: readonly Target[],
  { signalledAt, ...state }: NoticeState,
): NoticeState {
  const hasCommand = targets.some(({ to }) => to === 'command')
  return signalledAt === undefined || hasCommand ? state : { ...state, signalledAt }
}

/** When the sidecar is signalled again, less and less often: one that is back asks by itself. */
function commandsAt(
  { signalledAt }: NoticeState,
  { commandAt, commandSince }: ReturnType<NoticeStore['next']>,
  now: number,
): number {
  if (signalledAt === undefined || signalledAt > now) return commandAt
  const againMs = Math.min(Math.max(signalledAt - commandSince, COMMAND_LEASE_MS), MAX_RETRY_MS)
  return Math.max(commandAt, signalledAt + againMs)
}

function noticeWith(causes: readonly News[]): Notice {
  const more = causes.length - MAX_CAUSES
  return {
    causes: causes.slice(0, MAX_CAUSES).map(({ key: _, isVague: __, since, ...cause }) => ({
      ...cause,
      since: timeText(since),
    })),
    ...(more > 0 && { more }),
  }
}
