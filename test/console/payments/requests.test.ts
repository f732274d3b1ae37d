import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseRoute } from '../../../console/address.ts'
import { ApiProblem } from '../../../console/data/http.ts'
import { exampleAmount, parseAmount } from '../../../console/payments/format.ts'
import { failureText, isRefusal, keyedPost, orderOf } from '../../../console/payments/requests.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

/** The keys of the requests, which the edge answers in turn. */
function edge(...answers: (string | Error)[]): (string | null)[] {
  const keys: (string | null)[] = []
  vi.stubGlobal('fetch', async (_: string, { headers }: RequestInit) => {
    keys.push(new Headers(headers).get('Idempotency-Key'))
    const code = answers.shift()
    if (code instanceof Error) throw code
    return Response.json({ code, error: 'No.' }, { status: code === 'ok' ? 200 : 503 })
  })
  return keys
}

function charging() {
  let made = 0
  const charge = keyedPost<object>('/charges', () => `key-${++made}`)
  return (amount: number) => charge({ amount }).catch(() => undefined)
}

describe('the idempotency key of a request', () => {
  it('stays the same for the same request, until the edge refuses it', async () => {
    const keys = edge('gateway_unavailable', new TypeError('Failed to fetch'), 'ok', 'in_progress')
    const charge = charging()
    for (const amount of [1, 1, 1, 2]) await charge(amount)
    expect(keys).toEqual(['key-1', 'key-1', 'key-1', 'key-2'])
  })

  it.each(['gateway_refused', 'refund_failed'])('is a new one after %s', async (code) => {
    const keys = edge(code, 'ok')
    const charge = charging()
    for (const amount of [1, 1]) await charge(amount)
    expect(keys).toEqual(['key-1', 'key-2'])
  })

  it('is kept after a failure that may have had an effect', () => {
    const isOver = (code: string) => isRefusal(new ApiProblem(500, code, ''))
    expect(['invalid_argument', 'gateway_refused', 'refund_failed'].every(isOver)).toBe(true)
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

describe('a test charge', () => {
  const order = { gateway: 'stripe', amount: '12.50', currency: 'USD', description: 'A lamp' }

  it('is in minor units, and returns to the payment with its reference', () => {
    const request = orderOf(order, 'test-1', { page: 'http://127.0.0.1:8787/', path: '/shop' })
    expect(request).toMatchObject({ gateway: 'stripe', reference: 'test-1', amount: 1_250 })
    const back = new URL(request?.returnUrl ?? '')
    // Gateways add such parameters.
    back.searchParams.set('token', 'x')
    expect(parseRoute(back.hash)).toEqual({
      view: 'payments',
      path: '/shop',
      query: { reference: 'test-1', open: 'newest' },
    })
  })

  it('needs a valid amount', () => {
    expect(orderOf({ ...order, amount: '12.505' }, 'test-1', { page: 'http://x/' })).toBeUndefined()
  })

  it.each(['IQD', 'USD', 'JPY', 'KRW', 'KWD'])('has a valid example amount of %s', (currency) => {
    expect(parseAmount(exampleAmount(currency), currency)).toBeGreaterThan(0)
  })
})
