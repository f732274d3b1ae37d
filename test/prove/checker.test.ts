// Histories that were spoiled, each in one way: the checker finds it, and names the line.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { checkHistory } from '../../prove/checker/check.ts'
import { goodHistory, type Line, textOf } from './good-history.ts'

const run = promisify(execFile)

const findings = (lines: readonly Line[]) =>
  checkHistory(textOf(lines)).map(({ check, line }) => ({ check, line }))

/** Of the lines that are so, this one counted from the end or the beginning; its place from 0. */
function placeOf(lines: readonly Line[], isIt: (line: Line) => boolean, which: 'first' | 'last') {
  const at = which === 'first' ? lines.findIndex(isIt) : lines.findLastIndex(isIt)
  if (at < 0) throw new Error('the history has no such line')
  return at
}

/** Changes one line of a good history. The findings must be these checks, at that line. */
function expectChanged(
  which: 'first' | 'last',
  isIt: (line: Line) => boolean,
  change: (line: Line) => Line,
  checks: string[],
): void {
  const lines = goodHistory()
  const at = placeOf(lines, isIt, which)
  lines[at] = change(lines[at] as Line)
  expect(findings(lines)).toEqual(checks.map((check) => ({ check, line: at + 1 })))
}

/** Takes one line away; `shown`: the line, of what is left, that must be named. */
function expectMissed(
  isIt: (line: Line) => boolean,
  check: string,
  shown: (line: Line) => boolean,
  which: 'first' | 'last' = 'first',
): void {
  const lines = goodHistory()
  lines.splice(placeOf(lines, isIt, 'last'), 1)
  expect(findings(lines)).toContainEqual({ check, line: placeOf(lines, shown, which) + 1 })
}

const isRead = (client: string, task: string) => (line: Line) =>
  line.kind === 'read' && line.client === client && task in ((line.tasks as object) ?? {})
const isHeard = (client: string, id: string) => (line: Line) =>
  line.kind === 'message' && line.client === client && line.id === id
const storyOf = (id: string) => (line: Line) =>
  line.kind === 'stored' && (line.transaction as { id: string }).id === id
const bookingOf = (id: string) => (line: Line) =>
  line.kind === 'booking' && (line.payment as { id: string }).id === `gateway ${id}`
const withStory = (own: object) => (line: Line) => ({
  ...line,
  transaction: { ...(line.transaction as object), ...own },
})
const withPayment = (own: object) => (line: Line) => ({
  ...line,
  payment: { ...(line.payment as object), ...own },
})
const idOf = (n: number): string => `0a1b2c3d4e5f-${n}`

describe('a checker', () => {
  it('finds nothing in a history in which all is well', () => {
    expect(checkHistory(textOf(goodHistory()))).toEqual([])
  })

  it('takes no history that was cut off, and none that is not JSON', () => {
    const lines = goodHistory().slice(0, -1)
    expect(findings(lines)).toEqual([{ check: 'rest', line: lines.length }])
    expect(() => checkHistory('{"kind"\n')).toThrow('line 1 is not JSON')
  })

  it('says what it found as a command, and fails by it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-history-'))
    const file = join(folder, 'history.jsonl')
    const check = () => run(process.execPath, ['prove/checker/check.ts', file])
    await writeFile(file, textOf(goodHistory()))
    expect((await check()).stdout).toBe('0 findings\n')
    const lines = goodHistory()
    const at = placeOf(lines, bookingOf('tx-1'), 'first')
    lines[at] = withPayment({ refunded: 0 })(lines[at] as Line)
    await writeFile(file, textOf(lines))
    await expect(check()).rejects.toMatchObject({
      code: 1,
      stdout: `line ${at + 1}: (e) gateway tx-1: 0 went back, 25000 is stored\n1 findings\n`,
    })
    await rm(folder, { recursive: true })
  })
})

