// Where git has the tree that leads, for the history of its boards. git is asked only after it has
// moved.

import type { MainTree } from '../../worker/board/wire.ts'
import type { CheckedOut } from './git.ts'
import type { Repository } from './repository.ts'

type Asked = Pick<
  Repository,
  'head' | 'moves' | 'movesSign' | 'whenIdle' | 'checkedOut' | 'goesOn' | 'tipOf'
>

/** What the edge does not know yet. */
export interface MainNews {
  main: MainTree
  /** The edge has it. Until then it is said again. */
  arrived(): void
}

interface Looked {
  sign: string
  at: CheckedOut | undefined
  moves: readonly string[]
}

export class MainTreeNews {
  readonly #repository: Asked
  #known: Looked | undefined
  /** The last move that the edge knows of. */
  #lastMove: string | undefined

  constructor(repository: Asked) {
    this.#repository = repository
  }

  /** Whether it has moved since it was last asked for. */
  get hasMoved(): boolean {
    return this.#known?.sign !== this.#sign()
  }

  /** `sent`: what the edge knows of it. Undefined: it is so still, or git does not say. */
  async since(sent: CheckedOut | undefined): Promise<MainNews | undefined> {
    // A switch writes files first and moves its HEAD last: what it deleted is sent with it.
    if (!this.hasMoved) await this.#repository.whenIdle()
    const sign = this.#sign()
    const known = this.#known?.sign === sign && this.#known.at ? this.#known : undefined
    this.#known = known ?? (await this.#look(sign))
    const { at, moves } = this.#known
    if (!at) return undefined
    const main = await this.#mainSince(sent, at, movesAfter(this.#lastMove, moves))
    // A move to elsewhere is one whose end is still to come.
    const arrived = () => {
      this.#lastMove = moves.findLast((move) => wentTo(move) === at.head) ?? moves.at(-1)
    }
    if (main) return { main, arrived }
    arrived()
    return undefined
  }

  async #look(sign: string): Promise<Looked> {
    const at = await this.#repository.checkedOut()
    // Read after git has answered, which writes its log before it moves the HEAD.
    return { sign, at, moves: this.#repository.moves() }
  }

  async #mainSince(
    sent: CheckedOut | undefined,
    at: CheckedOut,
    moves: readonly string[],
  ): Promise<MainTree | undefined> {
    if (!sent) return at
    if (sent.branch !== at.branch) {
      // What was committed there since then, and not sent yet, is no part of the switch.
      const from = sent.branch === undefined ? undefined : await this.#repository.tipOf(sent.branch)
      return { ...at, switched: true, ...(from !== undefined && from !== sent.head && { from }) }
    }
    if (sent.head === at.head) {
      const from = awayFrom(sent.head, moves)
      return from === undefined ? undefined : { ...at, switched: true, from }
    }
    const goesOn = await this.#repository.goesOn(sent.head)
    if (goesOn === undefined) return undefined
    return goesOn ? at : { ...at, switched: true }
  }

  #sign(): string {
    return `${this.#repository.head()}\n${this.#repository.movesSign()}`
  }
}

/** None where the last is not known, or not in the log any more. */
function movesAfter(last: string | undefined, moves: readonly string[]): readonly string[] {
  const at = last === undefined ? -1 : moves.lastIndexOf(last)
  return at === -1 ? [] : moves.slice(at + 1)
}

/** Where it was last, if it has left this commit. What led there has arrived, answered or not. */
function awayFrom(head: string, moves: readonly string[]): string | undefined {
  const left = moves.findIndex((move) => cameFrom(move) === head)
  const since = left === -1 ? [] : moves.slice(left).map(cameFrom)
  return since.findLast((commit) => commit !== head && !NO_COMMIT.test(commit))
}

/** A branch that gets another name leaves its commit for none, and comes back. */
const NO_COMMIT = /^0+$/

const cameFrom = (move: string): string => move.split(' ', 1)[0] ?? ''
const wentTo = (move: string): string | undefined => move.split(' ', 2)[1]
