// One of the boards of a process, from its place to the end of its sidecar.

import type { BoardHealth, SidecarStatus } from '../health.ts'
import type { OpenSidecar } from '../open-sidecar.ts'
import type { NamedBoard } from './names.ts'

/** Gives a board back, so that another process may have it. */
export type Release = () => Promise<void>

export interface OpenBoard extends NamedBoard {
  tasks(): number
  /** Files of a large board that is being read for the first time. */
  readonly reading: number | undefined
}

/** Before its sidecar is open. */
const UNKNOWN: SidecarStatus = {
  connected: false,
  behind: true,
  store: null,
  lastError: null,
  lastSyncAt: null,
  lastPublishedAt: null,
  dirty: 0,
  unwatched: false,
  files: 0,
}

export class OneBoard implements OpenBoard {
  readonly name: string
  readonly dir: string
  readonly store: NamedBoard['store']
  /** When it was found, by `performance.now`. Undefined: at the beginning. */
  readonly since: number | undefined
  /** The edge holds it, says how far it is, or cannot have it without a person. */
  readonly settled = Promise.withResolvers<void>()
  /** One that failed by a defect of ours is opened again after the next search. */
  state: 'waiting' | 'open' | 'failed' = 'waiting'
  sidecar: OpenSidecar | undefined
  reading: number | undefined
  /** When its sidecar has ended. */
  ended = Promise.resolve()
  /** By `performance.now`, as the searches see it. */
  missingSince: number | undefined
  /** Ends its sidecar alone. */
  readonly leaving = new AbortController()
  /** Then another process may have it. */
  readonly release: Release

  constructor(
    { name, dir, store }: NamedBoard,
    since: number | undefined,
    release: Release = () => Promise.resolve(),
  ) {
    this.release = release
    this.name = name
    this.dir = dir
    this.store = store
    this.since = since
  }

  tasks = (): number => this.sidecar?.board.summary().counts.tasks ?? 0

  health = (): BoardHealth => ({ board: this.name, ...(this.sidecar?.status() ?? UNKNOWN) })
}
