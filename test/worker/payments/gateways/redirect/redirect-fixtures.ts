// The redirect gateway as the contract of drivers needs it: its simulation, how it refuses, and
// tokens that are forged.

import { exportSPKI, generateKeyPair } from 'jose'
import type { GatewayFixtures } from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import {
  bytes,
  CHARGE,
  claims,
  INIT,
  inBody,
  REFUND,
  REVERSE,
  received,
  SETTINGS,
  sign,
} from '../../../../support/redirect-fixtures.ts'
import { PHONE, simulated } from '../../../../support/simulated-gateway.ts'

// While the key is changed, there are two.
const settings = {
  ...SETTINGS,
  api_key: `the-next-key-that-signs-callbacks-32 ${SETTINGS.api_key}`,
}
const base64url = (text: string) => Buffer.from(text).toString('base64url')
const unsigned = (alg: string) =>
  `${base64url(JSON.stringify({ alg, typ: 'JWT' }))}.${base64url(JSON.stringify(claims()))}.`

export const fixtures: GatewayFixtures = {
  ...simulated('redirect', { driver: redirect, settings, charge: CHARGE }),
  refund: REFUND,
  ids: ['gt-1', 'gt-2'],
  isMoney: ({ method, path }) => [INIT, REVERSE].includes(`${method} ${path}`),
  sent: ({ reference, amount, currency }) => ({
    orderId: reference,
    amount: { value: amount, currency },
  }),
  refuses: () => json({ code: 'AMOUNT_TOO_SMALL', message: 'Too small.' }, 400),
  refunds: { done: () => json({ status: 'COMPLETED', reversalReferenceId: 'rv-1' }) },
  signs: 'token',
  hidden: [PHONE],
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
      'both keys in one': inBody(await sign(claims(), bytes(settings.api_key))),
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
}
