// What the directory of boards is told, and when.

import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'
import { DirectoryWriter, titleOf } from '../../../sidecar/publish/directory.ts'
import type { Failure, Reply } from '../../../sidecar/publish/edge.ts'
import { Publisher } from '../../../sidecar/publish/publisher.ts'
import type { BoardReport } from '../../../worker/board/wire.ts'
import { conflict, FakeEdge, FakeRecords, network, refused, task } from '../fake-edge.ts'
import { MINUTE, MISSING, PRESENT } from './publisher-setup.ts'

const SECOND = 1_000

function setUp(edge = new FakeEdge(), clock = new FakeClock()) {
  const records = new FakeRecords()
  for (let n = 0; n < 3; n++) records.put(task(n))
  const events: string[] = []
  const log = (level: string, event: string) => events.push(`${level} ${event}`)
  const summary: { counts: BoardReport['counts']; changedAt?: number } = {
    counts: { tasks: 3, closed: 0, ready: 3 },
    changedAt: 0,
  }
  const board = { summary: () => summary }
  /** When each report came, and what it was. */
  const came: { at: number; report: BoardReport }[] = []
  const answers: { report: () => Reply<unknown> | Promise<Reply<unknown>> } = {
    report: () => ({ ok: true, value: {} }),
  }
  const own = Object.assign(Object.create(edge) as FakeEdge, {
    report: async (report: BoardReport) => {
      came.push({ at: clock.elapsed(), report })
      return await answers.report()
    },
  })
  const directory = new DirectoryWriter({
    edge: own,
    board,
    layout: 'cairn',
    clock,
    log,
    version: '1.2.3',
  })
  const publisher = new Publisher({ edge: own, records, directory, clock, log })
  publisher.store(PRESENT)
  /** Closes one more task, and publishes that. */
  const change = () => {
    summary.counts = { ...summary.counts, closed: summary.counts.closed + 1 }
    summary.changedAt = clock.now()
    publisher.changed(records.put(task(1, summary.counts.closed + 1)))
  }
  const start = async () => {
    publisher.start()
    await settle()
  }
  const closed = () => came.map(({ report }) => report.counts.closed)
  const states = () => came.map(({ report }) => report.sidecar.state)
  return {
    edge,
    clock,
    events,
    summary,
    came,
    answers,
    publisher,
    directory,
    change,
    start,
    closed,
    states,
  }
}

