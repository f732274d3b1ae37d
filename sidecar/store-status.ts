// What scans say of the store as a whole: written to the log when it changes, and published.

import type { StoreState } from '../worker/board/wire.ts'
import type { Log } from '../worker/shared/log.ts'
import type { ScanReport } from './files/scan.ts'
import type { Store } from './layouts/layout.ts'

interface StoreStatusDeps {
  store: Pick<Store, 'root' | 'layout'>
  log: Log
  /** The sidecar's. */
  version: string
  publisher: { store(state: StoreState): void }
}

export class StoreStatus {
  readonly #deps: StoreStatusDeps
  #scanned: Pick<ScanReport, 'state' | 'why'> | undefined
  #published: Pick<StoreState, 'state' | 'unwatched'> | undefined
  /** What it was when it was last read whole. */
  #read: StoreState['state'] = 'missing'

  constructor(deps: StoreStatusDeps) {
    this.#deps = deps
  }

  /** What was hinted may be its return, which only a scan finds. */
  get isGone(): boolean {
    return this.#scanned?.state === 'missing' || this.#scanned?.state === 'bare'
  }

  /** A scan is done; its files may still have to be read. */
  scanned({ state, why, files }: ScanReport): void {
    const { log, store } = this.#deps
    const isOther = state !== this.#scanned?.state || why !== this.#scanned.why
    const isWhole = (state === 'present' || state === 'bare') && why === undefined
    const level = isWhole ? 'info' : 'warn'
    if (isOther) log(level, `store.${state}`, { root: store.root, files, why })
    this.#scanned = { state, ...(why !== undefined && { why }) }
  }

  /**
   * Publishes it, once the board has what the scan found. False: no scan was done yet.
   * `isUnwatched`: the watcher has failed.
   */
  publish(isUnwatched: boolean): boolean {
    const { publisher, store, version } = this.#deps
    if (this.#scanned === undefined) return false
    // A store that was never read whole must not be published as a smaller one: the edge would drop
    // the rest. Once it was read whole, what cannot be read now stands as it was.
    const { state } = this.#scanned
    if (state === 'present' || state === 'bare') this.#read = state
    const shown = state === 'unreadable' ? this.#read : state
    const now = { state: shown, ...(isUnwatched && { unwatched: true as const }) }
    const { state: was, unwatched } = this.#published ?? {}
    if (was !== now.state || unwatched !== now.unwatched) {
      publisher.store({ ...now, layout: store.layout, version })
    }
    this.#published = now
    return true
  }
}
