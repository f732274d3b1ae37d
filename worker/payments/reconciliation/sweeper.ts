// The sweeper: delivers pending events, applies webhooks that arrived before their payment, and
// reconciles payments whose webhook was lost. Its work is bounded, so that it can run every minute.

import { reasonOf } from '../../shared/log.ts'
import { counted } from '../counted.ts'
import { CHECK_CLAIM_MS } from '../domain/check-times.ts'
import { DAY_MS } from '../domain/time.ts'
import type { SweepReport } from '../domain/types.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { DUE_BATCH } from '../outbox/dispatch.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import { type ReconcileDeps, type Reconciled, reconcile } from './reconcile.ts'

export type Sweeper = ReturnType<typeof createSweeper>

export interface SweeperDeps extends ReconcileDeps {
  ledger: ReconcileDeps['ledger'] &
    Pick<Ledger, 'dispatchDue' | 'applyParked' | 'claimChecks' | 'dropOldEvents'>
  queries: Pick<PaymentQueries, 'waiting'>
  /** How long the keys of old events are kept; undefined: for ever. */
  eventKeysMs?: number | undefined
}

const PARKED_BATCH = 100
const MAX_CHECKS = 50
const CONCURRENT_CHECKS = 8
/** After this time no check and no dispatch round starts. */
const MAX_START_MS = 25_000
const RETENTION_MS = 90 * DAY_MS
const RETENTION_BATCH = 1_000

export function createSweeper(deps: SweeperDeps) {
  return {
    /** Never rejects: failures are logged and counted, and the work is due again later. */
    sweep: (): Promise<SweepReport> => new Sweep(deps).run(),
    /** The first part of it, for a start: counts what waits, and logs that a database is away. */
    async look(): Promise<void> {
      await new Sweep(deps).run({ isLook: true })
    },
  }
}

class Sweep {
  readonly #deps: SweeperDeps
  readonly #startedAt: number
  readonly #report: SweepReport = {
    isIdle: false,
    delivered: 0,
    undelivered: 0,
    checked: 0,
    moved: 0,
    chargedAgain: 0,
    unreachable: 0,
    alerts: 0,
    forgotten: 0,
    failed: 0,
  }

  constructor(deps: SweeperDeps) {
    this.#deps = deps
    this.#startedAt = deps.clock.elapsed()
  }

  /** `isLook`: what waits is only counted. */
  async run({ isLook = false } = {}): Promise<SweepReport> {
    await this.#countWaiting()
    if (!isLook && !this.#report.isIdle && this.#report.failed === 0) await this.#work()
    const { failed } = this.#report
    counted(this.#deps.log, 'debug', 'payments.sweep.ended', { failed })
    return this.#report
  }

  async #countWaiting(): Promise<void> {
    const { queries, clock, log } = this.#deps
    await this.#attempt('due', {}, async () => {
      const now = clock.now()
      const waiting = await queries.waiting(now)
      counted(log, 'debug', 'payments.sweep.waiting', { ...waiting, now })
      this.#report.isIdle = !waiting.isDue
    })
  }

  async #work(): Promise<void> {
    // An endpoint that hangs must not hold up the checks.
    await Promise.all([
      this.#attempt('dispatch', {}, () => this.#dispatchDue()),
      this.#settleOpen(),
    ])
    this.#deps.log('info', 'payments.swept', { ...this.#report })
  }

  async #settleOpen(): Promise<void> {
    await this.#attempt('parked', {}, () => this.#applyParked())
    await this.#attempt('checks', {}, () => this.#check())
    await this.#attempt('retention', {}, () => this.#deleteOld())
  }

  /** A failure of one part does not stop the others. */
  async #attempt(
    part: string,
    fields: Record<string, unknown>,
    work: () => Promise<void>,
  ): Promise<void> {
    if (this.#isOver()) return
    try {
      await work()
    } catch (error) {
      this.#report.failed++
      this.#deps.log('error', 'payments.sweep_failed', { part, ...fields, error: reasonOf(error) })
    }
  }

  #isOver(): boolean {
    return this.#deps.clock.elapsed() - this.#startedAt >= MAX_START_MS
  }

  async #dispatchDue(): Promise<void> {
    const { ledger, clock } = this.#deps
    while (!this.#isOver()) {
      const claim = { now: clock.now(), limit: DUE_BATCH }
      const { delivered, failed } = await ledger.dispatchDue(claim)
      this.#report.delivered += delivered
      this.#report.undelivered += failed
      if (delivered + failed < DUE_BATCH) return
    }
  }

  async #applyParked(): Promise<void> {
    const { ledger, clock } = this.#deps
    await ledger.applyParked({ now: clock.now(), limit: PARKED_BATCH })
  }

  async #check(): Promise<void> {
    const { ledger, clock } = this.#deps
    const now = clock.now()
    const until = now + CHECK_CLAIM_MS
    const checks = await ledger.claimChecks({ now, until, limit: MAX_CHECKS })
    const remaining = checks.values()
    const checkNext = async () => {
      for (const check of remaining) {
        const { id: transactionId, correlation_id } = check.transaction
        const fields = { transactionId, correlationId: correlation_id ?? undefined }
        await this.#attempt('check', fields, async () => {
          this.#count(await reconcile(this.#deps, check))
        })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT_CHECKS }, checkNext))
  }

  #count({ result, isAlerted }: Reconciled): void {
    const report = this.#report
    report.checked++
    if (isAlerted) report.alerts++
    if (result === 'moved') report.moved++
    if (result === 'answered' || result === 'refused') report.chargedAgain++
    if (result === 'unreachable') report.unreachable++
  }

  async #deleteOld(): Promise<void> {
    const { ledger, clock, eventKeysMs } = this.#deps
    const now = clock.now()
    const keysBefore = eventKeysMs === undefined ? undefined : now - eventKeysMs
    this.#report.forgotten = await ledger.dropOldEvents(
      now - RETENTION_MS,
      RETENTION_BATCH,
      keysBefore,
    )
  }
}
