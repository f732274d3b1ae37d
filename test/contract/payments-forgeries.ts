// Forged webhooks: 401, no row anywhere, and an event without their secrets.

import { UnsecuredJWT } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import {
  type Callback,
  claimsOf,
  fibCallback,
  redirectCallback,
  stripeCallback,
  tokenCallback,
  tokenOf,
} from '../support/callbacks.ts'
import { PATIENT } from '../support/patience.ts'
import { SECRETS } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'

export function forgeriesContract({ host, system }: Payments): void {
  const send = ({ path, headers, body }: Callback, more: Record<string, string> = {}) =>
    system().edge.fetch(path, { method: 'POST', headers: { ...headers, ...more }, body })
  const word = async (callback: Callback) => {
    const answer = await send(callback)
    return [answer.status, await answer.text()]
  }

  describe(`forged webhooks on ${host}`, () => {
    it('are 401, and leave no row anywhere', async () => {
      const charge = await system().charged()
      const payload = claimsOf(charge)
      const good = await redirectCallback(payload)
      const token = tokenOf(good)
      const [head, claims, signature] = token.split('.')
      const forged: Record<string, Callback> = {
        'no token': { ...good, body: '{}' },
        'no body': { ...good, body: '' },
        'a token that is not a string': tokenCallback({ alg: 'none' }),
        'cut off': tokenCallback(token.slice(0, -10)),
        'another signature': tokenCallback(
          `${head}.${claims}.${signature?.split('').reverse().join('')}`,
        ),
        'claims that were changed': tokenCallback(
          `${head}.${btoa(JSON.stringify({ ...payload, eventId: 'other' }))}.${signature}`,
        ),
        'alg none': tokenCallback(new UnsecuredJWT(payload).encode()),
        'signed with the client secret': await redirectCallback(
          payload,
          SECRETS.redirect.clientSecret,
        ),
        'signed with another key': await redirectCallback(payload, 'k'.repeat(32)),
        'body and query that disagree': {
          ...good,
          path: `${good.path}?token=${tokenOf(await redirectCallback(claimsOf(charge)))}`,
        },
        'an id that the bank does not know': fibCallback(crypto.randomUUID()),
        'no id at all': { ...fibCallback(''), body: 'id=1' },
        'Stripe without a signature': {
          ...stripeCallback('checkout.session.completed', {}),
          headers: {},
        },
        'Stripe with another secret': stripeCallback(
          'checkout.session.completed',
          {},
          { secret: 'whsec_other' },
        ),
        'Stripe with another body': {
          ...stripeCallback('checkout.session.completed', {}),
          body: '{}',
        },
      }
      const before = await system().rows()
      for (const [what, callback] of Object.entries(forged)) {
        expect(await word(callback), what).toEqual([401, 'invalid'])
      }
      expect(await system().rows()).toEqual(before)
      const { status, webhookEvents } = await system().story(charge.transactionId)
      expect({ status, webhookEvents }).toEqual({ status: 'Pending', webhookEvents: [] })
    })

    it('fire an event with their sensitive headers redacted', async () => {
      const marker = crypto.randomUUID()
      const secrets = {
        Authorization: 'Bearer a-secret',
        Cookie: 'session=a-secret',
        'X-Api-Key': 'a-secret',
        'X-Signature': 'a-secret',
      }
      const answer = await send(tokenCallback('no.real.token'), { ...secrets, 'X-Marker': marker })
      expect(answer.status).toBe(401)
      const mine = () =>
        system().receiver.events.find(({ data }) => data.headers?.['x-marker'] === marker)
      await vi.waitUntil(mine, PATIENT)
      const { type, data, forged } = mine() ?? {}
      expect(forged).toBeUndefined()
      expect(type).toBe('WebhookVerificationFailed')
      expect(data).toEqual({
        gateway: 'redirect',
        reason: expect.any(String),
        headers: expect.objectContaining({
          authorization: '[redacted]',
          cookie: '[redacted]',
          'x-api-key': '[redacted]',
          'x-signature': '[redacted]',
        }),
      })
      expect(JSON.stringify(data)).not.toContain('a-secret')
    })
  })
}
