// Where git has the tree that leads, for the history of its boards. git is asked only after it has
// moved.

import type { MainTree } from '../../worker/board/wire.ts'
import type { CheckedOut } from './git.ts'
import type { Repository } from './repository.ts'

type Asked = Pick<
  Repository,
  'head' | 'headLog' | 'settled' | 'checkedOut' | 'wasAt' | 'goesOn' | 'tipOf'
>

export class MainTreeNews {
  readonly #repository: Asked
  #known: { sign: string; log: string; at: CheckedOut | undefined } | undefined

  constructor(repository: Asked) {
    this.#repository = repository
  }

  /** Whether it has moved since it was last asked for. */
  get hasMoved(): boolean {
    return this.#known?.sign !== this.#sign()
  }

  #sign(): string {
    return `${this.#repository.head()}\n${this.#repository.headLog()}`
  }

  /** `sent`: what the edge knows of it. Undefined: it is so still, or git does not say. */
  async since(sent: CheckedOut | undefined): Promise<MainTree | undefined> {
    // A switch writes files first and moves its HEAD last: what it deleted is sent with it.
    if (!this.hasMoved) await this.#repository.settled()
    const before = this.#known
    const sign = this.#sign()
    const at = (before?.sign === sign && before.at) || (await this.#repository.checkedOut())
    // After git has answered: it writes the log before it moves its HEAD.
    const log = this.#repository.headLog()
    this.#known = { sign, log, at }
    if (!at) return undefined
    if (!sent) return at
    if (sent.branch !== at.branch) {
      // What was committed there since then, and not sent yet, is no part of the switch.
      const from = sent.branch === undefined ? undefined : await this.#repository.tipOf(sent.branch)
      return { ...at, switched: true, ...(from !== undefined && from !== sent.head && { from }) }
    }
    if (sent.head === at.head) {
      // It may have been elsewhere for less than a look: what that took away is no deletion.
      const from = before && before.log !== log ? await this.#repository.wasAt() : undefined
      const wasAway = from !== undefined && from !== at.head
      return wasAway ? { ...at, switched: true, from } : undefined
    }
    const goesOn = await this.#repository.goesOn(sent.head)
    if (goesOn === undefined) return undefined
    return goesOn ? at : { ...at, switched: true }
  }
}
