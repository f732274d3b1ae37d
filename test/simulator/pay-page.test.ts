import { jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { API_KEY, type SimulatorSetup, setUpSimulator } from '../support/simulator.ts'

let setup: SimulatorSetup
beforeAll(async () => {
  setup = await setUpSimulator({ SIMULATOR_MERCHANT: 'Lamps & Sons' })
})
afterAll(() => setup[Symbol.asyncDispose]())
afterEach(() => {
  setup.merchant.bodies.length = 0
})

const SHOP = { successUrl: 'https://shop.example/ok?a=1', failureUrl: 'https://shop.example/no' }

const charged = async (orderId: string, redirectUrls?: Record<string, string>) => {
  const answer = await setup.init(orderId, redirectUrls && { redirectUrls })
  const { redirectUrl } = (await answer.json()) as { redirectUrl: string }
  return new URL(redirectUrl).pathname
}
const press = (path: string, action: string) =>
  setup.call(path, { method: 'POST', body: new URLSearchParams({ action }) })

describe('the payment page', () => {
  it('shows merchant, order and amount, and loads nothing', async () => {
    const answer = await setup.call(await charged('<b>order</b>'))
    const html = await answer.text()
    for (const shown of ['Lamps &#38; Sons', '&#60;b&#62;order&#60;/b&#62;', '25,000 IQD']) {
      expect(html).toContain(shown)
    }
    expect(html).not.toMatch(/<script|src=|href=|@import|<b>/)
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    const buttons = [...html.matchAll(/<button name="action" value="(\w+)"/g)].map(([, it]) => it)
    expect(buttons).toEqual(['pay', 'fail', 'cancel', 'expire'])
  })

  it('redirects the payer to the shop with the token of the webhook', async () => {
    const answer = await press(await charged('paid', SHOP), 'pay')
    expect(answer.status).toBe(303)
    const back = new URL(answer.headers.get('location') ?? '')
    expect(back.href).toMatch(/^https:\/\/shop\.example\/ok\?a=1&token=/)
    const token = back.searchParams.get('token') ?? ''
    const { payload } = await jwtVerify(token, new TextEncoder().encode(API_KEY))
    expect(payload).toMatchObject({ data: { orderId: 'paid', currentStatus: 'SUCCESS' } })
    const [body] = await setup.merchant.got(1)
    expect(JSON.parse(body ?? '')).toEqual({ webhook_token: token })
  })

  it.each(['fail', 'cancel', 'expire'])('redirects to the failure URL after %s', async (action) => {
    const answer = await press(await charged(`not-${action}`, SHOP), action)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toMatch(/^https:\/\/shop\.example\/no\?token=/)
    await setup.merchant.got(1)
  })

  it('shows the result without a URL of the shop, and when it is pressed again', async () => {
    const path = await charged('alone')
    const answer = await press(path, 'cancel')
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('This payment was cancelled.')
    const again = await (await press(path, 'pay')).text()
    expect(again).toContain('This payment was cancelled.')
    expect(again).not.toContain('<form')
    await setup.merchant.got(1)
    expect(setup.merchant.bodies).toHaveLength(1)
  })

  it('does nothing for an unknown button or payment', async () => {
    const path = await charged('odd')
    expect(await (await press(path, 'refund')).text()).toContain('<form')
    expect((await press('/pay/nothing', 'pay')).status).toBe(404)
    expect(setup.merchant.bodies).toEqual([])
  })

  it.each(['pay', 'fail', 'cancel', 'expire'])(
    'of FIB redirects to the shop without a token after %s',
    async (action) => {
      const form = {
        grant_type: 'client_credentials',
        client_id: 'merchant',
        client_secret: 'client-secret',
      }
      const granted = await setup.call(
        '/auth/realms/fib-online-shop/protocol/openid-connect/token',
        {
          method: 'POST',
          body: new URLSearchParams(form),
        },
      )
      const { access_token: token } = (await granted.json()) as { access_token: string }
      const created = await setup.call('/protected/v1/payments', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({
          monetaryValue: { amount: 500, currency: 'IQD' },
          redirectUri: 'https://shop.example/back',
          statusCallbackUrl: setup.callback,
        }),
      })
      const { personalAppLink } = (await created.json()) as { personalAppLink: string }
      const path = new URL(personalAppLink).pathname
      expect(await (await setup.call(path)).text()).toContain('First Iraqi Bank')
      const answer = await press(path, action)
      expect(answer.headers.get('location')).toBe('https://shop.example/back')
      await setup.merchant.got(1)
    },
  )
})
