// The contract of every gateway driver, in the presence of any fault of its gateway.

import { describe, expect, it } from 'vitest'
import { PAYMENT_STATUSES } from '../../worker/payments/domain/status.ts'
import type {
  Driver,
  GatewayCharge,
  GatewayRefund,
  Settings,
  WebhookRequest,
} from '../../worker/payments/gateways/gateway.ts'
import type { VerifiedWebhook } from '../../worker/payments/schemas.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import {
  type Answer,
  GatewaySetup,
  json,
  noConnection,
  page,
  type Sent,
  silence,
} from '../support/gateway-setup.ts'

export interface GatewayFixtures {
  driver: Driver
  settings: Settings
  /** A charge that the gateway accepts. */
  charge: GatewayCharge
  /** A refund of the whole charge; missing if the driver does not support refunds. */
  refund?: GatewayRefund
  /** The healthy gateway, its token endpoint included. */
  healthy: Answer
  /** Recognizes the requests that make a payment or a refund. */
  isMoney: (sent: Sent) => boolean
  /** Two deliveries of one event, the raw body of the first, and another event. */
  genuine: () => Promise<{
    first: WebhookRequest
    raw: unknown
    again: WebhookRequest
    other: WebhookRequest
  }>
  /** By their fault. */
  forged: () => Promise<Record<string, WebhookRequest>>
  /** Callbacks are signed; otherwise the payment is read from the gateway. */
  isSigned: boolean
}

const UNAVAILABLE = { code: 'gateway_unavailable' }
const INVALID = { code: 'invalid_argument' }

/** Faults of a gateway, for every request. */
const OUTAGES: Record<string, Answer> = {
  'an HTML page with 200': () => page('Maintenance'),
  'an HTML page with 403': () => page('Forbidden', 403),
  'an HTML page with 404': () => page('Not found', 404),
  'an HTML page with 502': () => page('Bad gateway', 502),
  'JSON with 500': () => json({ error: 'oops' }, 500),
  'JSON with 429': () => json({ error: 'slow down' }, 429),
  'half of some JSON': () => new Response('{"status": "SUC'),
  'a redirect': () => new Response(null, { status: 302, headers: { location: '/login' } }),
  'no connection': noConnection,
  silence,
}

