import { describe, expect, test } from 'vitest'
import { RecordUnreadable } from '../../../sidecar/board/records.ts'
import { settle } from '../../support/fake-clock.ts'
import { network, task } from '../fake-edge.ts'
import { isChanges, MINUTE, once, setUp, setUpSynced } from './publisher-bed.ts'

test('a hinted change is reported with the time since its first hint, also after an outage', async () => {
  const { edge, records, clock, published, publisher } = await setUpSynced()
  publisher.changed(records.put(task(1, 2)), clock.elapsed() - 100)
  await settle()
  expect(published).toEqual([100])
  // A change found by a scan has no such time.
  publisher.changed(records.put(task(1, 3)))
  await settle()
  expect(published).toEqual([100])
  edge.fail = once({ ok: false, reason: 'network', message: 'away' })
  const hintedAt = clock.elapsed() - 100
  publisher.changed(records.put(task(1, 4)), hintedAt)
  await settle()
  expect(published).toEqual([100])
  await clock.advance(MINUTE)
  expect(published).toHaveLength(2)
  expect(published[1]).toBeGreaterThan(100)
  expect(published[1]).toBeLessThanOrEqual(clock.now() - hintedAt)
})

describe('a change', () => {
  test('is read at once, and sent with its newest content', async () => {
    const { edge, records, publisher } = await setUpSynced()
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(records.reads).toEqual(['task:T-1'])
    expect(edge.steps).toEqual(['changes'])
    expect(edge.last).toMatchObject({ epoch: 'e1', run: 1, batch: 3, upserts: [task(1, 2)] })
  })

  test('that was removed before it is read is sent as a delete', async () => {
    const { edge, records, publisher } = await setUpSynced()
    publisher.changed(records.remove('task:T-1'))
    await settle()
    expect(edge.last).toMatchObject({ upserts: [], deletes: ['task:T-1'] })
  })

  test('waits while a message is under way, and is merged with later changes', async () => {
    const { edge, records, publisher } = await setUpSynced()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    edge.fail = () => promise
    publisher.changed(records.put(task(0, 2)))
    await settle()
    publisher.changed(records.put(task(1, 2)))
    publisher.changed(records.put(task(1, 3), task(2, 2)))
    await settle()
    expect(edge.steps).toEqual(['changes'])
    resolve(undefined)
    await settle()
    expect(edge.steps).toEqual(['changes', 'changes'])
    expect(edge.last).toMatchObject({ upserts: [task(1, 3), task(2, 2)] })
  })

  test('that fails because of a defect is logged as one, and followed by a sync', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced()
    const read = records.read.bind(records)
    records.read = () => Promise.reject(new TypeError('undefined is not a function'))
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(events).toContainEqual(['error', 'publish.defect'])
    expect(events.map(([, event]) => event)).not.toContain('publish.unreadable')
    expect(events.map(([, event]) => event)).not.toContain('edge.failed')
    expect(publisher.status()).toMatchObject({ connected: false, behind: true })
    expect(publisher.status().lastError).toContain('defect')
    expect(edge.steps).toEqual([])
    records.read = read
    await clock.advance(1_000)
    expect(edge.held.map.get('task:T-1')).toEqual(task(1, 2))
    expect(publisher.status()).toMatchObject({ connected: true, behind: false, lastError: null })
  })

  test('with an unreadable record sends the others, and that one when it is readable', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced()
    const read = records.read.bind(records)
    records.read = (key) =>
      key === 'task:T-1' ? Promise.reject(new RecordUnreadable('disk')) : read(key)
    publisher.changed(records.put(task(0, 2), task(1, 2), task(2, 2)))
    await settle()
    expect(edge.last).toMatchObject({ upserts: [task(0, 2), task(2, 2)] })
    expect(publisher.status()).toMatchObject({ dirty: 1, behind: true })
    await clock.advance(20_000)
    expect(edge.held.map.get('task:T-1')).toEqual(task(1))
    expect(events.filter(([, event]) => event === 'publish.unreadable')).toHaveLength(1)
    expect(edge.steps).toEqual(['changes'])

    records.read = read
    await clock.advance(6_000)
    expect(edge.last).toMatchObject({ upserts: [task(1, 2)] })
    expect(publisher.status()).toMatchObject({ dirty: 0, behind: false })
  })
})

describe('a change that is found while a record is read', () => {
  test('is sent with that record, with one signal', async () => {
    const { edge, records, publisher } = await setUpSynced()
    records.put(task(2, 2))
    records.follows = [['task:T-2']]
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.changesSent()).toMatchObject([{ upserts: [task(1, 2), task(2, 2)] }])
    expect(edge.signals).toBe(1)
  })

  test('is sent later if there is always another one', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    records.follows = Array.from({ length: 10 }, () => ['task:T-2'])
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.signals).toBe(1)
    expect(records.reads.length).toBeLessThan(8)
    expect(publisher.status()).toMatchObject({ dirty: 1, behind: true })
    records.put(task(2, 2))
    await clock.advance(20_000)
    expect(publisher.status()).toMatchObject({ dirty: 0, behind: false })
    expect(edge.held.root()).toBe(records.root())
  })

  test('is sent again if its message is lost', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    records.follows = [['task:T-1', 'task:T-2']]
    records.put(task(2, 2))
    edge.fail = once(network, isChanges)
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(1_000)
    expect(edge.held.root()).toBe(records.root())
    expect(publisher.status()).toMatchObject({ dirty: 0, behind: false })
  })
})

describe('the end of a publisher', () => {
  test('publishes pending changes, even during a pause', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.fail = once(network)
    publisher.changed(records.put(task(1, 2)))
    await settle()
    await publisher.close()
    expect(edge.held.root()).toBe(records.root())
    expect(edge.closed).toBe(true)
  })

  test('does not wait for an edge that is away, and at most three seconds for a slow one', async () => {
    const away = await setUpSynced()
    away.edge.fail = () => network
    away.publisher.changed(away.records.put(task(1, 2)))
    await settle()
    await away.publisher.close()
    expect(away.edge.closed).toBe(true)

    const slow = await setUpSynced()
    slow.edge.fail = () => new Promise(() => undefined)
    slow.publisher.changed(slow.records.put(task(1, 2)))
    let isClosed = false
    const closing = slow.publisher.close().then(() => {
      isClosed = true
    })
    await slow.clock.advance(2_900)
    expect(isClosed).toBe(false)
    await slow.clock.advance(200)
    await closing
    expect(slow.edge.closed).toBe(true)
  })

  test('waits for the first sync in synced()', async () => {
    const { edge, records, clock, publisher, start } = setUp(2)
    edge.fail = once(network)
    let isSynced = false
    const synced = publisher.synced().then(() => {
      isSynced = true
    })
    await start()
    expect(isSynced).toBe(false)
    await clock.advance(1_000)
    await synced
    expect(edge.held.root()).toBe(records.root())
  })
})
