// What a publication makes of the claims of its tasks: they end, are taken back, or follow their
// text. Once, when it is whole.

import type { RepositoryState } from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import { statusesOf } from '../tasks/to-do.ts'
import type { Task } from '../wire.ts'
import type { ClaimClock } from './claim-clock.ts'
import { endedBy, isReturning, overEnd, type Reading, verdictOf } from './claim-ends.ts'
import { cameIn, follow, NO_MOVES, type Texts, wentIn } from './claim-moves.ts'
import type { Claim, ClaimStore } from './claim-store-sqlite.ts'
import { type ClaimWrites, seen, type Turn } from './claim-writes.ts'
import { isReopened, restOf, seenOf } from './rest.ts'

type IsOpen = (task: Pick<Task, 'status'>) => boolean

interface ClaimUpdatesDeps {
  board: Pick<BoardStore, 'state' | 'save' | 'head' | 'stored' | 'layOver' | 'config'>
  claims: ClaimStore
  writes: ClaimWrites
  clock: ClaimClock
}

export class ClaimUpdates {
  readonly #board: ClaimUpdatesDeps['board']
  readonly #claims: ClaimStore
  readonly #writes: ClaimWrites
  readonly #clock: ClaimClock

  constructor({ board, claims, writes, clock }: ClaimUpdatesDeps) {
    this.#board = board
    this.#claims = claims
    this.#writes = writes
    this.#clock = clock
  }

  /** Undefined: nothing is claimed, and nothing that comes need be compared. */
  texts(): Texts | undefined {
    const texts = this.#claims.texts()
    if (texts.length === 0) return undefined
    return {
      titles: new Set(texts.map(({ title }) => title)),
      lists: new Set(texts.flatMap(({ parent }) => parent ?? [])),
    }
  }

  /** `before`: its row until now, as JSON. */
  came(state: RepositoryState, texts: Texts, task: Task, before: string | undefined): void {
    if (!texts.titles.has(task.title) && !task.unnumbered) return
    const title = before === undefined ? undefined : (JSON.parse(before) as Task).title
    state.moved = cameIn(state.moved ?? NO_MOVES, texts, task, title)
  }

  /** Before it is removed. */
  goes(state: RepositoryState, texts: Texts, id: string): void {
    const task = texts.lists.size > 0 ? this.#board.stored(id) : undefined
    if (task?.unnumbered) state.moved = wentIn(state.moved ?? NO_MOVES, texts, task)
  }

  update(now: number): string[] {
    const turn: Turn = { frames: [], now }
    this.#clock.correct(now)
    const held = this.#held()
    // What was done is not offered under another number either.
    const claims = this.#board.state().moved ? [...held, ...this.#claims.resting()] : held
    if (claims.length + this.#claims.restless().length === 0) return turn.frames
    const { isClosed } = statusesOf(this.#board.config())
    const isOpen: IsOpen = ({ status }) => !isClosed(status)
    // One whose task another came to is over.
    const left = this.#follow(claims, isOpen, turn) ? this.#held() : held
    for (const claim of left) this.#updateOne(claim, isOpen, turn)
    for (const claim of this.#claims.restless()) this.#rest(claim, isClosed, turn)
    this.#clock.plan(now)
    return turn.frames
  }

  #held = (): Claim[] => [...this.#claims.open(), ...this.#claims.watched()]

  /** Gives each claim the task that it is of now. Whether any claim is stored anew. */
  #follow(claims: Claim[], isOpen: IsOpen, turn: Turn): boolean {
    const { now } = turn
    const state = this.#board.state()
    const { moved = NO_MOVES, candidates = [] } = state
    const isNew = state.moved !== undefined || candidates.length > 0
    const live = claims.filter((it) => !it.end || it.end.rests || isReturning(it, now))
    // Most publications have nothing that a claim could follow.
    const some = isNew ? live : live.filter(({ twins = [] }) => twins.length > 0)
    const board = { taskOf: this.#board.stored, isOpen }
    const followed = follow(some, board, moved, candidates, now)
    if (isNew) {
      delete state.moved
      state.candidates = followed.candidates
      this.#board.save(state)
    }
    for (const claim of followed.others) this.#writes.store(claim)
    const moving = claims.flatMap((claim) => {
      const to = followed.moves.get(claim.generation)
      return to ? [{ claim, to }] : []
    })
    // First all: one leaves the task that another comes to.
    for (const { claim } of moving) {
      this.#board.layOver(claim.task, undefined, this.#board.head() + 1)
    }
    for (const { claim, to } of moving) {
      const { twins: _, parent: __, ...kept } = claim
      const { id: task, title, parent } = to
      const end = kept.end?.rests
        ? { ...kept.end, rests: restOf(this.#board.stored(task), undefined) }
        : kept.end
      const there = {
        ...kept,
        task,
        title,
        ...(parent !== undefined && { parent }),
        ...(end && { end }),
      }
      this.#writes.storeAndSend(there, turn, 'moved')
      this.#writes.markTaken(task, claim.generation)
    }
    return followed.others.length + moving.length > 0
  }

  /** The task of one that was done has changed. */
  #rest(claim: Claim, isClosed: (status: string) => boolean, turn: Turn): void {
    const task = this.#board.stored(claim.task)
    if (!claim.end?.rests) return
    const { rests } = claim.end
    const { openAt = turn.now, ...before } = rests
    // The main tree is on a branch without it: each worktree’s copy looks like a change then.
    const there = rests.from !== undefined && task?.inMain === false ? undefined : task
    const isOver = there !== undefined && isReopened(rests, there, isClosed)
    const next = isOver ? { ...before, openAt } : { ...before, ...seenOf(there) }
    this.#writes.store({ ...claim, end: { ...claim.end, rests: next } })
  }

  #updateOne(claim: Claim, isOpen: IsOpen, turn: Turn): void {
    const { now } = turn
    const task = this.#board.stored(claim.task)
    const reading: Reading = !task ? 'deleted' : isOpen(task) ? 'open' : 'closed'
    const hasRoom = () => this.#claims.validOf(claim.actor, now).length < claim.max
    const verdict = verdictOf(claim, task, reading, now, hasRoom)
    if (verdict === 'closed' || verdict === 'deleted') {
      this.#writes.end(claim, endedBy(verdict, now), turn)
    } else if (verdict === 'returns') {
      const { end: _, ...open } = claim
      this.#writes.storeAndSend(open, turn, 'returned')
    } else if (verdict === 'over' && claim.end) {
      this.#writes.store({ ...claim, end: { ...seen(task), ...overEnd(claim.end) } })
    }
  }
}
