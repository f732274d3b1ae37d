// Finishes what did not finish by itself: events that were not delivered, webhooks that came before
// their payment, payments whose end nobody told us. Bounded, so that it can run every minute.

import type { Ledger } from '../ledger/ledger.ts'
import { reasonOf } from '../outbox/reason.ts'
import type { PaymentRecords, Unreadable } from '../queries/queries.ts'
import { createRecheck, type Recheck, type RecheckDeps, type Rechecked } from './reconcile.ts'
import { DAY_MS } from './schedule.ts'

export interface Sweeper {
  /** Never rejects: what fails is logged, counted, and due again later. */
  sweep(): Promise<SweepReport>
}

export interface SweeperDeps extends RecheckDeps {
  ledger: RecheckDeps['ledger'] &
    Pick<Ledger, 'dispatchDue' | 'applyParked' | 'claimChecks' | 'forget'>
  records: Pick<PaymentRecords, 'anythingDue'>
}

export interface SweepReport {
  /** Nothing was due, and the ledger was left asleep. */
  isIdle: boolean
  /** Stored events that all subscribers took, and those that one of them did not. */
  delivered: number
  undelivered: number
  /** Checks that were made, and what came of them. */
  checked: number
  moved: number
  chargedAgain: number
  unreachable: number
  alerts: number
  /** Webhook events that were old enough to be deleted. */
  forgotten: number
  /** Parts that did not succeed for a fault of ours or the database's. */
  failed: number
}

/** An endpoint that takes its 15 s for each holds up no more of them than this. */
const DISPATCHED_AT_ONCE = 60
const PARKED_AT_ONCE = 100
const CHECKS = 50
const CHECKED_AT_ONCE = 8
/** No check is begun after that, nor another round of dispatching. */
const BEGINS_FOR_MS = 25_000
/** Longer than a gateway takes with its retries: another sweep must not ask at the same time. */
const CLAIMED_FOR_MS = 120_000
const KEPT_FOR_MS = 90 * 24 * 3_600_000
const FORGOTTEN_AT_ONCE = 1_000

export function createSweeper(deps: SweeperDeps): Sweeper {
  const recheck = createRecheck(deps)
  return { sweep: () => new Sweep(deps, recheck).run() }
}

class Sweep {
  readonly #deps: SweeperDeps
  readonly #recheck: Recheck
  readonly #begunAt: number
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

  constructor(deps: SweeperDeps, recheck: Recheck) {
    this.#deps = deps
    this.#recheck = recheck
    this.#begunAt = deps.clock.now()
  }

  async run(): Promise<SweepReport> {
    const { records, log } = this.#deps
    await this.#attempt('due', {}, async () => {
      this.#report.isIdle = !(await records.anythingDue(this.#begunAt))
    })
    if (this.#report.isIdle || this.#report.failed > 0) return this.#report
    await this.#attempt('dispatch', {}, () => this.#dispatchDue())
    await this.#attempt('parked', {}, () => this.#applyParked())
    await this.#attempt('checks', {}, () => this.#check())
    await this.#attempt('retention', {}, () => this.#forget())
    log('info', 'payments.swept', { ...this.#report })
    return this.#report
  }

  /** Whatever fails here ends nothing but itself. */
  async #attempt(
    part: string,
    about: Record<string, unknown>,
    work: () => Promise<void>,
  ): Promise<void> {
    if (this.#isOver()) return
    try {
      await work()
    } catch (error) {
      this.#report.failed++
      this.#deps.log('error', 'payments.sweep_failed', { part, ...about, error: reasonOf(error) })
    }
  }

  #isOver(): boolean {
    return this.#deps.clock.now() - this.#begunAt >= BEGINS_FOR_MS
  }

  async #dispatchDue(): Promise<void> {
    const { ledger, clock } = this.#deps
    while (!this.#isOver()) {
      const claim = { now: clock.now(), limit: DISPATCHED_AT_ONCE }
      const { delivered, failed } = await ledger.dispatchDue(claim)
      this.#report.delivered += delivered
      this.#report.undelivered += failed
      if (delivered + failed < DISPATCHED_AT_ONCE) return
    }
  }

  async #applyParked(): Promise<void> {
    const { ledger, clock } = this.#deps
    await ledger.applyParked({ now: clock.now(), limit: PARKED_AT_ONCE })
  }

  async #check(): Promise<void> {
    const { ledger, clock } = this.#deps
    const now = clock.now()
    const until = now + CLAIMED_FOR_MS
    const checks = await ledger.claimChecks({ now, until, limit: CHECKS })
    const left = checks.values()
    const checkNext = async () => {
      for (const check of left) {
        if ('invalid' in check) {
          await this.#attempt('check', { transactionId: check.id }, () => this.#putAside(check))
          continue
        }
        const { id: transactionId, correlationId } = check.transaction
        await this.#attempt('check', { transactionId, correlationId }, async () => {
          this.#count(await this.#recheck(check))
        })
      }
    }
    await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, checkNext))
  }

  /** Asked again a day later, when somebody may have repaired it; it takes no turn until then. */
  async #putAside({ id: transactionId, invalid }: Unreadable): Promise<void> {
    const { ledger, clock, log } = this.#deps
    const now = clock.now()
    const alert = { kind: 'unreadable', detail: { error: invalid } } as const
    await ledger.settleCheck({ transactionId, now, nextCheckAt: now + DAY_MS, alert })
    this.#report.alerts++
    log('error', 'payments.check.unreadable', { transactionId, error: invalid })
  }

  #count({ what, alerted }: Rechecked): void {
    const report = this.#report
    report.checked++
    if (alerted) report.alerts++
    if (what === 'moved') report.moved++
    if (what === 'answered' || what === 'refused') report.chargedAgain++
    if (what === 'unreachable') report.unreachable++
  }

  async #forget(): Promise<void> {
    const { ledger } = this.#deps
    this.#report.forgotten = await ledger.forget(this.#begunAt - KEPT_FOR_MS, FORGOTTEN_AT_ONCE)
  }
}
