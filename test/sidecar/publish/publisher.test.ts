import { describe, expect, test } from 'vitest'
import { RecordUnreadable } from '../../../sidecar/board/records.ts'
import type { Level } from '../../../sidecar/log.ts'
import type { Failure } from '../../../sidecar/publish/edge.ts'
import { Publisher } from '../../../sidecar/publish/publisher.ts'
import type { Key, StoreState } from '../../../worker/board/wire.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import {
  conflict,
  FakeEdge,
  FakeRecords,
  network,
  refused,
  task,
  tooLarge,
  version,
} from '../fake-edge.ts'

const PRESENT: StoreState = { state: 'present', layout: 'cairn', version: '1' }
const MISSING: StoreState = { state: 'missing', version: '1' }
const MINUTE = 60_000

function setUp(count = 0, body = '') {
  const edge = new FakeEdge()
  const records = new FakeRecords()
  for (let n = 0; n < count; n++) records.put(task(n, 1, body))
  const clock = new FakeClock()
  const events: [Level, string][] = []
  const published: number[] = []
  const publisher = new Publisher({
    edge,
    records,
    clock,
    random: () => 0.5,
    log: (level, event) => events.push([level, event]),
    onPublished: (ms) => published.push(ms),
  })
  const start = async () => {
    publisher.store(PRESENT)
    publisher.start()
    await settle()
  }
  return { edge, records, clock, events, published, publisher, start }
}

/** A whole board is at the edge, and what was sent so far is forgotten. */
async function setUpSynced(count = 3, body = '') {
  const it = setUp(count, body)
  await it.start()
  it.edge.log.length = 0
  it.edge.signals = 0
  it.records.reads = []
  return it
}

const isChanges = (body: { step: string }): boolean => body.step === 'changes'
const once = (failure: Failure, when: (body: { step: string }) => boolean = () => true) => {
  let left = 1
  return (body: { step: string }) => (when(body) && left-- > 0 ? failure : undefined)
}

test('What was hinted is reported with the time since the first hint, also after an outage', async () => {
  const { edge, records, clock, published, publisher } = await setUpSynced()
  publisher.changed(records.put(task(1, 2)), clock.now() - 100)
  await settle()
  expect(published).toEqual([100])
  // What a scan found has no such time.
  publisher.changed(records.put(task(1, 3)))
  await settle()
  expect(published).toEqual([100])
  edge.fail = once({ ok: false, reason: 'network', message: 'away' })
  const hintedAt = clock.now() - 100
  publisher.changed(records.put(task(1, 4)), hintedAt)
  await settle()
  expect(published).toEqual([100])
  await clock.advance(MINUTE)
  expect(published).toHaveLength(2)
  expect(published[1]).toBeGreaterThan(100)
  expect(published[1]).toBeLessThanOrEqual(clock.now() - hintedAt)
})

