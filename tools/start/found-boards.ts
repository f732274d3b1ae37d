// The boards that the sidecar of this system finds, as it logs them. It is a process of its own:
// one that was started again finds all of them again.

import type { LocalBoard } from '../../system/data/local-json.ts'

interface FoundDeps {
  /** Found after the beginning. */
  onAppeared(board: LocalBoard): void
  onLeft(name: string): void
}

export class FoundBoards {
  readonly #deps: FoundDeps
  #boards: readonly LocalBoard[]
  /** Files of those that are being read for the first time, by their names. */
  readonly #reading = new Map<string, number>()
  /** Those of the beginning are published. */
  isReady: boolean = false

  /** `first`: it is meant where none is named. */
  constructor(first: LocalBoard, deps: FoundDeps) {
    this.#boards = [first]
    this.#deps = deps
  }

  all = (): readonly LocalBoard[] => this.#boards

  readingOf = ({ path }: LocalBoard): number | undefined => this.#reading.get(path)

  /** Takes what the sidecar logs. */
  onEvent(event: string, fields: Readonly<Record<string, unknown>>): void {
    const { board, dir, layout, files } = fields as Record<string, unknown> & LocalBoard
    const path = String(board)
    switch (event) {
      case 'board.found':
        this.#found({ path, dir, layout })
        break
      case 'sidecar.reading':
        this.#reading.set(path, Number(files))
        break
      case 'sidecar.ready':
        this.#reading.delete(path)
        break
      case 'boards.ready':
        this.isReady = true
        break
      case 'board.left':
        this.#boards = this.#boards.filter((it) => it.path !== path)
        this.#deps.onLeft(path)
    }
  }

  #found(board: LocalBoard): void {
    if (this.#boards.some(({ path }) => path === board.path)) return
    this.#boards = [...this.#boards, board]
    if (this.isReady) this.#deps.onAppeared(board)
  }
}
