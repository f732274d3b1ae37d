// Dispatches the events of a committed group to their subscribers, and settles the results. It runs
// where the ledger runs, and no answer waits for it.

import { type Clock, pause, within } from '../../shared/clock.ts'
import { type Log, reasonOf } from '../../shared/log.ts'
import type { DueClaim, EventClaim, WaitingFor } from '../acts/act.ts'
import type { Dispatched, PendingEvent } from '../acts/dispatch.ts'
import { LEASE_MS } from '../acts/store.ts'
import { counted } from '../counted.ts'
import { DueTimes, Outages, type WakeAt } from './waiting.ts'

/**
 * Brings events to their subscribers, as `Deliverer.deliver` does, wherever that runs. Rejects when
 * it could not be reached: then the sweeper dispatches them when their lease is over.
 */
export type Deliver = (
  pending: readonly PendingEvent[],
  /** Once the listeners were called: they are not awaited. Given where a charge waits for that. */
  called?: () => void,
) => Promise<readonly Dispatched[]>

export interface DispatchReport {
  /** Accepted by all of their subscribers. */
  delivered: number
  /** Not accepted by at least one: they are tried again, or given up with an alert. */
  failed: number
}

/** As many connections as one invocation may have: no event waits for another one's answer. */
const CHUNK_EVENTS = 6
/**
 * At the same time. An event has some 2 KB, and an isolate 128 MB for everything. The sweeper
 * dispatches the rest: a listener that takes its full 20 s gets 150 events a second.
 */
const MAX_UNDER_WAY = 3_000
/** If an endpoint takes its full 15 s for each event, no more than these wait for it. */
export const DUE_BATCH = 60
/** A payer waits for it. Listeners that run elsewhere may be out of reach. */
const MAX_CALLING_MS = 2_000
/** After the ledger has given up: the database may be out of reach for longer. */
const SETTLE_AGAIN_MS = 5_000

export interface DispatchDeps {
  /** Leases stored events that are due. */
  claim(claim: EventClaim): Promise<readonly PendingEvent[]>
  /** Makes what waits for an endpoint due, the oldest of it. True: there may be more. */
  hurry(waiting: WaitingFor): Promise<boolean>
  /** Stores the results. */
  settle(outcomes: readonly Dispatched[], now: number): Promise<void>
  deliver: Deliver
  /** Gets the work of each group, until its results are stored. A host that ends waits for it. */
  keepAlive?: ((work: Promise<unknown>) => void) | undefined
  wakeAt?: WakeAt | undefined
  clock: Clock
  log: Log
}

