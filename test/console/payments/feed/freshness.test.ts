import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../../../../console/data/http.ts'
import { freshnessLamp } from '../../../../console/payments/feed/freshness.ts'
import { timeOf } from '../../../../console/ui/time-text.ts'

const NOW = Date.parse('2026-03-02T14:03:20Z')

describe('the freshness of payments', () => {
  it('is green only while the last round is recent', () => {
    expect(freshnessLamp({ name: 'loading' }, NOW).lamp).toBe('caution')
    expect(freshnessLamp({ name: 'current', asOf: NOW - 15_000 }, NOW)).toMatchObject({
      lamp: 'go',
      text: `As of ${timeOf(NOW - 15_000, NOW)}`,
    })
    expect(freshnessLamp({ name: 'current', asOf: NOW - 15_001 }, NOW).lamp).toBe('caution')
  })

  it('shows since when there was no update, and why', () => {
    const problem = new ApiProblem(503, 'ledger_unavailable', 'The database is away.')
    expect(freshnessLamp({ name: 'unreachable', asOf: NOW - 9_000, problem }, NOW)).toEqual({
      lamp: 'stop',
      text: `Not updated since ${timeOf(NOW - 9_000, NOW)}`,
      hint: 'The database is away.',
    })
    const gone = new ApiProblem(0, 'unreachable', 'TypeError: Failed to fetch')
    expect(freshnessLamp({ name: 'unreachable', problem: gone }, NOW)).toEqual({
      lamp: 'stop',
      text: 'Not loaded',
      hint: 'The edge does not answer.',
    })
  })
})
