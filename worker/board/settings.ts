// Keeps what a lead has set for a board: at the edge, in no file. Pure except for its stores.

import type { Log } from '../shared/log.ts'
import type { BoardSettings, SettingsChange } from './board-settings.ts'
import type { BoardStore } from './board-store-sqlite.ts'
import type { ClaimStore } from './claim-store-sqlite.ts'
import { messageFrame } from './sse.ts'

/** As `RepositoryHandle.settings` answers; `frames` as after a publication. */
export type SettingsOutcome = { frames: string[] } & (
  | { ok: true; settings: BoardSettings }
  | { ok: false }
)

export class Settings {
  readonly #board: BoardStore
  readonly #claims: Pick<ClaimStore, 'settings' | 'keepSettings'>
  readonly #log: Log

  constructor(board: BoardStore, claims: ClaimStore, log: Log) {
    this.#board = board
    this.#claims = claims
    this.#log = log
  }

  /** Changes what is named. They count as configuration: whoever waits asks again. */
  set(change: SettingsChange, now: number): SettingsOutcome {
    return this.#board.transaction(() => {
      const state = this.#board.state()
      if (!state.published) return { ok: false, frames: [] }
      const before = this.#claims.settings()
      const settings = { ...before, ...change }
      if (JSON.stringify(settings) === JSON.stringify(before)) {
        return { ok: true, settings, frames: [] }
      }
      this.#claims.keepSettings(settings)
      const message = { type: 'tasks-changed' } as const
      const seq = this.#board.append(message, now)
      this.#log('info', 'board.settings', settings)
      return { ok: true, settings, frames: [messageFrame({ epoch: state.epoch, seq }, message)] }
    })
  }
}
