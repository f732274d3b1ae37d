// Whether the sidecar of a repository is there, where it holds a socket. Pure except for its store;
// the host knows the sockets and has one alarm. Where hosts have no such sockets, reports say it.

import { isRecent } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import type { Activity } from './activity/activity.ts'
import type { Agenda } from './store/agenda-sqlite.ts'
import type { RepositoryState } from './store/board-rows.ts'
import type { BoardStore } from './store/board-store-sqlite.ts'
import { REPORT_MS, SOCKET_PING_MS } from './wire.ts'

/** The open socket of a sidecar. */
export interface SidecarSocket {
  run: number
  /** In ms; undefined: there was no ping yet. */
  pingedAt: number | undefined
}

/** `ended`: in order. `offline`: it was killed, or cannot reach the edge. */
export type SidecarState = 'running' | 'offline' | 'ended'

/** A sidecar as the status has it. Times in ms; undefined: never, or not known. */
export interface Shown {
  state: SidecarState
  /** With `offline` and `ended`. */
  since?: number
  lastSeenAt: number | undefined
  currentAt: number | undefined
}

export type SidecarSockets = () => readonly SidecarSocket[]

/**
 * A sidecar that is silent for so long was killed, and an earlier one may go on. One report that
 * needs a second try is not silence yet.
 */
export const REPORTS_SILENT_MS = REPORT_MS + 20_000
/** One ping may be lost. */
const PINGS_SILENT_MS = 2 * SOCKET_PING_MS + 5_000
/** Nothing was heard for longer than it can be silent: its machine slept, or a clock jumped. */
const SLEPT_MS = REPORT_MS + 5_000
/** A restart, or a connection that is dialled again, ends nothing. */
const CLOSED_MS = 10_000

/** For claims that may come back with their tasks, time stops while the sidecar is away. */
interface StoppedClaims {
  /** It was not there since then. */
  resume(since: number, now: number): void
}

/** `frames`: to every stream. `free`: sidecars that wait may publish. */
export interface ToSend {
  frames: string[]
  free: boolean
}

const NOTHING: ToSend = { frames: [], free: false }

interface PresenceDeps {
  board: Pick<BoardStore, 'transaction' | 'state' | 'save' | 'append'>
  agenda: Agenda
  claims: StoppedClaims
  sockets: SidecarSockets
  activity: Activity
  log: Log
}

export class Presence {
  readonly #board: PresenceDeps['board']
  readonly #agenda: Agenda
  readonly #claims: StoppedClaims
  readonly #sockets: SidecarSockets
  readonly #activity: Activity
  readonly #log: Log

  constructor({ board, agenda, claims, sockets, activity, log }: PresenceDeps) {
    this.#board = board
    this.#agenda = agenda
    this.#claims = claims
    this.#sockets = sockets
    this.#activity = activity
    this.#log = log
  }

  /** False: the edge gave nobody this run. */
  knows(run: number): boolean {
    return run > 0 && run <= this.#board.state().run
  }

  /**
   * It publishes. Where clients were informed that it is gone, its return counts as a change of the
   * configuration.
   */
  published(state: RepositoryState, now: number): void {
    this.#resume(state, now)
    const { lastSeenAt, offlineSince, socket, ended } = state
    // Where no socket says so, nobody may have noticed that it was silent.
    const wasSilent = !socket && !ended && lastSeenAt !== undefined && lastSeenAt <= now
    const isBack = wasSilent && isOver(lastSeenAt, REPORTS_SILENT_MS, now)
    if (isBack || offlineSince !== undefined) this.addRow(state, ['offline', 'running'], now)
    state.lastSeenAt = now
    delete state.socket?.isFreed
    if (offlineSince === undefined) return
    delete state.offlineSince
    if (state.published) state.pending = { ...state.pending, list: true }
  }