export function gatewayContract(name: string, fixtures: GatewayFixtures): void {
  const { driver, settings, charge, refund, healthy, isMoney } = fixtures
  const gateway = driver.create('shop', settings)
  const setupOf = (answer: Answer = healthy) => new GatewaySetup(gateway, answer)
  /** The token endpoint works; the others have the fault. */
  const failingAtMoney =
    (answer: Answer): Answer =>
    async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = await request.clone().text()
      const isIt = isMoney({ method, path: pathname + search, headers, body })
      return isIt ? await answer(request) : await healthy(request)
    }
  const receive = (setup: GatewaySetup, request: WebhookRequest) =>
    setup.end(gateway.handleWebhook(request, setup.call()))
  const payloadOf = async (request: WebhookRequest): Promise<VerifiedWebhook> => {
    const payload = await receive(setupOf(), request)
    if (!('eventId' in payload)) throw new Error(`It is no event: ${JSON.stringify(payload)}`)
    return payload
  }

  describe(`the contract of a gateway, for ${name}`, () => {
    it('works with its fixtures, and names the required settings', () => {
      expect(driver.check?.(settings) ?? []).toEqual([])
      expect(driver.envPrefix).toMatch(/^[A-Z][A-Z_]*_$/)
      for (const setting of Object.keys(settings)) expect(driver.settings).toHaveProperty(setting)
      expect(gateway.key).toBe('shop')
    })

    it('charges', async () => {
      const setup = setupOf()
      const call = setup.call()
      const answer = await setup.end(gateway.charge(charge, call))
      expect(answer).toMatchObject({ ok: true, gatewayTransactionId: expect.stringMatching(/./) })
      expect(setup.sent.filter(isMoney)).toHaveLength(1)
      expect(call.verdict()).toBe('success')
    })

    describe.each(Object.entries(OUTAGES))('when the answer is %s', (_, outage) => {
      it('reports an unknown outcome of a charge', async () => {
        for (const answer of [outage, failingAtMoney(outage)]) {
          const setup = setupOf(answer)
          const call = setup.call()
          await expect(setup.end(gateway.charge(charge, call))).rejects.toMatchObject(UNAVAILABLE)
          expect(call.verdict()).toBe('failure')
        }
      })

      it('repeats a charge only if the gateway makes one payment of it', async () => {
        const setup = setupOf(failingAtMoney(outage))
        await expect(setup.end(gateway.charge(charge, setup.call()))).rejects.toThrow()
        // With a gateway that does not answer, there is time for two tries.
        const most = outage === silence ? 2 : 3
        expect(setup.sent.filter(isMoney)).toHaveLength(gateway.chargeIsIdempotent ? most : 1)
      })

      it.runIf(gateway.checkStatus)('reports an unknown status', async () => {
        const setup = setupOf(outage)
        const names = { ...charge, gatewayTransactionId: 'gt-1' }
        const checked = async () => gateway.checkStatus?.(names, setup.call())
        await expect(setup.end(checked())).rejects.toMatchObject(UNAVAILABLE)
      })

      it.runIf(refund)('reports an unknown outcome of a refund', async () => {
        const setup = setupOf(failingAtMoney(outage))
        const refunded = async () => refund && gateway.refund?.(refund, setup.call())
        await expect(setup.end(refunded())).rejects.toMatchObject(UNAVAILABLE)
      })

      it.skipIf(fixtures.isSigned)('asks the gateway to repeat an unsigned callback', async () => {
        const { first } = await fixtures.genuine()
        await expect(receive(setupOf(outage), first)).rejects.toMatchObject(UNAVAILABLE)
      })
    })

    it('fires GatewayTimeout for each attempt that times out', async () => {
      const setup = setupOf(failingAtMoney(silence))
      await expect(setup.end(gateway.charge(charge, setup.call()))).rejects.toThrow()
      const attempts = gateway.chargeIsIdempotent ? 2 : 1
      expect(setup.timeouts).toHaveLength(attempts)
      expect(setup.timeouts[0]).toMatchObject({ gateway: 'shop', durationMs: 15_000 })
    })

    it('does not accept an answer without a payment id', async () => {
      const setup = setupOf(failingAtMoney(() => json({})))
      const charged = setup.end(gateway.charge(charge, setup.call()))
      await expect(charged).rejects.toMatchObject(UNAVAILABLE)
    })

    it.runIf(refund && gateway.refunds === 'full')('supports full refunds only', async () => {
      const setup = setupOf()
      const half = refund && { ...refund, refundAmount: Math.floor(refund.amount / 2) }
      const refunded = half && gateway.refund?.(half, setup.call())
      await expect(refunded).rejects.toMatchObject(INVALID)
      expect(setup.sent).toEqual([])
    })

    it('refuses every forged callback', async () => {
      const forged = Object.entries(await fixtures.forged())
      expect(forged.length).toBeGreaterThan(0)
      for (const [wrong, request] of forged) {
        const setup = setupOf()
        await expect(receive(setup, request), wrong).rejects.toMatchObject({
          code: 'invalid_webhook_signature',
        })
        if (fixtures.isSigned) expect(setup.sent, wrong).toEqual([])
      }
    })

    it('turns a callback into a payload, with the gateway’s body unchanged', async () => {
      const { first, raw } = await fixtures.genuine()
      const payload = await payloadOf(first)
      expect(payload.gateway).toBe('shop')
      expect(payload.raw).toEqual(raw)
      expect(payload.gatewayTransactionId).not.toBe('')
      expect(PAYMENT_STATUSES).toContain(payload.status)
      expect(Number.isSafeInteger(payload.amount)).toBe(true)
      expect(payload.currency).toMatch(/^[A-Z]{3}$/)
      expect(payload.occurredAt).toBeGreaterThan(Date.UTC(2000))
    })

    it('gives one event the same id at every delivery, and other events other ids', async () => {
      const { first, again, other } = await fixtures.genuine()
      const id = (await payloadOf(first)).eventId
      expect(id).not.toBe('')
      expect((await payloadOf(again)).eventId).toBe(id)
      expect((await payloadOf(other)).eventId).not.toBe(id)
    })

    it('reveals no secret, even when the gateway repeats the request', async () => {
      const secrets = Object.entries(settings)
        .filter(([setting]) => isSecretName(setting))
        .flatMap(([, value]) => value.split(/\s+/))
      expect(secrets.length).toBeGreaterThan(0)
      const outputs: unknown[] = []
      const echo: Answer = async (request) => {
        const headers = [...request.headers].join('\n')
        return page(`${headers}\n${await request.text()}`, 500)
      }
      for (const answer of [echo, failingAtMoney(echo)]) {
        const setup = setupOf(answer)
        const granted = await setup.end(setup.guard.accessToken('shop'))
        if (granted.ok) secrets.push(granted.token)
        outputs.push(await setup.end(gateway.charge(charge, setup.call())).catch(asIs))
        for (const request of Object.values(await fixtures.forged())) {
          outputs.push(await receive(setup, request).catch(asIs))
        }
        outputs.push(setup.lines, setup.timeouts)
      }
      const text = outputs.map(spelled).join('\n')
      for (const secret of secrets) expect(text).not.toContain(secret)
    })
  })
}

const asIs = (error: unknown): unknown => error

/** All text of a value, with the causes of errors. */
function spelled(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value)
  return `${value.stack}\n${JSON.stringify(value)}\n${spelled(value.cause ?? null)}`
}
