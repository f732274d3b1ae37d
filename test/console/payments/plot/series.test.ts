import { describe, expect, it } from 'vitest'
import { OUTCOMES, seriesOf, stacked } from '../../../../console/payments/plot/series.ts'
import { OUTCOMES as KNOWN } from '../../../../worker/payments/domain/status.ts'

const rates = {
  from: '2026-03-02T10:00:00.000Z',
  to: '2026-03-02T10:04:00.000Z',
  minutes: [
    { at: '2026-03-02T10:01:00.000Z', outcomes: { parked: 1, applied: 3 } },
    { at: '2026-03-02T10:03:00.000Z', outcomes: { applied: 2 } },
  ],
}

describe('webhooks per minute', () => {
  it('know every outcome', () => {
    expect([...OUTCOMES].sort()).toEqual([...KNOWN].sort())
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

  it('are stacked', () => {
    expect(stacked(seriesOf(rates))).toEqual([
      [0, 3, 0, 2],
      [0, 4, 0, 2],
    ])
    expect(stacked(seriesOf({ ...rates, minutes: [] }))).toEqual([])
  })
})
