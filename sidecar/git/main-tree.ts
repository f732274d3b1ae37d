// Where git has the tree that leads, for the history of its boards. git is asked only after it has
// moved.

import type { MainTree } from '../../worker/board/wire.ts'
import type { CheckedOut } from './git.ts'
import type { Repository } from './repository.ts'

type Asked = Pick<Repository, 'head' | 'settled' | 'checkedOut' | 'goesOn' | 'tipOf'>

export class MainTreeNews {
  readonly #repository: Asked
  #known: { sign: string; at: CheckedOut | undefined } | undefined

  constructor(repository: Asked) {
    this.#repository = repository
  }

  /** Whether it has moved since it was last asked for. */
  get hasMoved(): boolean {
    return this.#known?.sign !== this.#repository.head()
  }

  /** `sent`: what the edge knows of it. Undefined: it is so still, or git does not say. */
  async since(sent: CheckedOut | undefined): Promise<MainTree | undefined> {
    // A switch writes files first and moves its HEAD last: what it deleted is sent with it.
    if (!this.hasMoved) await this.#repository.settled()
    const sign = this.#repository.head()
    const known = this.#known?.sign === sign ? this.#known.at : undefined
    const at = known ?? (await this.#repository.checkedOut())
    this.#known = { sign, at }
    if (!at) return undefined
    if (!sent) return at
    if (sent.branch !== at.branch) {
      // What was committed there since then, and not sent yet, is no part of the switch.
      const from = sent.branch === undefined ? undefined : await this.#repository.tipOf(sent.branch)
      return { ...at, switched: true, ...(from !== undefined && from !== sent.head && { from }) }
    }
    if (sent.head === at.head) return undefined
    const goesOn = await this.#repository.goesOn(sent.head)
    if (goesOn === undefined) return undefined
    return goesOn ? at : { ...at, switched: true }
  }
}
