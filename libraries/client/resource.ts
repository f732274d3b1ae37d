// Keeps one read endpoint up to date: reads again after each change, and retries after a failure.

import { backoffMs, type Clock } from '../../worker/shared/clock.ts'
import type { ReadResult } from './reads.ts'
import { RETRY } from './requests.ts'
import { isFinal } from './stream.ts'
import { BoardError } from './types.ts'

export interface ResourceDeps {
  read(): Promise<ReadResult>
  /** After each successful read, also if the value is the same as before. */
  onRead(result: ReadResult): void
  /** After each read, successful or not, and when a read becomes late. */
  onStatus(): void
  clock: Clock
}

/** While a read takes longer than this, the value counts as outdated. */
const LATE_MS = 3_000

export class Resource {
  readonly #deps: ResourceDeps
  /** When the first change came for which no read has begun. */
  #staleAt: number | undefined
  /** When the first change came for which a read is in progress. */
  #readingSince: number | undefined
  #seq: string | undefined
  #revalidations = 0
  #doneRevalidations = 0
  #failures = 0
  #error: BoardError | undefined
  #isUnpublished: boolean = false
  #isRunning: boolean = false
  #isClosed: boolean = false
  #cancelRetry: (() => void) | undefined
  #cancelLate: (() => void) | undefined
  #onSettled: (() => void)[] = []

  constructor(deps: ResourceDeps) {
    this.#deps = deps
  }

  /** Since when the value may be outdated; undefined: it is current. */
  get staleSince(): number | undefined {
    return this.#readingSince ?? this.#staleAt
  }

  /** Id of the last change that the value is known to have. */
  get seq(): string | undefined {
    return this.#seq
  }

  get isLate(): boolean {
    const since = this.staleSince
    if (since === undefined) return false
    return this.#error !== undefined || this.#deps.clock.elapsed() - since >= LATE_MS
  }

  /** The value was read since the last `revalidate`. */
  get isConfirmed(): boolean {
    return this.#revalidations === this.#doneRevalidations
  }

  get isUnpublished(): boolean {
    return this.#isUnpublished
  }

  /** Why the last read failed. */
  get error(): BoardError | undefined {
    return this.#error
  }

  /** The value may have changed: reads it. While reads fail, only the retry timer reads. */
  invalidate(): void {
    this.#staleAt ??= this.#deps.clock.elapsed()
    if (!this.#isRunning && !this.#cancelRetry) void this.#run()
    this.#watchLateness()
  }

  /** Changes may have been missed: reads now, and `isConfirmed` is false until it succeeded. */
  revalidate(): void {
    this.#revalidations++
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    this.invalidate()
  }

  /** Resolves after the pending read, successful or not. */
  settled(): Promise<void> {
    if (this.staleSince === undefined) return Promise.resolve()
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
    while (this.#staleAt !== undefined && !this.#isClosed) {
      const since = this.#staleAt
      const revalidations = this.#revalidations
      this.#readingSince = since
      this.#staleAt = undefined
      const outcome = await this.#read()
      if (this.#isClosed) return
      this.#readingSince = undefined
      if (outcome instanceof BoardError) {
        this.#isRunning = false
        this.#failed(outcome, since)
        return
      }
      this.#doneRevalidations = revalidations
      this.#succeeded(outcome)
    }
    this.#isRunning = false
  }

  async #read(): Promise<ReadResult | BoardError> {
    try {
      return await this.#deps.read()
    } catch (error) {
      return error instanceof BoardError ? error : new BoardError(0, 'unreachable', String(error))
    }
  }

  #succeeded(result: ReadResult): void {
    this.#failures = 0
    this.#error = undefined
    this.#isUnpublished = result.state === 'unpublished'
    this.#seq = result.state === 'found' ? result.seq : undefined
    this.#deps.onRead(result)
    if (this.#staleAt === undefined) this.#settle()
    this.#deps.onStatus()
  }

  #failed(error: BoardError, since: number): void {
    const { clock, onStatus } = this.#deps
    this.#staleAt = since
    this.#error = error
    this.#failures++
    this.#settle()
    // After a final error another read would fail again, so there is no retry. This no-op keeps
    // `invalidate` from reading; only `revalidate` does.
    this.#cancelRetry = isFinal(error)
      ? () => undefined
      : clock.after(backoffMs(this.#failures, RETRY, clock.random()), () => {
          this.#cancelRetry = undefined
          void this.#run()
        })
    onStatus()
  }

  #settle(): void {
    this.#cancelLate?.()
    this.#cancelLate = undefined
    for (const resolve of this.#onSettled.splice(0)) resolve()
  }

  #watchLateness(): void {
    const since = this.staleSince
    if (since === undefined || this.#cancelLate || this.#error) return
    const { clock, onStatus } = this.#deps
    this.#cancelLate = clock.after(Math.max(0, since + LATE_MS - clock.elapsed()), () => {
      this.#cancelLate = undefined
      // The timer may have been set for an earlier read than the one in progress.
      if (this.isLate) onStatus()
      else this.#watchLateness()
    })
  }
}
