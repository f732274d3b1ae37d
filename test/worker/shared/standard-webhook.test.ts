import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { createWebhookSigner, whsecProblem } from '../../../worker/shared/standard-webhook.ts'

const secret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`

describe('a signed webhook', () => {
  it('is accepted by the standard’s own library, for any body', async () => {
    const key = secret()
    const signer = createWebhookSigner([key])
    await fc.assert(
      fc.asyncProperty(fc.json(), async (body) => {
        const headers = await signer.sign('01EVENT', Date.now(), body)
        expect(new Webhook(key).verify(body, headers)).toEqual(JSON.parse(body))
      }),
    )
  })

  it('is accepted with the old and the new secret during a rotation', async () => {
    const [old, next, other] = [secret(24), secret(64), secret()]
    const body = '{"type":"PaymentSucceeded"}'
    const headers = await createWebhookSigner([next, old]).sign('01EVENT', Date.now(), body)
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
    for (const key of [old, next]) expect(new Webhook(key).verify(body, headers)).toBeTruthy()
    expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature')
  })

  it('is not accepted with another id, body or time', async () => {
    const key = secret()
    const headers = await createWebhookSigner([key]).sign('01EVENT', Date.now(), '{}')
    const webhook = new Webhook(key)
    expect(() => webhook.verify('{ }', headers)).toThrow('No matching signature')
    expect(() => webhook.verify('{}', { ...headers, 'webhook-id': '01OTHER' })).toThrow('matching')
    const later = String(Number(headers['webhook-timestamp']) + 1)
    expect(() => webhook.verify('{}', { ...headers, 'webhook-timestamp': later })).toThrow('match')
  })

  it('has its time in whole seconds', async () => {
    const headers = await createWebhookSigner([secret()]).sign('1', 1_700_000_000_999, '{}')
    expect(headers['webhook-timestamp']).toBe('1700000000')
  })
})

describe('a secret', () => {
  it.each([24, 32, 64])('of %i bytes can sign', (bytes) => {
    expect(whsecProblem(secret(bytes))).toBeUndefined()
  })

  it.each([
    ['', /begin with whsec_/],
    ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', /begin with whsec_/],
    ['whsec_', /base64/],
    ['whsec_not base64 at all, is it?', /base64/],
    ['whsec_abcde', /base64/],
    [`whsec_${'-_'.repeat(16)}`, /base64/],
    ['whsec_c2hvcnQ=', /24 to 64 bytes, and one has 5/],
    [secret(65), /one has 65/],
  ])('like %s cannot sign, and the message does not contain it', (text, problem) => {
    const message = whsecProblem(text)
    expect(message).toMatch(problem)
    const encoded = text.slice('whsec_'.length)
    if (encoded) expect(message).not.toContain(encoded)
  })
})
