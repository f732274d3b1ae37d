// The first publication of a large board, while its files are still being read: what is known goes
// ahead, so no file has to be read a second time for its text. Readers see nothing of it, an edge
// that has published the board refuses it, and the sync that follows the last file repairs whatever
// it left out: a seed that fails costs a second reading and nothing else.

import type { Key, Reading, StoreState } from '../../worker/board/wire.ts'
import { Change, type Delivery } from './deliver.ts'
import { askTurn } from './reconcile.ts'

/** About one part: a smaller one would cost as much at the edge. */
const KEYS = 1_000

export class Seed {
  readonly #deps: Omit<Delivery, 'reading'>
  #keys = new Set<Key>()
  #isOpen: boolean = false
  #sending: Promise<void> | undefined

  constructor(deps: Omit<Delivery, 'reading'>) {
    this.#deps = deps
  }

  /** Asks whose turn it is. False: nothing goes ahead. */
  async begin(store: StoreState): Promise<boolean> {
    const { edge, position } = this.#deps
    this.#isOpen = (await askTurn(edge, store, position)).ok
    return this.#isOpen
  }

  /** These are known now. Waits for those before, so that few texts are in memory. */
  async add(keys: Iterable<Key>, reading: Reading): Promise<void> {
    if (!this.#isOpen) return
    for (const key of keys) this.#keys.add(key)
    if (this.#keys.size < KEYS && reading.done < reading.total) return
    const full = this.#keys
    this.#keys = new Set()
    await this.#sending
    if (this.#isOpen) this.#sending = this.#send(full, reading)
  }

  /** Nothing is under way any more. */
  async end(): Promise<void> {
    await this.#sending
    this.#isOpen = false
    this.#keys.clear()
  }

  async #send(keys: Set<Key>, reading: Reading): Promise<void> {
    const change = new Change(keys, { ...this.#deps, reading })
    const failure = await change.send().catch(() => ({ ok: false }))
    if (failure) this.#isOpen = false
  }
}