  /** Adds a row to the history. */
  addRow(state: RepositoryState, changed: [SidecarState, SidecarState], now: number): void {
    if (!state.published) return
    this.#activity.add([{ kind: 'sidecar', changes: { state: changed } }], state, now)
  }

  /** A first publication is whole: until then no task could come back. */
  firstPublished(now: number): void {
    this.#claims.resume(0, now)
  }

  /** The time up to which a task that is away could come back: of the clock, or it stands. */
  seenUntil(state: RepositoryState, now: number): number {
    const { published, ended, offlineSince } = state
    if (!published) return 0
    const last = this.#lastSign(state)
    const isThere = !ended && offlineSince === undefined && now - last <= SLEPT_MS
    return isThere ? now : Math.min(last, now)
  }

  /** A socket of an earlier run than the leading one waits, and nothing is stored of it. */
  opened(run: number, now: number): string[] {
    return this.#turn((state) => {
      if (run < state.run) return []
      this.#resume(state, now)
      state.socket = { run, since: now }
      this.#agenda.plan('sidecar', undefined)
      return this.#comeBack(state, now)
    })
  }

  /** `pingedAt`: the last ping of the socket that closed. */
  closed({ run, pingedAt }: SidecarSocket, now: number): void {
    this.#turn((state) => {
      if (run >= state.run) seen(state, pingedAt)
      if (state.socket?.run === run && !state.ended) this.#wait(state, now, CLOSED_MS)
      return []
    })
  }

  /** A reset of the host loses sockets without closing them. */
  restored(now: number): void {
    const { socket, ended } = this.#board.state()
    if (!socket || socket.closedAt !== undefined || ended) return
    if (!this.#isOpen(socket.run)) {
      this.#turn((state) => {
        this.#wait(state, now, PINGS_SILENT_MS)
        return []
      })
    }
  }

  onAlarm(now: number): ToSend {
    const at = this.#agenda.planned('sidecar')
    if (at === undefined || at > now) return NOTHING
    let free = false
    const frames = this.#turn((state) => {
      this.#agenda.plan('sidecar', undefined)
      const { socket, lastSeenAt = 0 } = state
      if (!socket || state.ended || this.#isOpen(socket.run)) return []
      if (lastSeenAt > (socket.closedAt ?? now) && !isOver(lastSeenAt, REPORTS_SILENT_MS, now)) {
        // It reports instead, behind a proxy that drops sockets.
        this.#agenda.plan('sidecar', lastSeenAt + REPORTS_SILENT_MS)
        return []
      }
      const isWaitedFor = this.#sockets().some(({ run }) => run < state.run)
      if (!isWaitedFor || socket.isFreed) return this.#goOffline(state, now)
      socket.isFreed = true
      this.#agenda.plan('sidecar', now + CLOSED_MS)
      free = true
      return []
    })
    return { frames, free }
  }

  /** A frozen sidecar closes nothing: whatever reads the status finds out, also of its return. */
  checkPings(now: number): ToSend {
    const state = this.#board.state()
    const { socket } = state
    if (!socket || state.ended || !this.#isOpen(socket.run)) return NOTHING
    const isLost = isOver(this.#lastSign(state), PINGS_SILENT_MS, now)
    if (isLost === (state.offlineSince !== undefined)) return NOTHING
    const turn = (found: RepositoryState) => {
      if (isLost) return this.#goOffline(found, now)
      this.#resume(found, now)
      return this.#comeBack(found, now)
    }
    return { frames: this.#turn(turn), free: isLost }
  }

  /** When the leading sidecar last sent a ping, in ms; undefined: never. */
  #pingedAt({ run: leader }: RepositoryState): number | undefined {
    const pings = this.#sockets().flatMap(({ run, pingedAt }) =>
      run >= leader && pingedAt !== undefined ? [pingedAt] : [],
    )
    return pings.length > 0 ? Math.max(...pings) : undefined
  }

  /** When it last reported, pinged or opened its socket, in ms; 0: never. */
  #lastSign(state: RepositoryState): number {
    const { lastSeenAt = 0, socket } = state
    return Math.max(lastSeenAt, this.#pingedAt(state) ?? 0, socket?.since ?? 0)
  }

  /** Whether an earlier sidecar has to wait. A time ahead of `now` means nothing: see `isOver`. */
  holdsRun(state: RepositoryState, now: number): boolean {
    if (state.ended) return false
    if (!isOver(this.#pingedAt(state), PINGS_SILENT_MS, now)) return true
    return !state.socket?.isFreed && !isOver(state.lastSeenAt ?? 0, REPORTS_SILENT_MS, now)
  }

  /** For the status. `lastSeenAt` and `currentAt` are at least the last ping's time. */
  shownOf(state: RepositoryState, now: number): Shown {
    const shown = { ...state }
    seen(shown, this.#pingedAt(state))
    const { ended, offlineSince, socket, lastSeenAt, currentAt } = shown
    const times = { lastSeenAt, currentAt }
    if (ended) return { state: 'ended', since: lastSeenAt ?? 0, ...times }
    if (offlineSince !== undefined) return { state: 'offline', since: offlineSince, ...times }
    const since = Math.max(this.#lastSign(state), socket?.closedAt ?? 0)
    const isThere = isRecent(since, socket ? PINGS_SILENT_MS : REPORTS_SILENT_MS, now)
    return isThere ? { state: 'running', ...times } : { state: 'offline', since, ...times }
  }

  /** It is there again. Of a first publication the end counts, and not each part. */
  #resume(state: RepositoryState, now: number): void {
    if (state.published) this.#claims.resume(this.seenUntil(state, now), now)
  }

  #isOpen(run: number): boolean {
    return this.#sockets().some((socket) => socket.run >= run)
  }

  /** Nothing is sent to clients before `patienceMs` have passed. */
  #wait(state: RepositoryState, now: number, patienceMs: number): void {
    const { socket } = state
    if (!socket || this.#isOpen(socket.run) || state.offlineSince !== undefined) return
    socket.closedAt = now
    this.#agenda.plan('sidecar', now + patienceMs)
  }

  #goOffline(state: RepositoryState, now: number): string[] {
    seen(state, this.#pingedAt(state))
    state.offlineSince = state.socket?.closedAt ?? state.lastSeenAt ?? now
    // Where no process can count the boards, a line is all that an operator can alarm on.
    this.#log('warn', 'board.sidecar_lost', { since: new Date(state.offlineSince).toISOString() })
    this.addRow(state, ['running', 'offline'], now)
    return this.#message(state, now)
  }

  #comeBack(state: RepositoryState, now: number): string[] {
    if (state.offlineSince === undefined) return []
    delete state.offlineSince
    this.addRow(state, ['offline', 'running'], now)
    return this.#message(state, now)
  }

  /** Streams of a board that is not published yet wait for its first message. */
  #message({ published }: RepositoryState, now: number): string[] {
    return published ? [this.#board.append({ type: 'tasks-changed' }, now)] : []
  }

  #turn(run: (state: RepositoryState) => string[]): string[] {
    return this.#board.transaction(() => {
      const state = this.#board.state()
      const frames = run(state)
      this.#board.save(state)
      return frames
    })
  }
}

/** A ping means that the edge held all that the sidecar saw. */
function seen(state: RepositoryState, pingedAt: number | undefined): void {
  if (pingedAt === undefined) return
  state.lastSeenAt = Math.max(state.lastSeenAt ?? 0, pingedAt)
  if (state.currentAt === undefined || state.store === 'missing') return
  state.currentAt = Math.max(state.currentAt, pingedAt)
}

/** Undefined: never. A time ahead of `now` was taken before the clock was set back. */
const isOver = (at: number | undefined, ms: number, now: number): boolean =>
  at === undefined || at > now || now - at >= ms
