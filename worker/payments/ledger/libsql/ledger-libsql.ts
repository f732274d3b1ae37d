// The ledger on libSQL: each call a unit of the one group commit.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { Subscribers } from '../../domain/events.ts'
import type { GatewayDesk } from '../../gateways/guard/guard.ts'
import { createDispatching, type Dispatch, type Outbox } from '../../outbox/dispatch.ts'
import type { ChargeBegun, ChargeStart, Ledger } from '../ledger.ts'
import { beginChargeUnit, foundChargeUnit } from './charges-libsql.ts'
import { checkSoon, claimChecksUnit, settleCheck } from './checks-libsql.ts'
import type { Database, Statement } from './database-libsql.ts'
import { finishChargeUnit } from './finish-charge-libsql.ts'
import { finishRefundUnit } from './finish-refund-libsql.ts'
import type { JudgedEvent } from './move-libsql.ts'
import { findParkedUnit, parkedUnit, transactionUnit } from './parked-libsql.ts'
import { barredRefundUnit, beginRefundUnit } from './refunds-libsql.ts'
import { claimUntoldUnit, redeliverUnit, settleDispatched } from './telling-libsql.ts'
import { unitReader } from './unit-libsql.ts'
import { acknowledgeUnit, forgetUnit } from './upkeep-libsql.ts'
import { openWriter } from './writer-libsql.ts'

export interface LibsqlLedgerDeps {
  database: Database
  desk: GatewayDesk
  subscribers: Subscribers
  dispatch: Dispatch
  clock: Clock
  log: Log
}

/** One of them for each database: more writers stop each other. */
export function createLibsqlLedger(deps: LibsqlLedgerDeps): Ledger & Outbox {
  const { database, desk, subscribers, dispatch, clock, log } = deps
  const { write, record } = openWriter({
    ...deps,
    dispatch: (pending) => dispatching.group(pending),
  })
  const read = unitReader(database)
  const run = async (statements: Statement[]) => {
    if (statements.length > 0) await write({ statements, read: () => undefined })
  }

  const outbox: Outbox = {
    claimPending: (claim) => write(claimUntoldUnit(claim)),
    settleDispatched: (outcomes, now) => run(settleDispatched(outcomes, now)),
  }
  const dispatching = createDispatching({ outbox, dispatch, clock, log })

  /** Nearly every order has one attempt; only another costs a second round trip. */
  const beginCharge = async (start: ChargeStart): Promise<ChargeBegun> => {
    let begun = await write(beginChargeUnit(start, 1, subscribers))
    while (begun.state === 'other_attempt') {
      begun = await write(beginChargeUnit(start, begun.nextAttempt, subscribers))
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

  const apply = async (events: readonly JudgedEvent[], now: number): Promise<void> => {
    const mismatches = await write(parkedUnit(events, subscribers, now))
    for (const mismatch of mismatches) log('warn', 'payments.webhook.amount_mismatch', mismatch)
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
      const { parked, ...finished } = await write(finishChargeUnit(end, subscribers))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      if (parked.length === 0) return { ...finished, opened }
      await apply(parked, end.now)
      return { transaction: await write(transactionUnit(end.transactionId)), opened }
    },

    // What cannot be is refused before the breaker is asked, and whatever it says.
    beginRefund: async (start) =>
      (await write(barredRefundUnit(start))) ??
      (await withLeave(start.gateway, () => write(beginRefundUnit(start)))),
    async finishRefund(end) {
      const transaction = await write(finishRefundUnit(end, subscribers))
      const { opened } = await desk.report(transaction.gateway, end.verdict)
      return { transaction, opened }
    },

    claimChecks: (claim) => write(claimChecksUnit(claim)),
    settleCheck: (settled) => run(settleCheck(settled)),
    async applyParked({ now, limit }) {
      const parked = await read(findParkedUnit(limit))
      if (parked.length > 0) await apply(parked, now)
    },

    ...outbox,
    dispatchDue: (claim) => dispatching.due(claim),
    redeliver: (deliveryId, now) => write(redeliverUnit(deliveryId, now)),

    acknowledge: (alertId, by, now) => write(acknowledgeUnit(alertId, by, now)),
    forget: (before, limit) => write(forgetUnit(before, limit)),
  } satisfies Ledger & Outbox
}
