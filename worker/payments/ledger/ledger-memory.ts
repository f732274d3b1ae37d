// The ledger in memory: what tests measure others by, written from the ports and not from the SQL.
// It keeps nothing when the process ends.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { PendingEvent, Subscribers } from '../domain/events.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { GatewayDesk } from '../gateways/guard/guard.ts'
import { createDispatching, type Dispatch, type Outbox } from '../outbox/dispatch.ts'
import { Book } from './book-memory.ts'
import { beginCharge, finishCharge, foundCharge } from './charges-memory.ts'
import type { Ledger, Recorded } from './ledger.ts'
import { memoryRecords } from './records-memory.ts'
import { barredRefund, beginRefund, finishRefund } from './refunds-memory.ts'
import { iso } from './rows-memory.ts'
import {
  checkSoon,
  claimChecks,
  claimPending,
  redeliver,
  settleCheck,
  settleDispatched,
} from './sweeps-memory.ts'
import { applyParked, recordEvent } from './webhooks-memory.ts'

export interface MemoryLedgerDeps {
  desk: GatewayDesk
  subscribers: Subscribers
  dispatch: Dispatch
  clock: Clock
  log: Log
}

export function createMemoryLedger(deps: MemoryLedgerDeps): {
  ledger: Ledger & Outbox
  records: ReturnType<typeof memoryRecords>
} {
  const { desk, subscribers, dispatch, clock, log } = deps
  const book = new Book(subscribers, log)
  const outbox: Outbox = {
    claimPending: async (claim) => claimPending(book, claim),
    settleDispatched: async (outcomes, now) => settleDispatched(book, outcomes, now),
  }
  const dispatching = createDispatching({ outbox, dispatch, clock, log })
  /** A copy, so that nobody moves what is stored, without the events: those are dispatched. */
  const dispatched = <Answer extends object>(caused: Answer & { untold?: PendingEvent[] }) => {
    const answer = structuredClone(caused)
    dispatching.group(answer.untold ?? [])
    delete answer.untold
    return answer as Answer
  }

  /** With leave to call the gateway, which is given back when it will not be called. */
  const withLeave = async <Begun extends { state: string }>(
    gateway: string,
    begin: () => Begun,
  ) => {
    const admission = await desk.admit(gateway, 'call')
    if (!admission.ok) {
      return { state: 'circuit_open', retryAfterMs: admission.retryAfterMs } as const
    }
    const begun = dispatched<Begun>(begin())
    if (begun.state !== 'begun') {
      await desk.report(gateway, 'neutral')
      return begun
    }
    const { accessToken } = admission
    return accessToken === undefined ? begun : { ...begun, accessToken }
  }

  const ledger = {
    admit: (gateway, purpose) => desk.admit(gateway, purpose),
    report: (gateway, verdict) => desk.report(gateway, verdict),
    accessToken: (gateway, refused) => desk.accessToken(gateway, refused),
    health: (asked) => desk.health(asked),

    webhook: async (arrival) => dispatched<Recorded>(recordEvent(book, arrival)),
    checkSoon: async (gateway, names, now) => checkSoon(book, gateway, names, now),

    async beginCharge(start) {
      const begun = await withLeave(start.request.gateway, () => beginCharge(book, start))
      if (begun.state !== 'circuit_open') return begun
      return structuredClone(foundCharge(book, start)) ?? begun
    },
    async finishCharge(end) {
      const finished = dispatched<{ transaction: Transaction }>(finishCharge(book, end))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      return { ...finished, opened }
    },
    beginRefund: async (start) =>
      structuredClone(barredRefund(book, start)) ??
      (await withLeave(start.gateway, () => beginRefund(book, start))),
    async finishRefund(end) {
      const finished = dispatched<{ transaction: Transaction }>(finishRefund(book, end))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      return { ...finished, opened }
    },

    claimChecks: async (claim) => structuredClone(claimChecks(book, claim)),
    settleCheck: async (settled) => settleCheck(book, structuredClone(settled)),
    applyParked: async (claim) => dispatching.group(applyParked(book, claim)),

    ...outbox,
    dispatchDue: (claim) => dispatching.due(claim),
    redeliver: async (deliveryId, now) => redeliver(book, deliveryId, now),

    async acknowledge(alertId, by, now) {
      const alert = book.alerts.get(alertId)?.record
      if (!alert) return false
      alert.acknowledgedBy ??= by
      alert.acknowledgedAt ??= iso(now)
      return true
    },
    async forget(before, limit) {
      const old = [...book.events.values()].filter(
        ({ arrival, record }) => record.outcome !== 'parked' && arrival.receivedAt < before,
      )
      const forgotten = old.slice(0, limit)
      for (const { record } of forgotten) book.events.delete(record.id)
      return forgotten.length
    },
  } satisfies Ledger & Outbox

  return { ledger, records: memoryRecords(book) }
}
