// What every driver of a gateway keeps, whatever its gateway does.

import { describe, expect, it } from 'vitest'
import type { VerifiedWebhook } from '../../worker/payments/domain/payload.ts'
import { PAYMENT_STATUSES } from '../../worker/payments/domain/status.ts'
import type {
  Driver,
  GatewayCharge,
  GatewayRefund,
  Settings,
  WebhookRequest,
} from '../../worker/payments/gateways/gateway.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import {
  type Answer,
  GatewayBed,
  json,
  noConnection,
  page,
  type Sent,
  silence,
} from '../support/gateway-bed.ts'

export interface GatewayFixtures {
  driver: Driver
  settings: Settings
  /** One that the gateway takes. */
  charge: GatewayCharge
  /** Of the whole charge; missing where the driver gives nothing back. */
  refund?: GatewayRefund
  /** Missing: it takes any. */
  unsupportedCurrency?: string
  /** The gateway in health, its token included. */
  healthy: Answer
  /** What a request has to be to make a payment, or to give one back. */
  isMoney: (sent: Sent) => boolean
  /** Two deliveries of one event, what the gateway said with the first, and another event. */
  genuine: () => Promise<{
    first: WebhookRequest
    raw: unknown
    again: WebhookRequest
    other: WebhookRequest
  }>
  /** By what is wrong with each. */
  forged: () => Promise<Record<string, WebhookRequest>>
  /** Callbacks prove by themselves where they come from; others are re-read from the gateway. */
  isSigned: boolean
}

const UNAVAILABLE = { code: 'gateway_unavailable' }
const INVALID = { code: 'invalid_argument' }

