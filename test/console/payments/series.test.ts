import { describe, expect, it } from 'vitest'
import { marksOf, OUTCOMES, seriesOf, stacked } from '../../../console/payments/series.ts'
import { OUTCOMES as KNOWN } from '../../../worker/payments/domain/status.ts'

const rates = {
  from: '2026-03-02T10:00:00.000Z',
  to: '2026-03-02T10:04:00.000Z',
  refused: [],
  refusedSince: '2026-03-01T10:00:00.000Z',
  minutes: [
    { at: '2026-03-02T10:01:00.000Z', outcomes: { parked: 1, applied: 3 } },
    { at: '2026-03-02T10:03:00.000Z', outcomes: { applied: 2 } },
  ],
}

describe('webhooks per minute', () => {
  it('know every outcome', () => {
    expect(new Set(Object.keys(OUTCOMES))).toEqual(new Set([...KNOWN, 'refused']))
  })

  it('include every minute, and only outcomes that occurred', () => {
    const series = seriesOf(rates)
    expect(series.minutes.map((at) => new Date(at).getUTCMinutes())).toEqual([0, 1, 2, 3])
    expect(series.outcomes).toEqual([
      { outcome: 'applied', counts: [0, 3, 0, 2], total: 5 },
      { outcome: 'parked', counts: [0, 1, 0, 0], total: 1 },
    ])
    expect(series.total).toBe(6)
  })

  it('include those that were refused, of all gateways', () => {
    const at = '2026-03-02T10:02:00.000Z'
    const refused = [
      { at, gateway: 'fib', reason: 'error' as const, count: 1 },
      { at, gateway: 'redirect', reason: 'invalid' as const, count: 3 },
    ]
    const series = seriesOf({ ...rates, minutes: [], refused })
    expect(series.outcomes).toEqual([{ outcome: 'refused', counts: [0, 0, 4, 0], total: 4 }])
  })

  it('are stacked', () => {
    expect(stacked(seriesOf(rates).outcomes)).toEqual([
      [0, 3, 0, 2],
      [0, 4, 0, 2],
    ])
    expect(stacked(seriesOf({ ...rates, minutes: [] }).outcomes)).toEqual([])
  })

  it.each([
    [4, [0, 1, 2, 3, 4]],
    [22, [0, 10, 20]],
    [180, [0, 50, 100, 150]],
    [90_000, [0, 90_000]],
  ])('have marks of whole numbers to %d', (highest, marks) => {
    expect(marksOf(highest)).toEqual(marks)
  })
})
