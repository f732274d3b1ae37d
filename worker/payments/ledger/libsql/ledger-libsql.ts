// The ledger on libSQL: each call a unit of the one group commit.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { Audience, Untold } from '../../domain/events.ts'
import type { GatewayDesk } from '../../gateways/guard/guard.ts'
import type { ChargeBegun, ChargeStart, Ledger } from '../ledger.ts'
import { beginChargeUnit, foundChargeUnit } from './charges-libsql.ts'
import { checkSoon, claimChecksUnit, settleCheck } from './checks-libsql.ts'
import type { Database, Statement } from './database-libsql.ts'
import { finishChargeUnit } from './finish-charge-libsql.ts'
import { finishRefundUnit } from './finish-refund-libsql.ts'
import type { JudgedEvent } from './move-libsql.ts'
import { findParkedUnit, parkedUnit, transactionUnit } from './parked-libsql.ts'
import { barredRefundUnit, beginRefundUnit } from './refunds-libsql.ts'
import { claimUntoldUnit, redeliverUnit, settleTold } from './telling-libsql.ts'
import { unitReader } from './unit-libsql.ts'
import { acknowledgeUnit, forgetUnit } from './upkeep-libsql.ts'
import { openWriter } from './writer-libsql.ts'

export interface LibsqlLedgerDeps {
  database: Database
  desk: GatewayDesk
  audience: Audience
  clock: Clock
  log: Log
}

/** One of them for each database: more writers stop each other. */
export function createLibsqlLedger(deps: LibsqlLedgerDeps): Ledger {
  const { database, desk, audience, log } = deps
  const { write, record } = openWriter(deps)
  const read = unitReader(database)
  const run = async (statements: Statement[]) => {
    if (statements.length > 0) await write({ statements, read: () => undefined })
  }

  /** Nearly every order has one attempt; only another costs a second round trip. */
  const beginCharge = async (start: ChargeStart): Promise<ChargeBegun> => {
    let begun = await write(beginChargeUnit(start, 1, audience))
    while (begun.state === 'other_attempt') {
      begun = await write(beginChargeUnit(start, begun.nextAttempt, audience))
    }
    return begun
  }

  /** With leave to call the gateway, which is given back when it is not going to be called. */
  const withLeave = async <Begun extends { state: string }>(
    gateway: string,
    begin: () => Promise<Begun>,
  ) => {
    const admission = await desk.admit(gateway, 'call')
    if (!admission.ok) {
      return { state: 'circuit_open', retryAfterMs: admission.retryAfterMs } as const
    }
    let isCalled = false
    try {
      const begun = await begin()
      isCalled = begun.state === 'begun'
      const { accessToken } = admission
      return isCalled && accessToken !== undefined ? { ...begun, accessToken } : begun
    } finally {
      if (!isCalled) await desk.report(gateway, 'neutral')
    }
  }

  const apply = async (events: readonly JudgedEvent[], now: number): Promise<Untold[]> => {
    const { untold, mismatches } = await write(parkedUnit(events, audience, now))
    for (const mismatch of mismatches) log('warn', 'payments.webhook.amount_mismatch', mismatch)
    return untold
  }

  return {
    admit: (gateway, purpose) => desk.admit(gateway, purpose),
    report: (gateway, verdict) => desk.report(gateway, verdict),
    accessToken: (gateway, refused) => desk.accessToken(gateway, refused),
    health: (asked) => desk.health(asked),

    webhook: record,
    checkSoon: (gateway, names, now) => run([checkSoon(gateway, names, now)]),

    async beginCharge(start) {
      const begun = await withLeave(start.request.gateway, () => beginCharge(start))
      if (begun.state !== 'circuit_open') return begun
      return (await read(foundChargeUnit(start))) ?? begun
    },
    async finishCharge(end) {
      const { parked, ...finished } = await write(finishChargeUnit(end, audience))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      if (parked.length === 0) return { ...finished, opened }
      const untold = [...finished.untold, ...(await apply(parked, end.now))]
      const transaction = await write(transactionUnit(end.transactionId))
      return { transaction, untold, opened }
    },

    // What cannot be is refused before the breaker is asked, and whatever it says.
    beginRefund: async (start) =>
      (await write(barredRefundUnit(start))) ??
      (await withLeave(start.gateway, () => write(beginRefundUnit(start)))),
    async finishRefund(end) {
      const finished = await write(finishRefundUnit(end, audience))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      return { ...finished, opened }
    },

    claimChecks: (claim) => write(claimChecksUnit(claim)),
    settleCheck: (settled) => run(settleCheck(settled)),
    async applyParked({ now, limit }) {
      const parked = await read(findParkedUnit(limit))
      return parked.length === 0 ? [] : apply(parked, now)
    },

    claimUntold: (claim) => write(claimUntoldUnit(claim)),
    settleTold: (told, now) => run(settleTold(told, now)),
    redeliver: (deliveryId, now) => write(redeliverUnit(deliveryId, now)),

    acknowledge: (alertId, by, now) => write(acknowledgeUnit(alertId, by, now)),
    forget: (before, limit) => write(forgetUnit(before, limit)),
  } satisfies Ledger
}
