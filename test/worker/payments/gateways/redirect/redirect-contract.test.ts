// The contract of a gateway, and that the simulator agrees.

import { exportSPKI, generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../../libraries/testing/gateway-contract.ts'
import type { HeldPayment } from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { CALL_TIMEOUT_MS, openCall } from '../../../../../worker/payments/gateways/client.ts'
import type { GatewayCall } from '../../../../../worker/payments/gateways/gateway.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import {
  bytes,
  CHARGE,
  claims,
  gateway,
  INIT,
  inBody,
  NAMES,
  REFUND,
  REVERSE,
  received,
  SETTINGS,
  sign,
} from '../../../../support/redirect-fixtures.ts'
import {
  API_KEY,
  CLIENT,
  type SimulatorSetup,
  setUpSimulator,
} from '../../../../support/simulator.ts'

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const unsigned = (alg: string) =>
  `${base64url(JSON.stringify({ alg, typ: 'JWT' }))}.${base64url(JSON.stringify(claims()))}.`

const written = ({ amount, currency }: HeldPayment) => ({
  value: currency === 'IQD' ? amount : (amount / 100).toFixed(2),
  currency,
})
const inquired = (held: HeldPayment) => ({
  status: held.state,
  transactionDetails: {
    transactionId: held.id,
    externalReferenceId: held.externalReferenceId,
    amount: written(held),
  },
})

const contract = gatewayContract({
  driver: redirect,
  settings: SETTINGS,
  charge: CHARGE,
  refund: REFUND,
  ids: ['gt-1', 'gt-2'],
  states: {
    Pending: 'PENDING',
    Paid: 'SUCCESS',
    Failed: 'FAILED',
    Expired: 'EXPIRED',
    Refunded: 'REFUNDED',
  },
  healthy: (request, held) => gateway({ inquiry: () => json(inquired(held)) })(request),
  isMoney: ({ method, path }) => [INIT, REVERSE].includes(`${method} ${path}`),
  sent: ({ reference, amount, currency }) => ({
    orderId: reference,
    amount: { value: amount, currency },
  }),
  refuses: () => json({ code: 'AMOUNT_TOO_SMALL', message: 'Too small.' }, 400),
  refunds: { done: () => json({ status: 'COMPLETED', reversalReferenceId: 'rv-1' }) },
  signs: 'token',
  async callback(held, { id, at }) {
    const raw = claims({
      eventId: id,
      timestamp: new Date(at).toISOString(),
      data: {
        transactionId: held.id,
        merchantReferenceId: held.externalReferenceId,
        orderId: held.reference,
        currentStatus: held.state,
        amount: written(held),
      },
    })
    return { request: inBody(await sign(raw)), raw }
  },
  hidden: ['9647800000000'],
  async forged() {
    const genuine = await sign(claims())
    const another = await sign(claims({ eventId: 'ev-2' }))
    const [head, payload, signature] = genuine.split('.')
    const paid = base64url(JSON.stringify(claims({ data: { amount: { value: 1 } } })))
    const pair = await generateKeyPair('RS256', { extractable: true })
    const publicKey = await exportSPKI(pair.publicKey)
    return {
      'no body': received(''),
      'a body without a token': received('{"status":"SUCCESS"}'),
      'an empty token': inBody(''),
      'a token of null': inBody(null),
      'a token that is a number': inBody(17),
      'a token that is a list': inBody([genuine]),
      'a token that is an object': inBody({ token: genuine }),
      'a list as body': received(JSON.stringify([genuine])),
      'a list of bodies': received(JSON.stringify([{ webhook_token: genuine }])),
      'a number as body': received('17'),
      'a text as body': received(JSON.stringify(genuine)),
      'garbage as body': received('\u0000\u0001{{{'),
      'the bare token as body': received(genuine),
      'broken JSON around the token': received(`{"webhook_token":"${genuine}"`),
      'a token that is cut off': inBody(genuine.slice(0, -4)),
      'a token without its signature': inBody(`${head}.${payload}.`),
      'a token of two segments': inBody(`${head}.${payload}`),
      'an extra segment behind': inBody(`${genuine}.${signature}`),
      'an extra empty segment': inBody(`${genuine}.`),
      'five segments, as of something encrypted': inBody(`${genuine}.${payload}.${signature}`),
      'other claims under the same signature': inBody(`${head}.${paid}.${signature}`),
      'another one’s signature': inBody(`${head}.${payload}.${another.split('.')[2]}`),
      'another key': inBody(await sign(claims(), bytes('another-key-of-32-bytes-or-longer'))),
      'the client secret as key': inBody(await sign(claims(), bytes(SETTINGS.client_secret))),
      'alg none': inBody(unsigned('none')),
      'alg None': inBody(unsigned('None')),
      'no alg': inBody(`${base64url('{}')}.${payload}.${signature}`),
      'alg none with a signature': inBody(`${unsigned('none')}${signature}`),
      'HS512 with the right key': inBody(await sign(claims(), bytes(SETTINGS.api_key), 'HS512')),
      'RS256 of a key of his own': inBody(await sign(claims(), pair.privateKey, 'RS256')),
      'RS256 in its head over a signature of ours': inBody(
        `${base64url('{"alg":"RS256"}')}.${payload}.${signature}`,
      ),
      'HS256 made with a public key': inBody(await sign(claims(), bytes(publicKey))),
      'a critical extension': inBody(
        `${base64url('{"alg":"HS256","crit":["x"],"x":1}')}.${payload}.${signature}`,
      ),
      'body and query disagreeing': {
        ...inBody(genuine),
        query: new URLSearchParams({ token: another }),
      },
      'a forged query beside a genuine body': {
        ...inBody(genuine),
        query: new URLSearchParams({ token: unsigned('none') }),
      },
      'two names in the body that disagree': received(
        JSON.stringify({ webhook_token: genuine, token: another }),
      ),
      'two tokens in the query': received('', [
        ['token', genuine],
        ['token', another],
      ]),
      'two tokens in a form': received(`webhook_token=${genuine}&webhook_token=${another}`),
    }
  },
})

