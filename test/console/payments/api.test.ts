import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../../../console/data/http.ts'
import { failureText, IdempotencyKey, isRefusal } from '../../../console/payments/api.ts'

describe('the idempotency key of a request', () => {
  it('stays the same for the same request, until it is settled', () => {
    let drawn = 0
    const key = new IdempotencyKey(() => `key-${++drawn}`)
    expect(key.of({ amount: 1 })).toBe('key-1')
    expect(key.of({ amount: 1 })).toBe('key-1')
    expect(key.of({ amount: 2 })).toBe('key-2')
    expect(key.of({ amount: 2 })).toBe('key-2')
    key.settle()
    expect(key.of({ amount: 2 })).toBe('key-3')
  })

  it('is kept after a failure that may have had an effect', () => {
    const isOver = (code: string) => isRefusal(new ApiProblem(500, code, ''))
    expect(['invalid_argument', 'gateway_refused'].every(isOver)).toBe(true)
    expect(
      ['unreachable', 'gateway_unavailable', 'ledger_unavailable', 'in_progress', 'internal'].some(
        isOver,
      ),
    ).toBe(false)
    const failed = (code: string) => failureText(new ApiProblem(500, code, 'No.'))
    expect(failed('gateway_refused')).toBe('No.')
    expect(failed('gateway_unavailable')).toMatch(/^No\. Pressing again is safe/)
  })
})
