// The driver sends the same requests as the bank's own client.

import { PaymentSDK } from '@first-iraqi-bank/sdk/payment'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import { bank, charge, created, ID, names, refund, stored } from './fib-bed.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

describe("the driver's requests, compared with the bank's own client", () => {
  /** The request that the bank's own client sends. */
  async function official(act: (sdk: PaymentSDK) => Promise<unknown>) {
    const sent: { method: string; url: string; headers: Headers; body: unknown }[] = []
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      const { method = 'GET', body } = init
      sent.push({ method, url, headers: new Headers(init.headers), body })
      return Promise.resolve(Response.json({}))
    })
    await act(PaymentSDK.getClient('shop', 'shop-secret', 'prod'))
    return sent[0]
  }

  it('requests a token with the same form', async () => {
    const theirs = await official((sdk) => sdk.authenticate())
    const ours = bank.tokenRequest()
    expect(`${ours.method} ${ours.url}`).toBe(`${theirs?.method} ${theirs?.url}`)
    expect(new URLSearchParams(ours.form).toString()).toBe(String(theirs?.body))
  })

  it('makes a payment with the same request', async () => {
    const theirs = await official((sdk) =>
      sdk.createPayment(
        {
          amount: 25_000,
          description: 'Two lamps',
          statusCallbackUrl: new URL('https://pay.test/payments/webhooks/fib'),
          redirectUri: new URL('https://shop.test/back'),
          expiresIn: { hours: 1 },
          refundableFor: { days: 7 },
        },
        'token',
      ),
    )
    const call = new FakeGatewayCall({ status: 201, body: created })
    await bank.charge(charge, call)
    expect(asked(call)).toEqual([`${theirs?.method} ${theirs?.url}`])
    // The bank's own client knows nothing of our reference in the URL.
    const json = JSON.stringify(call.requests[0]?.json).replace(/\?reference=[^"]+/, '')
    expect(JSON.parse(json)).toEqual(JSON.parse(String(theirs?.body)))
    for (const [name, value] of Object.entries(call.requests[0]?.headers ?? {})) {
      expect(theirs?.headers.get(name)).toBe(value)
    }
  })

  it('reads, cancels and refunds at the same URLs', async () => {
    const call = new FakeGatewayCall(
      stored('PAID'),
      { status: 204, body: undefined },
      { status: 202, body: undefined },
    )
    await bank.checkStatus(names, call)
    await bank.cancel(names, call)
    await bank.refund(refund, call)
    const theirs = [
      await official((sdk) => sdk.getPaymentStatus(ID, 'token')),
      await official((sdk) => sdk.cancelPayment(ID, 'token')),
      await official((sdk) => sdk.refundPayment(ID, 'token')),
    ]
    expect(asked(call)).toEqual(theirs.map((sent) => `${sent?.method} ${sent?.url}`))
  })
})
