// One board of this process, from the search that found it to the end of its sidecar.

import type { Log } from '../../worker/shared/log.ts'
import type { Repositories } from '../git/repository.ts'
import type { BoardHealth, SidecarStatus } from '../health.ts'
import {
  type OpenSidecar,
  openSidecar,
  type SidecarOptions,
  type SidecarPlan,
} from '../open-sidecar.ts'
import type { Edge } from '../publish/edge.ts'
import { isFinal } from '../publish/retry.ts'
import type { NamedBoard } from './names.ts'

/** Gives a board back, so that another process may have it. */
export type Release = () => Promise<void>

/** What the boards of a process share. */
export interface RunPlan {
  options: SidecarOptions & Pick<SidecarPlan, 'metrics' | 'progress'>
  /** Where the board of this name is published. */
  edgeOf(name: string): Edge
  /** Absent: linked worktrees are left out. */
  repositories?: Repositories | undefined
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

export class BoardRun {
  readonly name: string
  readonly dir: string
  readonly location: NamedBoard['location']
  readonly store: NamedBoard['store']
  /** Then another process may have it. */
  readonly release: Release
  readonly #plan: RunPlan
  readonly #log: Log
  /** When it was found, by `performance.now`. Undefined: at the beginning. */
  readonly #since: number | undefined
  readonly #shown = Promise.withResolvers<void>()
  readonly #shownOrFailed = Promise.withResolvers<void>()
  /** The edge holds it, or says how far it is. */
  readonly shown = this.#shown.promise
  /** The same, or the edge cannot have it without a person. */
  readonly shownOrFailed = this.#shownOrFailed.promise
  /** Ends its sidecar alone. */
  readonly #leaving = new AbortController()
  #state: 'waiting' | 'open' | 'failed' = 'waiting'
  #sidecar: OpenSidecar | undefined
  /** Files of a large board that is being read for the first time. */
  reading: number | undefined
  /** When its sidecar has ended. */
  ended = Promise.resolve()
  #missingSince: number | undefined

  constructor(
    { name, dir, location, store }: NamedBoard,
    plan: RunPlan,
    release: Release = () => Promise.resolve(),
    since?: number,
  ) {
    this.name = name
    this.dir = dir
    this.location = location
    this.store = store
    this.release = release
    this.#plan = plan
    this.#log = (level, event, fields) => plan.options.log(level, event, { ...fields, board: name })
    this.#since = since
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  get isLeaving(): boolean {
    return this.#leaving.signal.aborted
  }

  tasks = (): number => this.#sidecar?.board.summary().counts.tasks ?? 0

  health = (): BoardHealth => ({ board: this.name, ...(this.#sidecar?.status() ?? UNKNOWN) })

  /** Opens its sidecar until `end` is aborted. Resolves when its files were read; never rejects. */
  open(end: AbortSignal): Promise<void> {
    this.#state = 'open'
    this.#log('info', 'board.found', { dir: this.dir, layout: this.store.layout })
    try {
      const opened = this.#openSidecar()
      this.#sidecar = opened
      const { ready, ended } = opened.run(AbortSignal.any([end, this.#leaving.signal]))
      void ready.then(() => this.#show(undefined))
      this.ended = ended.catch((error: unknown) => {
        this.#fail(error)
        return opened.publisher.close()
      })
      return opened.sidecar.started
    } catch (error) {
      this.#fail(error)
      return Promise.resolve()
    }
  }

  /** One that failed by a defect of ours is opened again. */
  retry(): void {
    if (this.#state === 'failed') this.#state = 'waiting'
  }

  /** Ends its sidecar. Resolves when it has. */
  leave(): Promise<void> {
    this.#leaving.abort()
    return this.ended
  }

  /**
   * For how long its folder has been missing, in ms; undefined: it is not. `isUnfound`: a search
   * did not find it, but that may have been cut short.
   */
  missingMs(isUnfound: boolean, now: number): number | undefined {
    const isMissing = isUnfound && this.#sidecar?.status().store === 'missing'
    this.#missingSince = isMissing ? (this.#missingSince ?? now) : undefined
    return this.#missingSince === undefined ? undefined : now - this.#missingSince
  }

  #openSidecar(): OpenSidecar {
    const { options, edgeOf, repositories } = this.#plan
    return openSidecar({
      ...options,
      store: this.store,
      log: this.#log,
      edge: edgeOf(this.name),
      onFailure: (failure) => isFinal(failure) && this.#shownOrFailed.resolve(),
      onReading: (files) => this.#show(files),
      ...(this.#since !== undefined && { since: this.#since }),
      ...(repositories && { trees: { repositories, dir: this.dir } }),
    })
  }

  #show(reading: number | undefined): void {
    this.reading = reading
    this.#shownOrFailed.resolve()
    this.#shown.resolve()
  }

  #fail(error: unknown): void {
    this.#log('error', 'board.defect', { error })
    this.#shownOrFailed.resolve()
    this.#state = 'failed'
  }
}