describe('the first sync', () => {
  test('narrows down to what the edge lacks and sends it with one signal', async () => {
    const { edge, records, start, publisher } = setUp(3)
    await start()
    expect(edge.steps).toEqual(['root', 'buckets', 'entries', 'changes'])
    expect(edge.log[0]).toMatchObject({ step: 'root', run: null })
    expect(edge.held.root()).toBe(records.root())
    expect(edge.signals).toBe(1)
    expect(publisher.status()).toMatchObject({ connected: true, dirty: 0, lastError: null })
  })

  test('costs one request, and no signal, when the edge holds everything', async () => {
    const { edge, records, start } = setUp(3)
    edge.held.put(...records.map.values())
    await start()
    expect(edge.steps).toEqual(['root'])
    expect(records.reads).toEqual([])
  })

  test('tells a large board in parts, with one signal at the end and every record once', async () => {
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

  test('that breaks off is begun again, until it went through whole', async () => {
    const { edge, records, clock, publisher, start } = setUp(3)
    edge.fail = once(network, isChanges)
    await start()
    expect(publisher.status()).toMatchObject({ lastSyncAt: null, behind: true })
    await clock.advance(1_000)
    expect(edge.steps.filter((step) => step === 'root')).toHaveLength(2)
    expect(publisher.status()).toMatchObject({ lastSyncAt: 1_000_100, behind: false })
    expect(edge.held.root()).toBe(records.root())
  })

  test('drops what is gone, but nothing while the store is missing', async () => {
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

  test('does not begin before it is started, nor before the store is known', async () => {
    const { edge, publisher, records } = setUp(1)
    publisher.changed([...records.map.keys()])
    publisher.start()
    await settle()
    expect(edge.steps).toEqual([])
  })
})

describe('a change', () => {
  test('asks for its record at once, and sends the newest content', async () => {
    const { edge, records, publisher } = await setUpSynced()
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(records.reads).toEqual(['task:T-1'])
    expect(edge.steps).toEqual(['changes'])
    expect(edge.last).toMatchObject({ epoch: 'e1', run: 1, batch: 3, upserts: [task(1, 2)] })
  })

  test('that is gone by the time it is read is a delete', async () => {
    const { edge, records, publisher } = await setUpSynced()
    publisher.changed(records.remove('task:T-1'))
    await settle()
    expect(edge.last).toMatchObject({ upserts: [], deletes: ['task:T-1'] })
  })

  test('waits while a message is in flight, and is merged with what comes meanwhile', async () => {
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

  test('that meets a defect of ours ends loudly, and begins again with a sync', async () => {
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

  test('of which one record cannot be read tells the others, and that one when it can', async () => {
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

describe('an edge that fails', () => {
  test('that dies between two parts gets only the rest again, with a new batch', async () => {
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

  test('whose answer is lost is told again, and nothing is lost', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.after = once(network, isChanges)
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(1_000)
    expect(edge.changesSent().map((part) => part.batch)).toEqual([3, 4])
    expect(edge.held.root()).toBe(records.root())
  })

  test('that is away for a day gets the newest content only, and is not asked in a storm', async () => {
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
    // All of it is work: some 7,000 turns, which take 4 s of a core that others use too.
  }, 60_000)

  test('is not remembered more than 50,000 keys for: a sync finds them again', async () => {
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
    await clock.advance(MINUTE)
    expect(edge.steps).toEqual(['root', 'buckets', 'entries', 'changes'])
    expect(edge.held.root()).toBe(records.root())
  })

  test('that asks for patience is not asked again before that', async () => {
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

  test('that refuses the token is asked every half minute, and heals when it is rotated', async () => {
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

describe('what reading a record brings along', () => {
  test('goes with it in one change, with one signal', async () => {
    const { edge, records, publisher } = await setUpSynced()
    records.put(task(2, 2))
    records.follows = [['task:T-2']]
    publisher.changed(records.put(task(1, 2)))
    await settle()
    expect(edge.changesSent()).toMatchObject([{ upserts: [task(1, 2), task(2, 2)] }])
    expect(edge.signals).toBe(1)
  })

  test('is asked for later when it never ends, and keeps nothing from being told', async () => {
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

  test('is sent again when its message is lost', async () => {
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

describe('an edge that disagrees', () => {
  test('because it lost its state gets a sync at once, with a new run', async () => {
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

  test('because it is of another version is asked again by a sync, and told nothing until then', async () => {
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

  test('for ever is backed off from, not asked in a storm', async () => {
    const { edge, records, clock, publisher } = await setUpSynced()
    edge.fail = (body) => (isChanges(body) ? conflict('sync_required') : undefined)
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(10 * MINUTE)
    expect(edge.changesSent().length).toBeLessThan(60)
  })

  test('because a later sidecar publishes is left alone for seconds, then for minutes, and told of once', async () => {
    const { edge, records, clock, publisher, events } = await setUpSynced()
    const rival = () => {
      edge.run++
      edge.batch = 0
    }
    rival()
    publisher.changed(records.put(task(1, 2)))
    await clock.advance(3_000)
    publisher.changed(records.put(task(2, 2)))
    await settle()
    expect(edge.steps).toEqual(['changes'])
    expect(events.filter(([, event]) => event === 'edge.failed')).toHaveLength(1)

    await clock.advance(4_000)
    expect(edge.held.root()).toBe(records.root())
    rival()
    edge.log.length = 0
    publisher.changed(records.put(task(1, 3)))
    await clock.advance(40_000)
    expect(edge.steps).toEqual(['changes'])
    await clock.advance(40_000)
    expect(edge.held.root()).toBe(records.root())
    expect(events.filter(([, event]) => event === 'edge.failed')).toHaveLength(1)
  })

  test('does not lose the board to a superseded sidecar that ends', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.run++
    publisher.changed(records.put(task(1, 2)))
    await settle()
    await publisher.close()
    expect(edge.steps).toEqual(['changes'])
    expect(edge.closed).toBe(true)
  })
})

describe('an edge that takes less', () => {
  test('gets smaller parts', async () => {
    const body = 'x'.repeat(2_000)
    const { edge, records, publisher } = await setUpSynced(300, body)
    edge.fail = (b) => (JSON.stringify(b).length > 100_000 ? tooLarge : undefined)
    publisher.changed(records.put(...Array.from({ length: 300 }, (_, n) => task(n, 2, body))))
    await settle()
    expect(edge.held.root()).toBe(records.root())
    expect(edge.signals).toBe(1)
  })

  test('gets a single record that is too large without its text, and the record says so', async () => {
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

  test('and refuses one record does not keep the others from their clients', async () => {
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

  test('and refuses forty records in a row gets the others within seconds', async () => {
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

  test('and refuses all that it lacks is told to tell what the same sync dropped', async () => {
    const { edge, records, start } = setUp(1)
    edge.held.put(task(9))
    edge.fail = (b) => (b.step === 'changes' && b.upserts.length > 0 ? refused : undefined)
    await start()
    expect(records.map.has('task:T-9')).toBe(false)
    expect(edge.held.map.size).toBe(0)
    expect(edge.signals).toBe(1)
  })

  test('and refuses the last record, then is away, hears of a sync that tells of the others', async () => {
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

  test('and refuses everything is not flooded', async () => {
    const { edge, records, clock, publisher } = await setUpSynced(1_000)
    edge.fail = () => refused
    publisher.changed(records.put(...Array.from({ length: 1_000 }, (_, n) => task(n, 2))))
    await clock.advance(100)
    expect(edge.log.length).toBeLessThan(40)
  })
})

describe('time', () => {
  test('brings a sync every five minutes or so, which finds what was lost', async () => {
    const { edge, clock, records } = await setUpSynced()
    records.put(task(1, 2))
    await clock.advance(7 * MINUTE)
    expect(edge.steps).toEqual(['root', 'buckets', 'entries', 'changes'])
    expect(edge.log[0]).toMatchObject({ run: 1 })
    expect(edge.held.root()).toBe(records.root())
    await clock.advance(50 * MINUTE)
    expect(edge.steps.filter((step) => step === 'root').length).toBeLessThan(16)
  })
})

describe('the end', () => {
  test('publishes what is pending, even in the middle of a wait', async () => {
    const { edge, records, publisher } = await setUpSynced()
    edge.fail = once(network)
    publisher.changed(records.put(task(1, 2)))
    await settle()
    await publisher.close()
    expect(edge.held.root()).toBe(records.root())
    expect(edge.closed).toBe(true)
  })

  test('does not wait for an edge that is away, nor longer than three seconds for a slow one', async () => {
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

  test('does not count as synced before the edge holds everything', async () => {
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
