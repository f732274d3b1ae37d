// Notices of a board, turn by turn: what is news (notice-decisions.ts) is stored as deliveries, and
// the alarm is planned for what is due first. The host sends them, outside of the turn.

import { timeText } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { MAX_RETRY_MS, type Sent } from '../../shared/outgoing.ts'
import type { Agenda } from '../store/agenda-sqlite.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { CommandEnd } from '../wire.ts'
import { rulesAfter } from './kept-rules.ts'
import type { BoardRules, Notice, NoticesShown, ShownDelivery } from './notice-calls.ts'
import { Decisions, type DecisionsDeps } from './notice-decisions.ts'
import {
  COMMAND_LEASE_MS,
  Deliveries,
  type DueCommand,
  type DueRequest,
  LONGEST_WAIT_MS,
  shownDelivery,
} from './notice-deliveries.ts'
import type { NoticeState, NoticeStore, StoredRule, Target } from './notice-store-sqlite.ts'

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

interface NoticesDeps extends DecisionsDeps {
  store: NoticeStore
  board: DecisionsDeps['board'] & Pick<BoardStore, 'transaction'>
  agenda: Agenda
  log: Log
}

export class Notices implements NoticeMethods {
  readonly #store: NoticeStore
  readonly #decisions: Decisions
  readonly #deliveries: Deliveries
  readonly #board: Pick<BoardStore, 'transaction'>
  readonly #agenda: Agenda

  constructor(deps: NoticesDeps) {
    this.#store = deps.store
    this.#decisions = new Decisions(deps)
    this.#deliveries = new Deliveries(deps.store, deps.log)
    this.#board = deps.board
    this.#agenda = deps.agenda
  }

  /** Takes the rules that the sidecar publishes. The caller has a transaction. */
  setRules(published: BoardRules, now: number): void {
    const next = rulesAfter(this.#store.state(), published, now)
    if (!next) return
    const { state, left } = next
    this.#deliveries.endOthers(state.targets, now)
    this.#decisions.endOthers(state.rules, left, now)
    this.#save(state, now)
  }

  /** After each turn: what changed is looked at soon, with what else comes by then. */
  follow(now: number): void {
    const state = this.#store.state()
    const at = this.#decisions.afterChange(state, now)
    const isPlanned = (state.decideAt ?? Infinity) <= at
    // Planned by a clock that was ahead.
    const isAhead = this.#store.isAnyAfter(now + LONGEST_WAIT_MS)
    if (isPlanned && !isAhead) return
    this.#board.transaction(() => {
      this.#store.bringForward(now + LONGEST_WAIT_MS, now)
      this.#save(isPlanned ? state : { ...state, decideAt: at }, now)
    })
  }

  /**
   * The alarm calls it. The host sends what it returns, and calls `tried` with each answer.
   * `hasCommands`: the sidecar has some to run, and the host signals it.
   */
  due(now: number): { requests: DueRequest[]; hasCommands: boolean } {
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
        const minutes = this.#decisions.minutesOf(rule)
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

  #decide(before: NoticeState, now: number): NoticeState {
    const { state, notices } = this.#decisions.decide(before, now)
    for (const [target, notice] of notices) this.#deliveries.add(target, notice, now)
    return withNewCommands([...notices.keys()], state)
  }

  /** Saves it, and plans the alarm for what is due first. */
  #save(state: NoticeState, now: number, next = this.#store.next()): void {
    this.#store.save(state)
    const { decideAt = Infinity } = state
    const first = Math.min(decideAt, next.requestAt, commandsAt(state, next, now))
    this.#agenda.plan('notices', first < Infinity ? first : undefined)
  }
}

/** Of a new command the sidecar is signalled at once. */
function withNewCommands(targets: readonly Target[], state: NoticeState): NoticeState {
  const { signalledAt: _, ...unsignalled } = state
  return targets.some(({ to }) => to === 'command') ? unsignalled : state
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
