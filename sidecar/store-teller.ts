// What scans say of the store as a whole, told to the log and to the edge when it turns.

import type { StoreState } from '../worker/board/wire.ts'
import type { ScanReport } from './files/scan.ts'
import type { Store } from './layouts/layout.ts'
import type { Log } from './log.ts'

export interface StoreTelling {
  store: Pick<Store, 'root' | 'layout'>
  log: Log
  /** Of the sidecar. */
  version: string
  publisher: { store(state: StoreState): void }
}

export class StoreTeller {
  readonly #deps: StoreTelling
  #seen: ScanReport | undefined
  #told: StoreState['state'] | undefined

  constructor(deps: StoreTelling) {
    this.#deps = deps
  }

  /** A scan is done; its files may still have to be read. */
  seen(report: ScanReport): void {
    const { state, why, files } = report
    const { log, store } = this.#deps
    const isTurn = state !== this.#seen?.state || why !== this.#seen.why
    const level = state === 'present' ? 'info' : 'warn'
    if (isTurn) log(level, `store.${state}`, { root: store.root, files, why })
    this.#seen = { ...report, changed: [], gone: [], suspects: [] }
  }

  /** Tells the edge, once the board has what the scan found. False: no scan was done yet. */
  tell(): boolean {
    const { publisher, store, version } = this.#deps
    if (this.#seen === undefined) return false
    // A store that was never read whole must not be told as a smaller one: the edge would drop the
    // rest. Once it was, what cannot be read now stands as it was.
    const state = this.#seen.state === 'unreadable' ? (this.#told ?? 'missing') : this.#seen.state
    if (state !== this.#told) publisher.store({ state, layout: store.layout, version })
    this.#told = state
    return true
  }
}