describe('the row of a board', () => {
  test('is written after the first sync, whole', async () => {
    const { came, clock, start } = setUp()
    await start()
    expect(came.map(({ report }) => report)).toEqual([
      {
        run: 1,
        title: 'lamps',
        layout: 'cairn',
        store: 'present',
        sidecar: { state: 'running', version: '1.2.3' },
        counts: { tasks: 3, closed: 0, ready: 3 },
        changedAt: new Date(0).toISOString(),
      },
    ])
    // The next sync, and the next look.
    expect(clock.pending).toBe(2)
    await clock.advance(10 * MINUTE)
    expect(clock.pending).toBe(1)
  })

  test('is not written before the edge holds the board', async () => {
    const { came, edge, clock, start } = setUp()
    edge.fail = ({ step }) => (step === 'changes' ? network : undefined)
    await start()
    await clock.advance(MINUTE)
    expect(came).toEqual([])
    edge.fail = () => undefined
    await clock.advance(MINUTE)
    expect(came).toHaveLength(1)
  })

  test('is written 30 s after it was last written, with the last of many changes', async () => {
    const { came, clock, start, change, closed } = setUp()
    await start()
    for (let n = 0; n < 20; n++) {
      await clock.advance(SECOND)
      change()
    }
    await clock.advance(10 * SECOND - 1)
    expect(closed()).toEqual([0])
    await clock.advance(1)
    expect(closed()).toEqual([0, 20])
    await clock.advance(40 * SECOND)
    change()
    await settle()
    expect(closed()).toEqual([0, 20, 21])
    expect(came[2]?.at).toBe(clock.elapsed())
  })

  test('is written once a day without a change', async () => {
    const { came, clock, start } = setUp()
    await start()
    await clock.advance(24 * 60 * MINUTE - 1)
    expect(came).toHaveLength(1)
    // Behind the next sync of the publisher.
    await clock.advance(30 * SECOND)
    expect(came).toHaveLength(2)
  })

  test('is written soon after the machine slept, or the edge was away: it may say offline', async () => {
    const { came, clock, edge, start } = setUp()
    await start()
    clock.jump(60 * MINUTE)
    await clock.advance(30 * SECOND)
    expect(came).toHaveLength(2)
    edge.fail = () => network
    await clock.advance(2 * MINUTE)
    edge.fail = () => undefined
    await clock.advance(5 * MINUTE)
    expect(came).toHaveLength(3)
  })

  test('is written again after a socket was lost, since the edge may have said offline', async () => {
    const { came, answers, change, clock, directory, start } = setUp()
    await start()
    await clock.advance(MINUTE)
    expect(came).toHaveLength(1)
    directory.lost()
    await clock.advance(30 * SECOND)
    expect(came).toHaveLength(2)
    // Also where a write was under way.
    const answer = Promise.withResolvers<Reply<unknown>>()
    answers.report = () => answer.promise
    change()
    await clock.advance(30 * SECOND)
    expect(came).toHaveLength(3)
    directory.lost()
    answer.resolve({ ok: true, value: {} })
    await clock.advance(30 * SECOND)
    expect(came).toHaveLength(4)
  })

  test('says that the folder is missing', async () => {
    const { came, clock, publisher, start } = setUp()
    await start()
    publisher.store(MISSING)
    await clock.advance(30 * SECOND)
    expect(came.map(({ report }) => report.store)).toEqual(['present', 'missing'])
  })

  test('says at the end that the sidecar ended, with the last change, at once', async () => {
    const { clock, publisher, start, change, closed, states } = setUp()
    await start()
    await clock.advance(SECOND)
    change()
    await publisher.close()
    expect(states()).toEqual(['running', 'ended'])
    expect(closed()).toEqual([0, 1])
    expect(clock.pending).toBe(0)
    await clock.advance(10 * MINUTE)
    expect(states()).toHaveLength(2)
  })

  test('of random changes, outages and ends is never written within 30 s, and the last stands', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.nat(45).map((s) => ({ kind: 'wait' as const, ms: s * SECOND })),
        fc.constant({ kind: 'change' as const }),
        fc.boolean().map((isAway) => ({ kind: 'directory' as const, isAway })),
      ),
      { maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { came, clock, answers, publisher, start, change, summary } = setUp()
        const stored: BoardReport[] = []
        let isAway = false
        answers.report = () => {
          const last = came.at(-1)
          if (!isAway && last) stored.push(last.report)
          return isAway ? network : { ok: true, value: {} }
        }
        await start()
        for (const step of all) {
          if (step.kind === 'wait') await clock.advance(step.ms)
          if (step.kind === 'change') change()
          if (step.kind === 'directory') ({ isAway } = step)
        }
        isAway = false
        await clock.advance(MINUTE)
        expect(stored.at(-1)?.counts).toEqual(summary.counts)
        for (const [n, { at }] of came.entries()) {
          if (n > 0) expect(at - (came[n - 1]?.at ?? 0)).toBeGreaterThanOrEqual(30 * SECOND)
        }
        await publisher.close()
        expect(stored.at(-1)?.sidecar.state).toBe('ended')
      }),
      { numRuns: 100 },
    )
  })
})

