import { describe, expect, it } from 'vitest'
import { paceRun, spreadOf } from '../../../bench/payments/pace-run.ts'
import { bestOfNaive, rateOf, webhookVerdicts } from '../../../bench/payments/verdicts.ts'
import type { PaceSample, RateSample } from '../../../bench/payments/webhooks.ts'

const sample = (own: Partial<RateSample>): RateSample => ({
  handler: 'signalbox',
  connections: 64,
  perSecond: 3_000,
  sent: 100,
  ok: 100,
  errors: {},
  faults: [],
  cpuUs: { handler: 100 },
  ...own,
})

const rates = [
  ...[2_900, 9_000, 3_000].map((perSecond) => sample({ perSecond })),
  sample({ handler: 'no-database', perSecond: 5_000 }),
  sample({ handler: 'hanging-listener', perSecond: 2_800 }),
  sample({ handler: 'naive', connections: 1, perSecond: 400 }),
  sample({ handler: 'naive', connections: 2, perSecond: 500 }),
  sample({ handler: 'naive', connections: 4, perSecond: 450 }),
]
const pace: PaceSample = {
  ...sample({ perSecond: 500 }),
  latencies: [1, 2, 3, 60],
}
const found = {
  targets: {
    ...{ timesNaive: 5, shareOfNoDatabase: 0.5, shareWhileHanging: 0.9, paceMs: 50 },
    node: { timesNaive: 6, shareOfNoDatabase: 0.33 },
  },
  levels: [64],
  rates,
  pace: [paceRun({ ...pace, latencies: [1, 2, 3] })],
}
const reached = (own: Partial<typeof found>) =>
  webhookVerdicts({ ...found, ...own }).map((verdict) => verdict.reached)

it('takes the median of the runs, not the best of them', () => {
  expect(rateOf(rates, 'signalbox', 64)).toBe(3_000)
})

it('takes the naive handler at its best', () => {
  expect(bestOfNaive(rates)).toEqual({ connections: 2, perSecond: 500 })
})

describe('webhookVerdicts', () => {
  it('has five questions: naive, no database, a listener that hangs, errors, p99', () => {
    expect(reached({})).toEqual([true, true, true, true, true])
  })

  it('misses by each of them alone', () => {
    const missed = (own: Partial<typeof found>) =>
      reached(own).flatMap((isReached, at) => (isReached ? [] : [at]))
    const more = (own: Partial<RateSample>) => [...rates, sample(own)]
    const other = (own: Partial<RateSample>) =>
      rates.map((each) => (each.handler === own.handler ? sample(own) : each))
    expect(missed({ rates: more({ handler: 'naive', connections: 8, perSecond: 601 }) })).toEqual([
      0,
    ])
    expect(missed({ rates: other({ handler: 'no-database', perSecond: 6_100 }) })).toEqual([1])
    expect(missed({ rates: other({ handler: 'hanging-listener', perSecond: 2_600 }) })).toEqual([2])
    expect(missed({ rates: more({ errors: { 'HTTP 503': 1 } }) })).toEqual([3])
    expect(missed({ rates: more({ faults: ['1 are Paid twice'] }) })).toEqual([3])
    expect(missed({ pace: [paceRun({ ...pace, errors: { closed: 1 } })] })).toEqual([3, 4])
  })

  it('holds one process of Node against its own targets, where it was measured', () => {
    const on = (perSecond: number) =>
      reached({ rates: [...rates, sample({ handler: 'node', perSecond })] }).slice(2, 4)
    expect([on(3_000), on(2_999), on(1_649)]).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ])
  })

  it('does not count the errors of others as ours', () => {
    const naive = sample({ handler: 'naive', connections: 64, perSecond: 1, errors: { lost: 9 } })
    expect(reached({ rates: [...rates, naive] })[3]).toBe(true)
  })
})

describe('spreadOf', () => {
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => count - n)

  it('keeps all of a few values', () => {
    expect(spreadOf(upTo(100))).toEqual(upTo(100).reverse())
  })

  it('keeps a few of many values: the quickest, even steps, and every one of the slowest', () => {
    const spread = spreadOf(upTo(10_000))
    expect(spread).toHaveLength(175)
    expect(spread[0]).toBe(1)
    expect(spread.slice(-25)).toEqual(upTo(10_000).slice(0, 25).reverse())
  })
})
