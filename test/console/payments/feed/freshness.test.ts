import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../../../../console/data/http.ts'
import { readFreshness } from '../../../../console/payments/feed/freshness.ts'
import { timeOf } from '../../../../console/ui/time-text.ts'

const NOW = Date.parse('2026-03-02T14:03:20Z')

describe('how current payments are', () => {
  it('is green only while the last answer is young', () => {
    expect(readFreshness({ name: 'first' }, NOW).lamp).toBe('caution')
    expect(readFreshness({ name: 'current', asOf: NOW - 15_000 }, NOW)).toMatchObject({
      lamp: 'go',
      text: `As of ${timeOf(NOW - 15_000, NOW)}`,
    })
    expect(readFreshness({ name: 'current', asOf: NOW - 15_001 }, NOW).lamp).toBe('caution')
  })

  it('says since when the edge was not reached, and why', () => {
    const problem = new ApiProblem(503, 'ledger_unavailable', 'The database is away.')
    expect(readFreshness({ name: 'unreached', asOf: NOW - 9_000, problem }, NOW)).toEqual({
      lamp: 'stop',
      text: `Not reached since ${timeOf(NOW - 9_000, NOW)}`,
      hint: 'The database is away.',
    })
    const gone = new ApiProblem(0, 'unreachable', 'TypeError: Failed to fetch')
    expect(readFreshness({ name: 'unreached', problem: gone }, NOW)).toEqual({
      lamp: 'stop',
      text: 'Not reached',
      hint: 'The edge does not answer.',
    })
  })
})
