import { describe, expect, it } from 'vitest'
import { FakeClock, settle } from '../../../../libraries/testing/fake-clock.ts'
import type { EventClaim } from '../../../../worker/payments/acts/act.ts'
import type { Dispatched, PendingEvent } from '../../../../worker/payments/acts/dispatch.ts'
import { createDispatch, type Deliver } from '../../../../worker/payments/outbox/dispatch.ts'
import { keptLog, pendingEvent } from '../../../support/payments.ts'

const events = (count: number, from = 0): PendingEvent[] =>
  Array.from({ length: count }, (_, at) =>
    pendingEvent({
      outboxId: `event-${from + at}`,
      transactionId: `tx-${from + at}`,
      listeners: { attempts: 0 },
    }),
  )
const idsOf = (pending: readonly { outboxId: string }[]) => pending.map(({ outboxId }) => outboxId)
const ok = ({ outboxId }: PendingEvent): Dispatched => ({ outboxId, listeners: { ok: true } })

/** `deliver` returns the results of a chunk. What is settled is recorded. */
function setup(
  deliver: Deliver = async (pending) => pending.map(ok),
  due: PendingEvent[] = [],
  onClaim: (claim: EventClaim) => void = () => undefined,
) {
  const { log, lines } = keptLog()
  const chunks: string[][] = []
  const settled: string[][] = []
  let gate: Promise<void> | undefined
  const wakes: number[] = []
  const clock = new FakeClock()
  const outbox = createDispatch({
    wakeAt: (at) => wakes.push(at),
    async claim(claim) {
      onClaim(claim)
      return due.splice(0, claim.limit)
    },
    hurry: async () => false,
    async settle(outcomes) {
      settled.push(idsOf(outcomes))
      await gate
    },
    deliver: (pending, called) => {
      chunks.push(idsOf(pending))
      return deliver(pending, called)
    },
    clock,
    log,
  })
  /** Holds settlements back until the returned function is called. */
  const holdStore = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return () => {
      gate = undefined
      resolve()
    }
  }
  return { outbox, lines, chunks, settled, holdStore, wakes, clock }
}

describe('a new charge', () => {
  const initiated = pendingEvent({
    outboxId: 'event-1',
    type: 'PaymentInitiated',
    transactionId: 'tx-1',
    listeners: { attempts: 0 },
  })
  const isOver = async (work: Promise<unknown>) => {
    let over = false
    void work.then(() => {
      over = true
    })
    await settle()
    return over
  }

  it('waits until its listeners were called, and not for what they do', async () => {
    let call: (() => void) | undefined
    const { outbox } = setup((_pending, called) => {
      call = called
      return new Promise(() => undefined)
    })
    outbox.dispatch([initiated])
    const waiting = outbox.called('tx-1')
    expect(await isOver(waiting)).toBe(false)
    call?.()
    expect(await isOver(waiting)).toBe(true)
  })

  it('waits two seconds at most, for listeners that are out of reach', async () => {
    const { outbox, clock } = setup(() => new Promise(() => undefined))
    outbox.dispatch([initiated])
    const waiting = outbox.called('tx-1')
    expect(await isOver(waiting)).toBe(false)
    await clock.advance(2_000)
    expect(await isOver(waiting)).toBe(true)
  })

  it('waits for nothing where nobody listens to it, or its dispatch failed', async () => {
    const { outbox } = setup(() => Promise.reject(new Error('away')))
    expect(await isOver(outbox.called('tx-1'))).toBe(true)
    outbox.dispatch([initiated])
    expect(await isOver(outbox.called('tx-1'))).toBe(true)
  })
})

