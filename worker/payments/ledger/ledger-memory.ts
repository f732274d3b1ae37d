// The ledger in memory: what tests measure others by, written from the ports and not from the SQL.
// It keeps nothing when the process ends.

import type { Log } from '../../shared/log.ts'
import type { Audience } from '../domain/events.ts'
import type { GatewayDesk } from '../gateways/guard/guard.ts'
import { Book } from './book-memory.ts'
import { beginCharge, finishCharge, foundCharge } from './charges-memory.ts'
import type { Ledger } from './ledger.ts'
import { memoryRecords } from './records-memory.ts'
import { barredRefund, beginRefund, finishRefund } from './refunds-memory.ts'
import { iso } from './rows-memory.ts'
import {
  checkSoon,
  claimChecks,
  claimUntold,
  redeliver,
  settleCheck,
  settleTold,
} from './sweeps-memory.ts'
import { applyParked, recordEvent } from './webhooks-memory.ts'

export interface MemoryLedgerDeps {
  desk: GatewayDesk
  audience: Audience
  log: Log
}

export function createMemoryLedger({ desk, audience, log }: MemoryLedgerDeps): {
  ledger: Ledger
  records: ReturnType<typeof memoryRecords>
} {
  const book = new Book(audience, log)

  /** With leave to call the gateway, which is given back when it will not be called. */
  const withLeave = async <Begun extends { state: string }>(
    gateway: string,
    begin: () => Begun,
  ) => {
    const admission = await desk.admit(gateway, 'call')
    if (!admission.ok) {
      return { state: 'circuit_open', retryAfterMs: admission.retryAfterMs } as const
    }
    // A copy: whoever gets it cannot move what is stored.
    const begun = structuredClone(begin())
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

    webhook: async (arrival) => recordEvent(book, arrival),
    checkSoon: async (gateway, names, now) => checkSoon(book, gateway, names, now),

    async beginCharge(start) {
      const begun = await withLeave(start.request.gateway, () => beginCharge(book, start))
      if (begun.state !== 'circuit_open') return begun
      return structuredClone(foundCharge(book, start)) ?? begun
    },
    async finishCharge(end) {
      const finished = structuredClone(finishCharge(book, end))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      return { ...finished, opened }
    },
    beginRefund: async (start) =>
      structuredClone(barredRefund(book, start)) ??
      (await withLeave(start.gateway, () => beginRefund(book, start))),
    async finishRefund(end) {
      const finished = structuredClone(finishRefund(book, end))
      const { opened } = await desk.report(finished.transaction.gateway, end.verdict)
      return { ...finished, opened }
    },

    claimChecks: async (claim) => structuredClone(claimChecks(book, claim)),
    settleCheck: async (settled) => settleCheck(book, structuredClone(settled)),
    applyParked: async (claim) => applyParked(book, claim),

    claimUntold: async (claim) => claimUntold(book, claim),
    settleTold: async (told, now) => settleTold(book, told, now),
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
  } satisfies Ledger

  return { ledger, records: memoryRecords(book) }
}