describe('(a) at rest each view equals the files', () => {
  it('finds a client that is left with an old version', () => {
    const older = (line: Line) => ({ ...line, kind: 'files', tasks: { 'T-1': 6 } })
    const lines = goodHistory()
    const at = placeOf(lines, ({ kind }) => kind === 'files', 'last')
    lines[at] = older(lines[at] as Line)
    const shown = ['c1', 'c2'].map((c) => placeOf(lines, isRead(c, 'T-1'), 'last') + 1)
    expect(findings(lines)).toEqual(shown.map((line) => ({ check: 'a', line })))
  })

  it('finds a task that was deleted, and that a client keeps', () => {
    expectMissed(isRead('c1', 'T-2'), 'a', isRead('c1', 'T-2'))
  })

  it('finds a session that a client never read', () => {
    const isIt = (line: Line) => line.kind === 'read' && line.client === 'c1' && 'sessions' in line
    expectMissed(isIt, 'a', isIt)
  })
})

describe('(b) no message comes before what it points to', () => {
  it('finds a read after a message that does not include it', () => {
    const change = (line: Line) => ({ ...line, seq: idOf(1) })
    expectChanged('last', isRead('c1', 'T-1'), change, ['b'])
  })

  it('finds a version that was there only after the message for it had been followed', () => {
    const lines = goodHistory()
    const at = placeOf(lines, isRead('c1', 'T-1'), 'last')
    const early = { ...(lines[at] as Line), tasks: { 'T-1': 1 } }
    lines.splice(at, 0, early)
    expect(findings(lines)).toEqual([{ check: 'b', line: at + 2 }])
  })

  it('finds a board that goes back', () => {
    const isIt = (line: Line) => line.kind === 'read' && line.client === 'c1' && 'sessions' in line
    const lines = goodHistory()
    const at = placeOf(lines, isIt, 'last')
    lines[at] = { ...(lines[at] as Line), after: idOf(1), seq: idOf(1) }
    expect(findings(lines)).toContainEqual({ check: 'b', line: at + 1 })
  })
})

describe('(c) a client that resumed lost and doubled nothing', () => {
  it('finds what a client that was away was never told', () => {
    const isStandIn = (line: Line) => line.kind === 'message' && line.id === undefined
    expectMissed(isStandIn, 'c', isHeard('c1', idOf(3)))
  })

  it('finds what a client that was there was never told', () => {
    expectMissed(isHeard('c2', idOf(2)), 'c', isHeard('c1', idOf(2)))
  })

  it('finds a message that came twice', () => {
    const lines = goodHistory()
    const at = placeOf(lines, isHeard('c2', idOf(4)), 'first')
    lines.splice(at, 0, { ...(lines[at] as Line) })
    expect(findings(lines)).toEqual([{ check: 'c', line: at + 2 }])
  })

  it('finds a log that began anew', () => {
    const lines = goodHistory()
    const at = placeOf(lines, isHeard('c1', idOf(4)), 'first')
    lines[at] = { ...(lines[at] as Line), id: 'ffffffffffff-4' }
    expect(findings(lines)).toContainEqual({ check: 'c', line: at + 1 })
  })
})

describe('(d) each payment walks along the graph, and each step has its event', () => {
  const walk = (id: string, ...statuses: [string, string][]) =>
    statuses.map(([type, status]) => ({
      id: `event ${id} ${status}`,
      type,
      payload: { transaction: { id, status } },
    }))
  const initiated: [string, string] = ['PaymentInitiated', 'Pending']
  const failed: [string, string] = ['PaymentFailed', 'Failed']

  it('finds a move that the graph does not have', () => {
    const events = walk('tx-3', initiated, failed, ['PaymentSucceeded', 'Paid'])
    const lines = goodHistory()
    const at = placeOf(lines, storyOf('tx-3'), 'first')
    lines[at] = withStory({ status: 'Paid', events })(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'd', line: at + 1 })
  })

  it('finds a change without its event', () => {
    expectChanged('first', storyOf('tx-3'), withStory({ status: 'Expired' }), ['d'])
  })

  it('finds an event that was stored twice', () => {
    const change = withStory({ events: walk('tx-3', initiated, failed, failed) })
    expectChanged('first', storyOf('tx-3'), change, ['d'])
  })

  it('finds an event that the endpoint did not take', () => {
    const isIt = (line: Line) => line.kind === 'endpoint' && line.id === 'event tx-1 Paid'
    expectMissed(isIt, 'd', storyOf('tx-1'))
    const lines = goodHistory()
    const at = placeOf(lines, isIt, 'first')
    lines[at] = { ...(lines[at] as Line), status: 500 }
    expect(findings(lines)).toEqual([
      { check: 'd', line: placeOf(lines, storyOf('tx-1'), 'first') + 1 },
    ])
  })

  it('finds an event that the listener was not told', () => {
    expectMissed(({ kind }) => kind === 'listener', 'd', storyOf('tx-3'))
  })

  it('finds an event of which nothing is stored', () => {
    const isIt = (line: Line) => line.kind === 'endpoint' && line.id === 'event tx-3 Failed'
    const lines = goodHistory()
    const at = placeOf(lines, isIt, 'first')
    lines.splice(at, 0, { ...(lines[at] as Line), id: 'event of nobody' })
    expect(findings(lines)).toEqual([{ check: 'd', line: at + 1 }])
  })
})