describe('the events of a committed group', () => {
  it('are dispatched six at a time, all at once, and settled', async () => {
    const { outbox, chunks, settled } = setup()
    outbox.dispatch(events(14))
    expect(chunks.map(({ length }) => length)).toEqual([6, 6, 2])
    expect(chunks.flat()).toEqual(idsOf(events(14)))
    await settle()
    expect(settled.flat().toSorted()).toEqual(idsOf(events(14)).toSorted())
  })

  it('do not wait for a chunk that hangs', async () => {
    const { outbox, settled } = setup((pending) =>
      pending.some(({ outboxId }) => outboxId === 'event-0')
        ? new Promise(() => undefined)
        : Promise.resolve(pending.map(ok)),
    )
    outbox.dispatch(events(12))
    outbox.dispatch(events(3, 12))
    await settle()
    expect(settled.flat()).toEqual(idsOf(events(9, 6)))
  })

  it('are left to the sweeper when dispatching fails, and the next ones are dispatched', async () => {
    let isGone = true
    const { outbox, settled, lines } = setup(async (pending) => {
      if (isGone) throw new Error('gone')
      return pending.map(ok)
    })
    outbox.dispatch(events(1))
    await settle()
    expect(lines).toMatchObject([
      { level: 'error', event: 'payments.dispatch.failed', fields: { error: 'Error: gone' } },
    ])
    isGone = false
    outbox.dispatch(events(2))
    await settle()
    expect(settled).toEqual([['event-0', 'event-1']])
  })

  describe('that the database could not settle', () => {
    /** Settling fails as long as `isDown` returns true. */
    function brokenSetup(isDown: () => boolean) {
      const { log, lines } = keptLog()
      const settled: string[][] = []
      const clock = new FakeClock()
      let dispatched = 0
      const outbox = createDispatch({
        hurry: async () => false,
        claim: async () => [],
        async settle(outcomes) {
          if (isDown()) throw new Error('down')
          settled.push(idsOf(outcomes))
        },
        deliver: async (pending) => {
          dispatched += pending.length
          return pending.map(ok)
        },
        clock,
        log,
      })
      return { outbox, clock, lines, settled, dispatched: () => dispatched }
    }

    it('are settled some seconds later, and not delivered again', async () => {
      let isDown = true
      const { outbox, clock, settled, dispatched } = brokenSetup(() => isDown)
      outbox.dispatch(events(2))
      await clock.advance(12_000)
      expect(settled).toEqual([])
      isDown = false
      await clock.advance(5_000)
      expect(settled).toEqual([['event-0', 'event-1']])
      expect(dispatched()).toBe(2)
      expect(clock.pending).toBe(0)
    })

    it('do not block others, and are given up when their lease is over', async () => {
      let isDown = true
      const { outbox, clock, lines, settled } = brokenSetup(() => isDown)
      outbox.dispatch(events(1))
      await clock.advance(60_000)
      expect(lines).toMatchObject([{ event: 'payments.dispatch.failed', fields: { events: 1 } }])
      isDown = false
      outbox.dispatch(events(1, 1))
      await settle()
      expect(settled).toEqual([['event-1']])
      expect(clock.pending).toBe(0)
    })
  })

  it('are not dispatched again while they are under way', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { outbox, chunks } = setup(async (pending) => {
      await promise
      return pending.map(ok)
    })
    outbox.dispatch(events(2))
    outbox.dispatch(events(3))
    expect(chunks).toEqual([['event-0', 'event-1'], ['event-2']])
    resolve()
    await settle()
    outbox.dispatch(events(1))
    expect(chunks).toHaveLength(3)
  })

  it('are left to the sweeper while 3,000 are under way, so that memory is bounded', async () => {
    const { outbox, chunks, lines } = setup(() => new Promise(() => undefined))
    for (let from = 0; from < 3_200; from += 64) outbox.dispatch(events(64, from))
    expect(chunks.flat()).toHaveLength(3_000)
    expect(lines).not.toEqual([])
    expect(new Set(lines.map(({ event }) => event))).toEqual(
      new Set(['payments.dispatch.postponed']),
    )
  })
})

