import { describe, expect, test } from 'vitest'
import { settle } from '../../../libraries/testing/fake-clock.ts'
import type { Failure } from '../../../sidecar/publish/edge.ts'
import type { Key } from '../../../worker/board/wire.ts'
import { network, refused, task, tooLarge } from '../fake-edge.ts'
import { isChanges, MINUTE, once, setUp, setUpSynced } from './publisher-setup.ts'

describe('an edge that fails', () => {
  test('that fails between two parts gets only the rest, with a new batch', async () => {
    const body = 'x'.repeat(400_000)
    const { edge, records, clock, publisher } = await setUpSynced(5, body)
    let parts = 0
    edge.fail = (b) => (isChanges(b) && ++parts === 2 ? network : undefined)
    publisher.changed(records.put(...[0, 1, 2, 3, 4].map((n) => task(n, 2, body))))
    await settle()
    expect(edge.steps).toEqual(['changes+', 'changes+'])
    expect(edge.signals).toBe(0)
    await clock.advance(1_000)
    expect(edge.steps).toEqual(['changes+', 'changes+', 'changes+', 'changes'])
    const batches = edge.changesSent().map((part) => part.batch)
    expect(batches).toEqual([...new Set(batches)].sort((a, b) => a - b))
    expect(edge.signals).toBe(1)
    expect(edge.held.root()).toBe(records.root())
    const first = edge.changesSent()[0]?.upserts.map((r) => r.id)
    const again = edge.changesSent()[2]?.upserts.map((r) => r.id)
    expect(again).not.toContain(first?.[0])
  })

  test('whose answer is lost gets the message again', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.after = once(network, isChanges)
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(1_000)
    expect(edge.changesSent().map((part) => part.batch)).toEqual([3, 4])
    expect(edge.held.root()).toBe(records.root())
  })

  test('that is away for a day is called with pauses, and gets only the newest content', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced()
    edge.fail = () => network
    for (let minute = 0; minute < 24 * 60; minute++) {
      publisher.changed(records.put(task(1, minute + 2)))
      await clock.advance(MINUTE)
    }
    expect(publisher.status()).toMatchObject({ connected: false, behind: true })
    expect(edge.log.length).toBeLessThan((86_400 / 15) * 1.1)
    expect(events.filter(([, event]) => event === 'edge.failed').length).toBeLessThan(1_500)

    edge.fail = () => undefined
    edge.log.length = 0
    await clock.advance(MINUTE)
    expect(edge.changesSent().flatMap((part) => part.upserts)).toEqual([task(1, 24 * 60 + 1)])
    expect(edge.held.root()).toBe(records.root())
    expect(events.at(-1)).toEqual(['info', 'edge.recovered'])
    // Some 7,000 attempts, which take 4 s of CPU time on a busy machine.
  })

  test.each(
    [-1, 1].flatMap((way) => [3_600_000, 86_400_000, 365 * 86_400_000].map((ms) => way * ms)),
  )('is called again within its pauses though the time of day is set by %i ms', async (jumpMs) => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.fail = () => network
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(1_000)
    clock.jump(jumpMs)
    const { length } = edge.log
    await clock.advance(MINUTE)
    expect(edge.log.length).toBeGreaterThan(length)
    expect(edge.log.length).toBeLessThan(length + 15)
    edge.fail = () => undefined
    await clock.advance(MINUTE)
    expect(edge.held.root()).toBe(records.root())
    clock.jump(-jumpMs)
    edge.log.length = 0
    await clock.advance(MINUTE)
    expect(edge.log.length).toBeGreaterThan(1)
    expect(edge.log.length).toBeLessThan(4)
  })

  test('needs a sync after more than 50,000 changed keys', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.fail = () => network
    publisher.changed(records.put(task(0, 2)))
    await settle()
    const many = Array.from({ length: 60_000 }, (_, n): Key => `task:X-${n}`)
    publisher.changed(many.slice(0, 30_000))
    expect(publisher.status().dirty).toBe(30_001)
    publisher.changed(many.slice(30_000))
    expect(publisher.status().dirty).toBe(0)
    edge.fail = () => undefined
    edge.log.length = 0
    await clock.advance(1_000)
    expect(edge.steps).toEqual(['root', 'buckets', 'entries', 'changes'])
    expect(edge.held.root()).toBe(records.root())
  })

  test('with a Retry-After is not called before that', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    const busy: Failure = {
      ok: false,
      reason: 'busy',
      status: 429,
      message: 'later',
      retryAfterMs: 20_000,
    }
    edge.fail = once(busy)
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(19_000)
    expect(edge.steps).toEqual(['changes'])
    await clock.advance(2_000)
    expect(edge.steps).toEqual(['changes', 'changes'])
  })

  test('that refuses the token is called every half minute, until the token is valid', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced()
    edge.fail = () => ({
      ok: false,
      reason: 'unauthorized',
      status: 401,
      code: 'token_expired',
      message: 'expired',
    })
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(3 * MINUTE)
    expect(edge.log.length).toBeGreaterThanOrEqual(6)
    expect(edge.log.length).toBeLessThanOrEqual(8)
    expect(events).toContainEqual(['error', 'edge.failed'])
    expect(publisher.status().lastError).toBe('token_expired: expired')
    edge.fail = () => undefined
    await clock.advance(MINUTE)
    expect(edge.held.root()).toBe(records.root())
  })
})