describe('(e) the gateways’ books are the shop’s, to the dinar', () => {
  it('finds a dinar that is missing', () => {
    const change = withPayment({ paid: { amount: 24_999, currency: 'IQD' } })
    expectChanged('first', bookingOf('tx-1'), change, ['e'])
  })

  it('finds money that came in for a payment that failed', () => {
    const change = withPayment({ paid: { amount: 5_000, currency: 'IQD' } })
    expectChanged('first', bookingOf('tx-3'), change, ['e'])
  })

  it('finds money that came in for no transaction', () => {
    const lines = goodHistory()
    const at = placeOf(lines, bookingOf('tx-2'), 'first')
    lines.splice(at, 0, withPayment({ id: 'nobody’s', reference: 'x' })(lines[at] as Line))
    expect(findings(lines)).toEqual([{ check: 'e', line: at + 1 }])
  })

  it('finds a payment that no gateway booked', () => {
    expectMissed(bookingOf('tx-1'), 'e', storyOf('tx-1'))
  })

  it('finds a refund that is stored, and was not made', () => {
    expectChanged('first', bookingOf('tx-1'), withPayment({ refunded: 0 }), ['e'])
  })

  it('finds another amount that an alert names, and that is not what is stored as paid', () => {
    const change = withStory({ paid: { amount: 10_000, currency: 'IQD' } })
    const lines = goodHistory()
    const at = placeOf(lines, storyOf('tx-2'), 'first')
    lines[at] = change(lines[at] as Line)
    const booking = placeOf(lines, bookingOf('tx-2'), 'first') + 1
    expect(findings(lines)).toEqual([{ check: 'e', line: booking }])
  })

  it('finds another amount of which no alert tells', () => {
    expectMissed(({ kind }) => kind === 'alert', 'e', bookingOf('tx-2'))
  })
})

describe('(f) no order is charged twice unseen', () => {
  const order = { reference: 'order of tx-1' }

  it('finds two payments of one order', () => {
    const lines = goodHistory()
    const at = placeOf(lines, storyOf('tx-2'), 'first')
    lines[at] = withStory(order)(lines[at] as Line)
    const second = placeOf(lines, bookingOf('tx-2'), 'first') + 1
    expect(findings(lines)).toEqual([{ check: 'f', line: second }])

    const alert = { kind: 'late_payment', transactionId: 'tx-2', detail: order }
    lines.splice(-1, 0, { kind: 'alert', alert })
    expect(findings(lines)).toEqual([])
  })
})

describe('(g) what was answered is in the database', () => {
  const isOf = (id: string) => (line: Line) =>
    line.kind === 'webhook' && line.eventId === `webhook of ${id}`

  it('finds a webhook that was answered 200 and is not there', () => {
    expectMissed(({ kind }) => kind === 'event', 'g', isOf('tx-3'))
  })

  it('finds one without an id of its own by its payment', () => {
    const anonymous = (line: Line) => ({ ...line, eventId: undefined })
    expectChanged('first', isOf('tx-1'), anonymous, [])
    const change = (line: Line) => ({ ...anonymous(line), payment: 'another' })
    expectChanged('first', isOf('tx-1'), change, ['g'])
  })

  it('asks nothing of one that was refused', () => {
    const refused = (line: Line) => ({ ...line, eventId: 'unknown', status: 503, answer: '' })
    expectChanged('first', isOf('tx-1'), refused, [])
  })

  it('finds a charge whose transaction is not there', () => {
    const change = (line: Line) => ({ ...line, body: { transactionId: 'tx-9' } })
    expectChanged('first', ({ kind }) => kind === 'charge', change, ['g'])
  })
})