describe('the events that are due', () => {
  it('are dispatched in the same way, and counted when their results are stored', async () => {
    const failed = ({ outboxId }: PendingEvent): Dispatched => ({
      outboxId,
      listeners: { ok: true },
      delivery: { id: outboxId, ok: false, nextAttemptAt: 9 },
    })
    const { outbox, chunks, settled, holdStore } = setup(
      async (pending) => pending.map((event, at) => (at === 0 ? failed(event) : ok(event))),
      events(20),
    )
    const release = holdStore()
    let report: unknown
    const reporting = outbox.dispatchDue({ now: 0, limit: 10 }).then((it) => {
      report = it
    })
    await settle()
    expect(chunks.map(({ length }) => length)).toEqual([6, 4])
    expect(report).toBeUndefined()
    release()
    await reporting
    expect(report).toEqual({ delivered: 8, failed: 2 })
    expect(settled.flat()).toHaveLength(10)
  })

  it('are dispatched one after the other for each payment', async () => {
    const of = (outboxId: string, transactionId: string) =>
      pendingEvent({ outboxId, transactionId, listeners: { attempts: 0 } })
    const due = [of('a1', 'a'), of('a2', 'a'), of('b1', 'b'), of('a3', 'a'), of('b2', 'b')]
    const { outbox, chunks } = setup(undefined, due)
    expect(await outbox.dispatchDue({ now: 1, limit: 9 })).toEqual({ delivered: 5, failed: 0 })
    expect(chunks).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']])
  })

  it('count as failed when dispatching fails', async () => {
    const { outbox } = setup(() => Promise.reject(new Error('gone')), events(3))
    expect(await outbox.dispatchDue({ now: 0, limit: 9 })).toEqual({ delivered: 0, failed: 3 })
  })
})

describe('events that failed', () => {
  /** The first at 4.2 s, the second at 9 s, the third never. */
  const failing: Deliver = async (pending) =>
    pending.map(({ outboxId }, at) => {
      const nextAttemptAt = [1_004_200, 1_009_000][at]
      return {
        outboxId,
        delivery: { id: outboxId, ok: false, ...(nextAttemptAt && { nextAttemptAt }) },
      }
    })

  it('wake the host when the first is due, to the second, and then for the next', async () => {
    const { outbox, wakes, clock } = setup(failing)
    outbox.dispatch(events(3))
    await settle()
    expect(wakes).toEqual([1_005_000])
    await clock.advance(5_000)
    await outbox.dispatchDue({ now: clock.now(), limit: 60 })
    expect(wakes).toEqual([1_005_000, 1_009_000])
    await clock.advance(4_000)
    await outbox.dispatchDue({ now: clock.now(), limit: 60 })
    expect(wakes).toHaveLength(2)
  })

  it('are claimed after their wait, though the time of day was set back, and more at once', async () => {
    const claims: EventClaim[] = []
    const due: PendingEvent[] = []
    const { outbox, wakes, clock } = setup(failing, due, (claim) => claims.push(claim))
    outbox.dispatch(events(1))
    await settle()
    await clock.advance(1_000)
    clock.jump(-600_000)
    // The one that wakes the host for another event is not late.
    await outbox.dispatchDue({ now: clock.now(), limit: 60 })
    expect(wakes.at(-1)).toBe(clock.now() + 4_000)
    await clock.advance(4_000)
    due.push(...events(2, 1))
    const now = clock.now()
    await outbox.dispatchDue({ now, limit: 1 })
    await outbox.dispatchDue({ now, limit: 60 })
    expect(claims.slice(1)).toEqual([
      { now, dueBy: 1_005_000, limit: 1 },
      { now, dueBy: 1_005_000, limit: 60 },
    ])
  })

  it('wake it at once while more are due than one call takes', async () => {
    const { outbox, wakes, clock } = setup(undefined, events(5))
    await outbox.dispatchDue({ now: clock.now(), limit: 2 })
    await outbox.dispatchDue({ now: clock.now(), limit: 2 })
    await outbox.dispatchDue({ now: clock.now(), limit: 2 })
    expect(wakes).toEqual([clock.now(), clock.now()])
  })
})
