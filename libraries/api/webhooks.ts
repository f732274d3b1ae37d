// Describes webhooks, for the OpenAPI document: those of gateways, which we receive, and the events
// of payments, which we send to the shop.

import * as z from 'zod'
import { EVENT_PAYLOADS, webhookPayloadSchema } from '../../worker/payments/api/payment-schemas.ts'
import { EVENT_NAMES } from '../../worker/payments/domain/status.ts'
import type { WebhookRoute } from '../../worker/payments/facade.ts'
import {
  routePath,
  routePrefixOf,
  WEBHOOK_ROUTE_NAMES,
} from '../../worker/payments/webhooks/route-names.ts'
import type { WebhookResponse } from '../../worker/payments/webhooks/routes.ts'
import { timeSchema } from '../../worker/shared/fields.ts'
import type { Answer, Description, Operation } from './operation.ts'

/** What each text in a body means. A status has texts of its own. */
const BODIES: Record<
  WebhookResponse['body'],
  { status: WebhookResponse['status']; means: string }
> = {
  ok: { status: 200, means: 'it is recorded' },
  duplicate: { status: 200, means: 'this event came before, and nothing happened now' },
  ignored: { status: 200, means: 'it is of a kind that changes no payment' },
  stale: { status: 400, means: 'the event is too old, or its time is impossible' },
  invalid: { status: 401, means: 'the signature or the token is wrong or missing' },
  unknown: { status: 404, means: 'there is no such gateway' },
  not_allowed: { status: 405, means: 'webhooks are sent with POST' },
  timeout: { status: 408, means: 'the body is not here within ten seconds: send it again' },
  too_large: { status: 413, means: 'the body is larger than 256 KiB' },
  compressed: { status: 415, means: 'the body has a `Content-Encoding`' },
  error: { status: 500, means: 'something failed: send it again' },
  unavailable: { status: 503, means: 'the database cannot be reached: send it again' },
}

const EVENT_HEADERS = {
  'webhook-id': 'The id of the event: the same for every delivery.',
  'webhook-timestamp': 'Seconds since 1970, when it was signed.',
  'webhook-signature': 'Standard Webhooks: `v1,` and a base64 HMAC-SHA256, one for each secret.',
}

const receiving = (name: WebhookRoute): Operation => ({
  id: name === 'payments.webhook' ? 'receiveWebhook' : 'receiveCallback',
  summary: 'For gateways: what became of a payment',
  description:
    'The body is what the gateway sends. A middleware of `signalbox.config.ts` may answer ' +
    'something else.',
  needs: 'nothing',
  path: { gateway: 'Key of the configuration.' },
  headers: ['X-Correlation-Id'],
  body: 'any',
  answers: Object.fromEntries(
    [...Map.groupBy(Object.entries(BODIES), ([, { status }]) => status)].map(([status, bodies]) => [
      status,
      oneOf(status, bodies),
    ]),
  ),
  // On Cloudflare, where a variable is wrong.
  failures: ['misconfigured'],
})

const oneOf = (status: number, bodies: [string, { means: string }][]): Answer => ({
  description: bodies.map(([body, { means }]) => `\`${body}\`: ${means}`).join('; '),
  schema: z.enum(bodies.map(([body]) => body)),
  type: 'text/plain',
  headers: ['X-Correlation-Id', ...(status === 503 ? (['Retry-After'] as const) : [])],
})

const EVENTS = EVENT_NAMES.map((name) => {
  const body = z.object({
    type: z.literal(name),
    timestamp: timeSchema,
    data: EVENT_PAYLOADS[name],
  })
  const summary = EVENT_PAYLOADS[name].description ?? name
  return [name, { summary, headers: EVENT_HEADERS, body }] as const
})

export const WEBHOOKS: Description = {
  isBare: true,
  tag: {
    name: 'Webhooks',
    description:
      'Those of gateways, which only their signatures protect, and the events of payments, ' +
      'which are posted to PAYMENT_EVENTS_URL.',
  },
  operations: Object.fromEntries(
    WEBHOOK_ROUTE_NAMES.map((name) => [
      `POST ${routePath(name, routePrefixOf({}), ':gateway')}`,
      receiving(name),
    ]),
  ),
  schemas: {
    WebhookPayload: webhookPayloadSchema,
    ...Object.fromEntries(EVENTS.map(([name, { body }]) => [`${name}Event`, body])),
  },
  webhooks: Object.fromEntries(EVENTS),
}
