import { describe, expect, test } from 'vitest'
import { settle } from '../../../libraries/testing/fake-clock.ts'
import { RecordUnreadable } from '../../../sidecar/board/record-source.ts'
import { conflict, network, task, version } from '../fake-edge.ts'
import { isChanges, MINUTE, MISSING, once, PRESENT, setUp, setUpSynced } from './publisher-setup.ts'

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

  test('leaves a record of a worktree whose folder is gone as it was, and waits for none', async () => {
    const { edge, records, publisher, events } = await setUpSynced()
    records.read = () => Promise.reject(new RecordUnreadable('away', true))
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.held.map.get('task:T-1')).toEqual(task(1))
    expect(events.filter(([, event]) => event === 'publish.unreadable')).toEqual([])
    expect(publisher.status()).toMatchObject({ dirty: 0, behind: false })
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

describe('the first sync', () => {
  test('finds the records that the edge lacks, and sends them with one signal', async () => {
    const { edge, records, start, publisher } = setUp(3)
    await start()
    expect(edge.steps).toEqual(['root', 'buckets', 'entries', 'changes'])
    expect(edge.log[0]).toMatchObject({ step: 'root', run: null })
    expect(edge.held.root()).toBe(records.root())
    expect(edge.signals).toBe(1)
    expect(publisher.status()).toMatchObject({ connected: true, dirty: 0, lastError: null })
  })

  test('is one request without a signal if the edge has everything', async () => {
    const { edge, records, start } = setUp(3)
    edge.held.put(...records.map.values())
    await start()
    expect(edge.steps).toEqual(['root'])
    expect(records.reads).toEqual([])
  })

  test('sends a large board in parts, with one signal at the end and each record once', async () => {
    const { edge, records, start } = setUp(3_000, 'x'.repeat(2_000))
    await start()
    const sent = edge.changesSent()
    expect(sent.length).toBeGreaterThan(5)
    for (const part of sent) expect(JSON.stringify(part).length).toBeLessThanOrEqual(1 << 20)
    expect(sent.map((part) => part.more ?? false)).toEqual(sent.map((_, n) => n < sent.length - 1))
    expect(edge.signals).toBe(1)
    expect(records.reads).toHaveLength(3_000)
    expect(edge.held.root()).toBe(records.root())
  })

  test('is repeated until it has succeeded', async () => {
    const { edge, records, clock, publisher, start } = setUp(3)
    edge.fail = once(network, isChanges)
    await start()
    expect(publisher.status()).toMatchObject({ lastSyncAt: null, behind: true })
    await clock.advance(1_000)
    expect(edge.steps.filter((step) => step === 'root')).toHaveLength(2)
    expect(publisher.status()).toMatchObject({ lastSyncAt: 1_000_150, behind: false })
    expect(edge.held.root()).toBe(records.root())
  })

  test('drops removed records, but none while the store is missing', async () => {
    const { edge, records, publisher } = setUp(1)
    edge.held.put(task(0), task('gone'))
    publisher.store(MISSING)
    publisher.start()
    publisher.changed(records.remove('task:T-0'))
    await settle()
    expect(edge.steps).toEqual(['root'])
    expect(edge.store).toBe('missing')
    expect(edge.held.map.size).toBe(2)

    records.put(task(0))
    publisher.store(PRESENT)
    await settle()
    expect([...edge.held.map.keys()]).toEqual(['task:T-0'])
  })

  test('does not begin before the store is known', async () => {
    const { edge, publisher, records } = setUp(1)
    publisher.changed([...records.map.keys()])
    publisher.start()
    await settle()
    expect(edge.steps).toEqual([])
  })
})

describe('a later sync', () => {
  test('comes every half minute or so, and finds lost changes', async () => {
    const { edge, clock, records } = await setUpSynced()
    records.put(task(1, 2))
    await clock.advance(MINUTE / 2)
    expect(edge.steps).toEqual(['root', 'buckets', 'entries', 'changes'])
    expect(edge.log[0]).toMatchObject({ run: 1 })
    expect(edge.held.root()).toBe(records.root())
    await clock.advance(5 * MINUTE)
    expect(edge.steps.filter((step) => step === 'root').length).toBeLessThan(16)
  })
})

describe('an edge that disagrees', () => {
  test('because it has lost its state gets a sync at once, with a new run', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.held.map.clear()
    edge.epoch = 'e2'
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.steps).toEqual(['changes', 'root', 'buckets', 'entries', 'changes'])
    expect(edge.log[1]).toMatchObject({ run: null })
    expect(edge.held.root()).toBe(records.root())
  })

  test('about the batch gets a sync', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.batch = 1_000
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.steps.slice(0, 2)).toEqual(['changes', 'root'])
    expect(edge.held.root()).toBe(records.root())
  })

  test('because of another protocol version gets only syncs until it agrees', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.fail = () => version
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(2 * MINUTE)
    expect(edge.steps).toEqual(['changes', ...Array.from({ length: 4 }, () => 'root')])
    expect(publisher.status()).toMatchObject({ connected: false, lastError: 'wire_version: no' })
    edge.fail = () => undefined
    await clock.advance(MINUTE)
    expect(edge.held.root()).toBe(records.root())
    expect(publisher.status()).toMatchObject({ connected: true, lastError: null })
  })

  test('for ever is called with pauses', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.fail = (body) => (isChanges(body) ? conflict('sync_required') : undefined)
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(10 * MINUTE)
    expect(edge.changesSent().length).toBeLessThan(60)
  })

  test('because a later sidecar publishes is asked until that one has ended, with one log line', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced()
    const failures = () => events.filter(([, event]) => event === 'edge.failed')
    for (const version of [2, 3, 4]) {
      edge.run++
      edge.batch = 0
      publisher.changed(records.put(task(1, version)))
      await clock.advance(10 * MINUTE)
      expect(edge.held.root()).not.toBe(records.root())
      expect(failures()).toHaveLength(version - 1)
      edge.ended = true
      await clock.advance(2_000)
      expect(edge.held.root()).toBe(records.root())
    }
    // It held its turn itself after each of them.
    expect(edge.log.filter((body) => body.run === null)).toEqual([])
  })

  test('because a later sidecar has published and ended gets the next change at once', async () => {
    const { edge, records, publisher, events } = await setUpSynced()
    edge.run++
    edge.ended = true
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.held.root()).toBe(records.root())
    expect(events.filter(([level]) => level === 'error')).toEqual([])
  })

  test('because a later sidecar publishes keeps it, also when this one ends', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.run++
    publisher.changed(records.put(task(1, 2)))
    await settle()
    await publisher.close()
    expect(edge.steps).toEqual(['changes', 'root'])
    expect(edge.run).toBe(2)
    expect(edge.closed).toBe(true)
  })
})

describe('the end', () => {
  test('is the last message, after what was pending', async () => {
    const { edge, records, publisher } = await setUpSynced()
    publisher.changed(records.put(task(1, 2)))
    await publisher.close()
    expect(edge.steps).toEqual(['changes', 'end'])
  })

  test('sends nothing to an edge that is away', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.fail = () => network
    publisher.changed(records.put(task(1, 2)))
    await publisher.close()
    expect(edge.steps).toEqual(['changes'])
  })
})