describe('an edge that refuses messages', () => {
  test('as too large gets smaller parts', async () => {
    const body = 'x'.repeat(2_000)
    const { edge, records, publisher } = await setUpSynced(300, body)
    edge.fail = (b) => (JSON.stringify(b).length > 100_000 ? tooLarge : undefined)
    publisher.changed(records.put(...Array.from({ length: 300 }, (_, n) => task(n, 2, body))))
    await settle()
    expect(edge.held.root()).toBe(records.root())
    expect(edge.signals).toBe(1)
  })

  test('as too large gets a single large record without its text, marked as invalid', async () => {
    const { edge, records, publisher } = await setUpSynced(2)
    edge.fail = (b) => (JSON.stringify(b).length > 5_000 ? tooLarge : undefined)
    publisher.changed(records.put(task(0, 2, 'x'.repeat(9_000)), task(1, 2)))
    await settle()
    const held = edge.held.map.get('task:T-0')
    expect(held?.kind === 'task' && held.task).toMatchObject({
      id: 'T-0',
      invalid: expect.stringContaining('left out') as string,
    })
    expect(held?.kind === 'task' && held.task).not.toHaveProperty('body')
    expect(edge.held.root()).toBe(records.root())
    expect(edge.signals).toBe(1)
  })

  test('because of one record gets the others', async () => {
    const { edge, records, publisher, events } = await setUpSynced(4)
    edge.fail = (b) =>
      b.step === 'changes' && b.upserts.some((r) => r.id === 'T-3') ? refused : undefined
    publisher.changed(records.put(...[0, 1, 2, 3].map((n) => task(n, 2))))
    await settle()
    expect(edge.held.map.get('task:T-2')).toEqual(task(2, 2))
    expect(edge.signals).toBe(1)
    expect(events).toContainEqual(['error', 'publish.refused'])
    expect(publisher.status().dirty).toBe(0)
  })

  test('because of forty records in a row gets the others within seconds', async () => {
    const { edge, records, clock, publisher } = await setUpSynced(50)
    const isBad = (id: string) => Number(id.slice(2)) < 40
    edge.fail = (b) =>
      b.step === 'changes' && b.upserts.some((r) => isBad(r.id)) ? refused : undefined
    publisher.changed(records.put(...Array.from({ length: 50 }, (_, n) => task(n, 2))))
    await clock.advance(20_000)
    for (let n = 40; n < 50; n++) expect(edge.held.map.get(`task:T-${n}`)).toEqual(task(n, 2))
    edge.fail = () => undefined
    await clock.advance(7 * MINUTE)
    expect(edge.held.root()).toBe(records.root())
  })

  test('because of all missing records still sends a signal for the dropped ones', async () => {
    const { edge, records, start } = setUp(1)
    edge.held.put(task(9))
    edge.fail = (b) => (b.step === 'changes' && b.upserts.length > 0 ? refused : undefined)
    await start()
    expect(records.map.has('task:T-9')).toBe(false)
    expect(edge.held.map.size).toBe(0)
    expect(edge.signals).toBe(1)
  })

  test('because of the last record, and is then away, gets a sync for the others', async () => {
    const { edge, records, clock, publisher } = await setUpSynced(2)
    edge.fail = (b) => {
      if (b.step !== 'changes') return undefined
      if (b.upserts.length === 0) return network
      return b.upserts.some((r) => r.id === 'T-1') ? refused : undefined
    }
    publisher.changed(records.put(task(0, 2), task(1, 2)))
    await settle()
    expect(edge.held.map.get('task:T-0')).toEqual(task(0, 2))
    edge.fail = () => undefined
    edge.log.length = 0
    await clock.advance(1_000)
    expect(edge.steps[0]).toBe('root')
  })

  test('always is called with pauses', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced(1_000)
    edge.fail = () => refused
    publisher.changed(records.put(...Array.from({ length: 1_000 }, (_, n) => task(n, 2))))
    await clock.advance(100)
    expect(edge.log.length).toBeLessThan(40)
    expect(events.filter(([, event]) => event === 'publish.refused')).toHaveLength(8)
  })
})
