// What the OpenAPI document says of webhooks: those of gateways, which we receive, and the events
// of payments, which we send to the shop.

import * as z from 'zod'
import type { Answer, Description, Operation } from '../../shared/openapi/operation.ts'
import { EVENT_PAYLOADS } from '../domain/event-payloads.ts'
import { webhookPayloadSchema } from '../domain/payload.ts'
import { EVENT_NAMES } from '../domain/status.ts'
import { timeSchema } from '../domain/transaction.ts'
import type { WebhookAnswer } from './receive.ts'
import { routePath, WEBHOOK_ROUTE_NAMES, type WebhookRoute } from './route-names.ts'

type Word = WebhookAnswer['body'] | 'too_large'

/** What each word means; each status has its own. */
const WORDS: Record<Word, { status: WebhookAnswer['status'] | 413; means: string }> = {
  ok: { status: 200, means: 'it is recorded' },
  duplicate: { status: 200, means: 'this event came before, and nothing happened now' },
  ignored: { status: 200, means: 'it is of a kind that changes no payment' },
  stale: { status: 400, means: 'the event is too old, or its time is impossible' },
  invalid: { status: 401, means: 'the signature or the token is wrong or missing' },
  unknown: { status: 404, means: 'there is no such gateway' },
  too_large: { status: 413, means: 'the body is larger than 256 KiB' },
  error: { status: 500, means: 'something failed: send it again' },
  unavailable: { status: 503, means: 'the database cannot be reached: send it again' },
}

const EVENT_HEADERS = {
  'webhook-id': 'The id of the event: the same for every delivery.',
  'webhook-timestamp': 'Seconds since 1970, when it was signed.',
  'webhook-signature': 'Standard Webhooks: `v1,` and a base64 HMAC-SHA256, one for each secret.',
}

export function describeWebhooks(routePrefix: string): Description {
  const events = EVENT_NAMES.map((name) => {
    const body = z.object({
      type: z.literal(name),
      timestamp: timeSchema,
      data: EVENT_PAYLOADS[name],
    })
    const summary = EVENT_PAYLOADS[name].description ?? name
    return [name, { summary, headers: EVENT_HEADERS, body }] as const
  })
  return {
    isBare: true,
    tag: {
      name: 'Webhooks',
      description:
        'Those of gateways, which only their signatures protect, and the events of payments, ' +
        'which are posted to PAYMENT_EVENTS_URL.',
    },
    operations: Object.fromEntries(
      WEBHOOK_ROUTE_NAMES.map((name) => [
        `POST ${routePath(name, routePrefix, ':gateway')}`,
        receiving(name),
      ]),
    ),
    schemas: {
      WebhookPayload: webhookPayloadSchema,
      ...Object.fromEntries(events.map(([name, { body }]) => [`${name}Event`, body])),
    },
    webhooks: Object.fromEntries(events),
  }
}

const receiving = (name: WebhookRoute): Operation => ({
  id: name === 'payments.webhook' ? 'receiveWebhook' : 'receiveCallback',
  summary: 'For gateways: what became of a payment',
  description:
    'The body is what the gateway sends. A middleware of `signalbox.config.ts` may answer ' +
    'something else.',
  needs: 'nobody',
  path: { gateway: 'Key of the configuration.' },
  headers: ['X-Correlation-Id'],
  body: 'any',
  answers: Object.fromEntries(
    [...Map.groupBy(Object.entries(WORDS), ([, { status }]) => status)].map(([status, words]) => [
      status,
      oneOf(status, words),
    ]),
  ),
  // On Cloudflare, where a variable is wrong.
  failures: ['misconfigured'],
})

const oneOf = (status: number, words: [string, { means: string }][]): Answer => ({
  description: words.map(([word, { means }]) => `\`${word}\`: ${means}`).join('; '),
  schema: z.enum(words.map(([word]) => word)),
  type: 'text/plain',
  headers: ['X-Correlation-Id', ...(status === 503 ? (['Retry-After'] as const) : [])],
})