/** Ways of not answering as itself, to everything that is asked. */
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
  const { driver, settings, charge, refund, unsupportedCurrency, healthy, isMoney } = fixtures
  const gateway = driver.create('shop', settings)
  const bedOf = (answer: Answer = healthy) => new GatewayBed(gateway, answer)
  /** Healthy until it comes to money: an access token is given. */
  const failingAtMoney =
    (answer: Answer): Answer =>
    async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = await request.clone().text()
      const isIt = isMoney({ method, path: pathname + search, headers, body })
      return isIt ? await answer(request) : await healthy(request)
    }
  const receive = (bed: GatewayBed, request: WebhookRequest) =>
    bed.end(gateway.handleWebhook(request, bed.call()))
  const payloadOf = async (request: WebhookRequest): Promise<VerifiedWebhook> => {
    const payload = await receive(bedOf(), request)
    if ('ignored' in payload) throw new Error(`It was ignored: ${payload.ignored}`)
    return payload
  }

  describe(`the contract of a gateway, kept by ${name}`, () => {
    it('works with its fixtures, and names what is required', () => {
      expect(driver.check?.(settings) ?? []).toEqual([])
      expect(driver.envPrefix).toMatch(/^[A-Z][A-Z_]*_$/)
      for (const setting of Object.keys(settings)) expect(driver.settings).toHaveProperty(setting)
      expect(gateway.key).toBe('shop')
    })

    it('charges', async () => {
      const bed = bedOf()
      const call = bed.call()
      const answer = await bed.end(gateway.charge(charge, call))
      expect(answer).toMatchObject({ ok: true, gatewayTransactionId: expect.stringMatching(/./) })
      expect(bed.sent.filter(isMoney)).toHaveLength(1)
      expect(call.verdict()).toBe('success')
    })

    it.runIf(unsupportedCurrency)('refuses another currency before any call', async () => {
      const bed = bedOf()
      const other = { ...charge, currency: unsupportedCurrency ?? '' }
      await expect(bed.end(gateway.charge(other, bed.call()))).rejects.toMatchObject(INVALID)
      expect(bed.sent).toEqual([])
    })

    describe.each(Object.entries(OUTAGES))('when the answer is %s', (_, outage) => {
      it('does not know what became of a charge', async () => {
        for (const answer of [outage, failingAtMoney(outage)]) {
          const bed = bedOf(answer)
          const call = bed.call()
          await expect(bed.end(gateway.charge(charge, call))).rejects.toMatchObject(UNAVAILABLE)
          expect(call.verdict()).toBe('failure')
        }
      })

      it('asks for a charge again only where the gateway makes one of it', async () => {
        const bed = bedOf(failingAtMoney(outage))
        await expect(bed.end(gateway.charge(charge, bed.call()))).rejects.toThrow()
        // One that is silent leaves time for two.
        const most = outage === silence ? 2 : 3
        expect(bed.sent.filter(isMoney)).toHaveLength(gateway.chargeIsIdempotent ? most : 1)
      })

      it.runIf(gateway.checkStatus)('does not know the status', async () => {
        const bed = bedOf(outage)
        const names = { ...charge, gatewayTransactionId: 'gt-1' }
        const checked = async () => gateway.checkStatus?.(names, bed.call())
        await expect(bed.end(checked())).rejects.toMatchObject(UNAVAILABLE)
      })

      it.runIf(refund)('does not know what became of a refund', async () => {
        const bed = bedOf(failingAtMoney(outage))
        const refunded = async () => refund && gateway.refund?.(refund, bed.call())
        await expect(bed.end(refunded())).rejects.toMatchObject(UNAVAILABLE)
      })

      it.skipIf(fixtures.isSigned)('asks for an unsigned callback to come again', async () => {
        const { first } = await fixtures.genuine()
        await expect(receive(bedOf(outage), first)).rejects.toMatchObject(UNAVAILABLE)
      })
    })

    it('tells of each attempt that ran out of time', async () => {
      const bed = bedOf(failingAtMoney(silence))
      await expect(bed.end(gateway.charge(charge, bed.call()))).rejects.toThrow()
      const attempts = gateway.chargeIsIdempotent ? 2 : 1
      expect(bed.timeouts).toHaveLength(attempts)
      expect(bed.timeouts[0]).toMatchObject({ gateway: 'shop', durationMs: 15_000 })
    })

    it('does not take an answer for a payment that names none', async () => {
      const bed = bedOf(failingAtMoney(() => json({})))
      const charged = bed.end(gateway.charge(charge, bed.call()))
      await expect(charged).rejects.toMatchObject(UNAVAILABLE)
    })

    it.runIf(refund && gateway.refunds === 'full')('gives back all or nothing', async () => {
      const bed = bedOf()
      const half = refund && { ...refund, refundAmount: Math.floor(refund.amount / 2) }
      const refunded = half && gateway.refund?.(half, bed.call())
      await expect(refunded).rejects.toMatchObject(INVALID)
      expect(bed.sent).toEqual([])
    })

    it('refuses every forged callback', async () => {
      const forged = Object.entries(await fixtures.forged())
      expect(forged.length).toBeGreaterThan(0)
      for (const [wrong, request] of forged) {
        const bed = bedOf()
        await expect(receive(bed, request), wrong).rejects.toMatchObject({
          code: 'invalid_webhook_signature',
        })
        if (fixtures.isSigned) expect(bed.sent, wrong).toEqual([])
      }
    })

    it('reads a callback into a payload, with what the gateway said as it was', async () => {
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

    it('gives an event the same id at every delivery, and another one another', async () => {
      const { first, again, other } = await fixtures.genuine()
      const id = (await payloadOf(first)).eventId
      expect(id).not.toBe('')
      expect((await payloadOf(again)).eventId).toBe(id)
      expect((await payloadOf(other)).eventId).not.toBe(id)
    })

    it('tells no secret, even when the gateway repeats what it was sent', async () => {
      const secrets = Object.entries(settings)
        .filter(([setting]) => isSecretName(setting))
        .flatMap(([, value]) => value.split(/\s+/))
      expect(secrets.length).toBeGreaterThan(0)
      const told: unknown[] = []
      const echo: Answer = async (request) => {
        const headers = [...request.headers].join('\n')
        return page(`${headers}\n${await request.text()}`, 500)
      }
      for (const answer of [echo, failingAtMoney(echo)]) {
        const bed = bedOf(answer)
        const granted = await bed.end(bed.guard.accessToken('shop'))
        if (granted.ok) secrets.push(granted.token)
        told.push(await bed.end(gateway.charge(charge, bed.call())).catch(asIs))
        for (const request of Object.values(await fixtures.forged())) {
          told.push(await receive(bed, request).catch(asIs))
        }
        told.push(bed.lines, bed.timeouts)
      }
      const text = told.map(spelled).join('\n')
      for (const secret of secrets) expect(text).not.toContain(secret)
    })
  })
}

const asIs = (error: unknown): unknown => error

/** All that somebody could read of it, the causes of errors too. */
function spelled(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value)
  return `${value.stack}\n${JSON.stringify(value)}\n${spelled(value.cause ?? null)}`
}