export function createDispatch(deps: DispatchDeps) {
  const { claim: claimDue, hurry, settle, deliver, keepAlive, wakeAt, clock, log } = deps
  const outages = new Outages(clock)
  const dueTimes = new DueTimes(clock, wakeAt)
  /** Their ids. When a call is repeated, its event is still pending until it is settled. */
  const underWay = new Set<string>()
  /** By transaction: charges whose listeners are being called. */
  const calling = new Map<string, Promise<void>>()

  /** Tries until the lease ends: an event that was delivered and not settled is delivered twice. */
  async function settleWithin(leaseEnd: number, outcomes: readonly Dispatched[]): Promise<void> {
    for (;;) {
      try {
        return await settle(outcomes, clock.now())
      } catch (error) {
        if (clock.elapsed() + SETTLE_AGAIN_MS >= leaseEnd) throw error
        await pause(clock, SETTLE_AGAIN_MS)
      }
    }
  }

  /** Never rejects: an event that is not settled is due again when its lease ends. */
  async function dispatchChunk(chunk: readonly PendingEvent[]): Promise<DispatchReport> {
    const initiated = chunk.filter(isCalledFirst)
    const { promise: isCalled, resolve: called } = Promise.withResolvers<void>()
    for (const { outboxId } of chunk) underWay.add(outboxId)
    for (const { transactionId } of initiated) calling.set(transactionId, isCalled)
    try {
      const outcomes = await deliverChunk(chunk, initiated.length > 0 ? called : undefined)
      const delivered = outcomes.filter(isDelivered).length
      return { delivered, failed: chunk.length - delivered }
    } catch (error) {
      log('error', 'payments.dispatch.failed', { events: chunk.length, error: reasonOf(error) })
      return { delivered: 0, failed: chunk.length }
    } finally {
      called()
      for (const { transactionId } of initiated) calling.delete(transactionId)
      for (const { outboxId } of chunk) underWay.delete(outboxId)
    }
  }

  /** Resolves when the results are stored. */
  async function deliverChunk(
    chunk: readonly PendingEvent[],
    called: (() => void) | undefined,
  ): Promise<readonly Dispatched[]> {
    const leaseEnd = clock.elapsed() + LEASE_MS
    const outcomes = await deliver(chunk, called)
    for (const { listeners, delivery } of outcomes) {
      logOutcome('listeners', listeners)
      logOutcome('endpoint', delivery)
    }
    await settleWithin(leaseEnd, outcomes)
    for (const { listeners, delivery } of outcomes) {
      dueTimes.add(listeners?.nextAttemptAt)
      dueTimes.add(delivery?.nextAttemptAt)
    }
    dueTimes.wake()
    for (const [endpoint, since] of outages.recovered(chunk, outcomes)) {
      const hurried = hurryAll(endpoint, since)
      keepAlive?.(hurried)
    }
    return outcomes
  }

  /** Never rejects: what it leaves is tried at its own time. */
  async function hurryAll(endpoint: string, since: number): Promise<void> {
    try {
      for (let isMore = true; isMore; ) {
        const now = clock.now()
        isMore = await hurry({ endpoint, since, now })
        dueTimes.add(now)
        dueTimes.wake()
      }
    } catch (error) {
      log('warn', 'payments.dispatch.not_hurried', { error: reasonOf(error) })
    }
  }

  function logOutcome(subscriber: 'listeners' | 'endpoint', result: Dispatched['listeners']): void {
    if (!result) return
    const { ok, nextAttemptAt } = result
    const outcome = ok ? 'delivered' : nextAttemptAt === undefined ? 'dead' : 'failed'
    counted(log, 'debug', 'payments.event.dispatched', { subscriber, outcome })
  }

  function dispatchAll(pending: readonly PendingEvent[]): Promise<DispatchReport>[] {
    const fresh = pending.filter(({ outboxId }) => !underWay.has(outboxId))
    const taken = fresh.slice(0, Math.max(0, MAX_UNDER_WAY - underWay.size))
    const left = fresh.length - taken.length
    if (left > 0) log('warn', 'payments.dispatch.postponed', { events: left })
    return chunksOf(taken, CHUNK_EVENTS).map(dispatchChunk)
  }

  /**
   * What has waited reaches its endpoint in order, for each payment: one event of each after the
   * other. What is left when the lease is half over is due again at its end.
   */
  async function dispatchInOrder(claimed: readonly PendingEvent[]): Promise<DispatchReport[]> {
    const endsAt = clock.elapsed() + LEASE_MS / 2
    const reports: DispatchReport[] = []
    for (let left = claimed; left.length > 0 && clock.elapsed() < endsAt; ) {
      const turn = left.filter(isFirstOfPayment)
      reports.push(...(await Promise.all(dispatchAll(turn))))
      left = left.filter((event) => !turn.includes(event))
    }
    return reports
  }

  return {
    /** Dispatches what a committed group caused. Answers at once and never throws. */
    dispatch(pending: readonly PendingEvent[]): void {
      if (pending.length === 0) return
      const dispatched = Promise.all(dispatchAll(pending))
      keepAlive?.(dispatched)
    },
    /** Resolves once the listeners of a new charge were called, before its gateway is. */
    async called(transactionId: string): Promise<void> {
      const isCalled = calling.get(transactionId)
      if (isCalled) await within(clock, MAX_CALLING_MS, () => isCalled).catch(() => undefined)
    },
    /** Dispatches what is due, and resolves when the results are stored. */
    async dispatchDue(claim: DueClaim): Promise<DispatchReport> {
      const elapsed = clock.elapsed()
      const come = dueTimes.come(claim.now)
      const dueBy = Math.max(claim.now, ...come)
      const claimed = await claimDue({ ...claim, dueBy })
      dueTimes.claimed(come)
      const reports = await dispatchInOrder(claimed)
      // There may be more than one call takes.
      if (claimed.length === claim.limit) dueTimes.stillDue(dueBy, elapsed)
      dueTimes.wakeAgain()
      const sum = (name: keyof DispatchReport) =>
        reports.reduce((total, report) => total + report[name], 0)
      return { delivered: sum('delivered'), failed: sum('failed') }
    },
  }
}

const isFirstOfPayment = (
  { transactionId }: PendingEvent,
  at: number,
  all: readonly PendingEvent[],
): boolean => all.findIndex((event) => event.transactionId === transactionId) === at

const isCalledFirst = ({ type, listeners }: PendingEvent): boolean =>
  type === 'PaymentInitiated' && listeners !== undefined

const isDelivered = ({ listeners, delivery }: Dispatched): boolean =>
  listeners?.ok !== false && delivery?.ok !== false

const chunksOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