describe('a directory that fails', () => {
  test.each<[string, Failure]>([
    ['cannot be reached', network],
    ['refuses', refused],
    ['is another version', { ok: false, reason: 'version', code: 'wire_version', message: 'no' }],
    ['knows a later sidecar', conflict('superseded')],
  ])('or %s is asked again, said at debug, and disturbs no publishing', async (_, failure) => {
    const { came, clock, answers, events, edge, publisher, start, change } = setUp()
    answers.report = () => failure
    await start()
    change()
    await settle()
    expect(edge.steps.at(-1)).toBe('changes')
    await clock.advance(2 * MINUTE)
    expect(came).toHaveLength(5)
    expect(new Set(events)).toEqual(new Set(['info sync.differs', 'debug directory.failed']))
    expect(publisher.status()).toMatchObject({ connected: true, behind: false, lastError: null })
    answers.report = () => ({ ok: true, value: {} })
    await clock.advance(MINUTE)
    expect(came).toHaveLength(6)
  })

  test('to answer delays no save, and the end by three seconds at most', async () => {
    const { came, clock, answers, edge, publisher, start, change, closed } = setUp()
    answers.report = () => new Promise(() => undefined)
    await start()
    for (let n = 1; n <= 3; n++) {
      change()
      await settle()
      expect(edge.changesSent()).toHaveLength(n + 1)
    }
    await clock.advance(5 * MINUTE)
    expect(closed()).toEqual([0])
    const ended = publisher.close()
    await clock.advance(3 * SECOND)
    await ended
    expect(edge.ended).toBe(true)
    expect(came).toHaveLength(1)
  })

  test('that is full is asked every five minutes, and that is said once', async () => {
    const { came, clock, answers, events, publisher, start, change } = setUp()
    answers.report = () => ({
      ok: false,
      reason: 'busy',
      status: 503,
      code: 'directory_full',
      message: 'There is no place.',
    })
    await start()
    change()
    await clock.advance(9 * MINUTE)
    expect(came.map(({ at }) => Math.floor(at / MINUTE))).toEqual([0, 5])
    expect(events.filter((it) => it.includes('directory'))).toEqual(['warn directory.full'])
    answers.report = () => ({ ok: true, value: {} })
    await clock.advance(9 * MINUTE)
    expect(came.map(({ at }) => Math.floor(at / MINUTE))).toEqual([0, 5, 10])
    await publisher.close()
    expect(clock.pending).toBe(0)
  })
})

describe('of two sidecars of one board', () => {
  test('the earlier one is silent while the later one publishes, and writes again after it', async () => {
    const first = setUp()
    const second = setUp(first.edge, first.clock)
    onTestFinished(() => first.publisher.close())
    await first.start()
    await second.start()
    const { clock } = first
    first.change()
    await clock.advance(20 * MINUTE)
    expect(first.came).toHaveLength(1)
    expect(second.came).toHaveLength(1)
    await second.publisher.close()
    expect(second.states().at(-1)).toBe('ended')
    await clock.advance(5 * SECOND)
    expect(first.came.map(({ report }) => report.run)).toEqual([1, 3])
  })

  test('the earlier one writes no end while the later one publishes', async () => {
    const first = setUp()
    const second = setUp(first.edge, first.clock)
    onTestFinished(() => second.publisher.close())
    await first.start()
    await second.start()
    await first.clock.advance(MINUTE)
    await first.publisher.close()
    expect(first.states()).toEqual(['running'])
    expect(first.clock.pending).toBe(1)
  })

  test('the earlier one does not write what changed before it was superseded', async () => {
    const first = setUp()
    const second = setUp(first.edge, first.clock)
    onTestFinished(() => first.publisher.close())
    onTestFinished(() => second.publisher.close())
    await first.start()
    first.change()
    await settle()
    await second.start()
    first.change()
    await first.clock.advance(10 * MINUTE)
    expect(first.closed()).toEqual([0])
  })
})

test.each([
  ['/home/ann/lamps', undefined, 'lamps'],
  ['C:\\work\\lamps\\', undefined, 'lamps'],
  ['team/lamps', 'Lamps & Co', 'Lamps & Co'],
  ['/home/ann/lamps/packages/web#cairn', 'Lamps & Co', 'web (cairn)'],
  ['team/lamps#cairn', undefined, 'lamps (cairn)'],
  ['team/c#sharp', undefined, 'c#sharp'],
  ['/', undefined, '/'],
])('the title of %s, of the project %s, is %s', (repo, project, title) => {
  expect(titleOf(repo, 'cairn', project)).toBe(title)
})
