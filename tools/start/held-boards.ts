// The boards that this system holds for itself. Its sidecar finds them, and asks for each: it is a
// process of its own that may die, and no other Signalbox may have them until it runs again.

import type { LockedBoard, TakeBoard } from '../../system/data/board-lock.ts'

export class HeldBoards {
  readonly #take: TakeBoard
  /** By their keys. A sidecar that was started again asks anew. */
  readonly #held = new Map<string, { name: string; taken: ReturnType<TakeBoard> }>()
  #refused: string | undefined

  constructor(take: TakeBoard) {
    this.#take = take
  }

  /** Why there is no board here; undefined: there is one, or none was refused. */
  get refused(): string | undefined {
    return this.#held.size === 0 ? this.#refused : undefined
  }

  /** Takes a board. A sentence: why it is left out. */
  async ask(board: LockedBoard): Promise<string | undefined> {
    const { key, name } = board
    const { taken } = this.#held.get(key) ?? { taken: this.#take(board) }
    this.#held.set(key, { name, taken })
    const release = await taken
    if (typeof release !== 'string') return undefined
    this.#held.delete(key)
    this.#refused = release
    return release
  }

  /** Its sidecar has let it go. */
  async letGo(name: string): Promise<void> {
    const [key, board] = [...this.#held].find(([, it]) => it.name === name) ?? []
    if (key === undefined) return
    this.#held.delete(key)
    const release = await board?.taken
    if (typeof release === 'function') await release()
  }

  async close(): Promise<void> {
    for (const { name } of [...this.#held.values()]) await this.letGo(name)
  }
}
