// One thing that is kept current: fetched when it is wanted, again while that fails.

import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Found } from './reads.ts'
import { isFinal } from './stream-end.ts'
import { BoardError } from './types.ts'

export interface FollowedDeps {
  read(): Promise<Found>
  /** What was read; also when it is what was read before. */
  tell(found: Found): void
  /** It succeeded or failed, or has become late. */
  changed(): void
  clock: Clock
}

/** What takes longer than this is not current any more, whatever comes of it. */
const LATE_MS = 3_000

export class Followed {
  readonly #deps: FollowedDeps
  /** When it was first wanted, of what no read has begun for, and of what one is under way for. */
  #wantedAt: number | undefined
  #readingSince: number | undefined
  #doubts = 0
  #settledDoubts = 0
  #failures = 0
  #error: BoardError | undefined
  #isUnpublished: boolean = false
  #isRunning: boolean = false
  #isClosed: boolean = false
  #cancelRetry: (() => void) | undefined
  #cancelLate: (() => void) | undefined
  #onSettled: (() => void)[] = []

  constructor(deps: FollowedDeps) {
    this.#deps = deps
  }

  /** Since when it may not be current; undefined: it is. */
  get unsettledSince(): number | undefined {
    return this.#readingSince ?? this.#wantedAt
  }

  get isLate(): boolean {
    const since = this.unsettledSince
    if (since === undefined) return false
    return this.#error !== undefined || this.#deps.clock.now() - since >= LATE_MS
  }

  /** It was read since it was last doubted. */
  get isSure(): boolean {
    return this.#doubts === this.#settledDoubts
  }

  get isUnpublished(): boolean {
    return this.#isUnpublished
  }

  /** Why the last try failed. */
  get error(): BoardError | undefined {
    return this.#error
  }

  /** It may have changed. While reads fail they are tried again in their own time. */
  want(): void {
    this.#wantedAt ??= this.#deps.clock.now()
    if (!this.#isRunning && !this.#cancelRetry) void this.#run()
    this.#watchLateness()
  }

  /** Nothing was heard of it for a while: it is current only once it was read again, now. */
  doubt(): void {
    this.#doubts++
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    this.want()
  }

  /** Resolves after the read that what was wanted asks for, or after it failed. */
  settled(): Promise<void> {
    if (this.unsettledSince === undefined) return Promise.resolve()
    return new Promise((resolve) => this.#onSettled.push(resolve))
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#cancelLate?.()
    for (const resolve of this.#onSettled.splice(0)) resolve()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#wantedAt !== undefined && !this.#isClosed) {
      const since = this.#wantedAt
      const doubts = this.#doubts
      this.#readingSince = since
      this.#wantedAt = undefined
      const outcome = await this.#read()
      if (this.#isClosed) return
      this.#readingSince = undefined
      if (outcome instanceof BoardError) {
        this.#isRunning = false
        this.#failed(outcome, since)
        return
      }
      this.#settledDoubts = doubts
      this.#succeeded(outcome)
    }
    this.#isRunning = false
  }

  async #read(): Promise<Found | BoardError> {
    try {
      return await this.#deps.read()
    } catch (error) {
      return error instanceof BoardError ? error : new BoardError(0, 'unreachable', String(error))
    }
  }

  #succeeded(found: Found): void {
    this.#failures = 0
    this.#error = undefined
    this.#isUnpublished = found.state === 'unpublished'
    this.#deps.tell(found)
    if (this.#wantedAt === undefined) this.#settle()
    this.#deps.changed()
  }

  #failed(error: BoardError, since: number): void {
    const { clock, changed } = this.#deps
    this.#wantedAt = since
    this.#error = error
    this.#failures++
    this.#settle()
    // Read again it would only fail again: `doubt` alone gets past this.
    this.#cancelRetry = isFinal(error)
      ? () => undefined
      : clock.after(backoffMs(this.#failures, clock.random), () => {
          this.#cancelRetry = undefined
          void this.#run()
        })
    changed()
  }

  #settle(): void {
    this.#cancelLate?.()
    this.#cancelLate = undefined
    for (const resolve of this.#onSettled.splice(0)) resolve()
  }

  #watchLateness(): void {
    const since = this.unsettledSince
    if (since === undefined || this.#cancelLate || this.#error) return
    const { clock, changed } = this.#deps
    this.#cancelLate = clock.after(Math.max(0, since + LATE_MS - clock.now()), () => {
      this.#cancelLate = undefined
      // Of many reads in a row, another one than the timer was set for may be under way.
      if (this.isLate) changed()
      else this.#watchLateness()
    })
  }
}