describe('the contract of a gateway, for redirect', () => {
  it.each(contract)('$name', ({ run }) => run())
})

const silent = () => undefined

function shopAt({ url }: SimulatorSetup) {
  const client = { client_id: CLIENT.id, client_secret: CLIENT.secret }
  const shop = redirect.create('shop', { ...SETTINGS, base_url: url, api_key: API_KEY, ...client })
  const base = { clock: hostClock, log: silent, fetch }
  const guard = createGuard({ gateways: new Map([['shop', shop]]), store: new Map(), ...base })
  const deps = { ...base, guard, notify: silent, key: 'shop' }
  const deadlineAt = hostClock.elapsed() + CALL_TIMEOUT_MS
  return { shop, call: () => openCall({ ...deps, deadlineAt }) }
}

async function charged(setup: SimulatorSetup) {
  const { shop, call } = shopAt(setup)
  const answer = await shop.charge(CHARGE, call())
  if (!answer.ok) throw new Error(answer.error.message)
  const names = { ...NAMES, gatewayTransactionId: answer.gatewayTransactionId }
  return { shop, call, answer, names }
}

describe('while the API key is changed', () => {
  it('callbacks are verified with each of the two, and with no other', async () => {
    const next = 'the-next-key-that-signs-callbacks-32'
    const api_key = `${next} ${SETTINGS.api_key}`
    const shop = redirect.create('shop', { ...SETTINGS, api_key })
    const call = { warn: silent } as unknown as GatewayCall
    const by = async (key: string) =>
      shop.handleWebhook(inBody(await sign(claims(), bytes(key))), call)
    for (const key of [next, SETTINGS.api_key]) {
      expect(await by(key)).toMatchObject({ status: 'Paid' })
    }
    for (const key of ['another-key-of-32-bytes-or-longer', api_key]) {
      await expect(by(key)).rejects.toMatchObject({ code: 'invalid_webhook_signature' })
    }
  })
})

describe('redirect and the simulator', () => {
  it('charge, report the payment, and refund it', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, answer, names } = await charged(setup)
    expect(answer.redirectUrl).toContain(setup.url)
    expect(answer.expiresAt).toBeGreaterThan(Date.now())
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Pending' })

    await setup.act(names.gatewayTransactionId, 'pay')
    const [body = ''] = await setup.merchant.got(1)
    expect(await shop.handleWebhook(received(body), call())).toMatchObject({
      gatewayTransactionId: names.gatewayTransactionId,
      reference: CHARGE.reference,
      externalReferenceId: CHARGE.externalReferenceId,
      status: 'Paid',
      amount: CHARGE.amount,
    })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Paid', amount: 25_000 })

    const asked = { refundId: 'rf-1', earlier: 'none', refundAmount: 25_000 } as const
    const refund = { ...names, ...asked, reason: 'Broken' }
    expect(await shop.refund(refund, call())).toMatchObject({ ok: true, isDone: true })
    const callback = (await setup.merchant.got(2))[1] ?? ''
    expect(await shop.handleWebhook(received(callback), call())).toMatchObject({
      status: 'Refunded',
    })
  })

  it('make one transaction of a repeated charge', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, names } = await charged(setup)
    await expect(shop.charge(CHARGE, call())).rejects.toMatchObject({
      code: 'gateway_unavailable',
      gatewayTransactionId: names.gatewayTransactionId,
    })
  })

  it('agree that a payment that was never made is unknown', async () => {
    await using setup = await setUpSimulator()
    const { shop, call } = shopAt(setup)
    expect(await shop.checkStatus(NAMES, call())).toEqual({ known: false })
  })
})
