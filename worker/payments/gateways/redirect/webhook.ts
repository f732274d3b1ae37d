// Webhooks of the redirect gateway: how their origin is proven, by a signed token, and what is read
// from one.

import { compactVerify, errors } from 'jose'
import * as z from 'zod'
import { InvalidWebhookSignatureException } from '../../domain/exceptions.ts'
import { optionalText } from '../fields.ts'
import type { GatewayCall, IgnoredWebhook, UnreadableWebhook, WebhookRequest } from '../gateway.ts'
import { parseJson, unreadableParts } from '../reply.ts'
import { failure, id, meaningOf, money, optionalId, timeOf } from './wire.ts'

const IN_BODY = ['webhook_token', 'token']
const IN_QUERY = 'token'

/** Imported once: an import for each callback takes as long as checking its signature. */
export const verifyingKey = (apiKey: string) =>
  crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(apiKey),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )

export type VerifyingKey = Awaited<ReturnType<typeof verifyingKey>>

/** Throws InvalidWebhookSignatureException unless there is exactly one. */
export function tokenIn(request: WebhookRequest): string {
  const fields = fieldsOf(request)
  const [token, another] = new Set([...tokensIn(fields), ...request.query.getAll(IN_QUERY)])
  if (token === undefined) throw new InvalidWebhookSignatureException('It has no token')
  // A proxy in front of us may have checked another one than we would.
  if (another !== undefined) throw new InvalidWebhookSignatureException('It has several tokens')
  return token
}

function tokensIn(fields: readonly [string, unknown][]): string[] {
  const tokens = fields.filter(([name]) => IN_BODY.includes(name)).map(([, value]) => value)
  if (tokens.every((token) => typeof token === 'string')) return tokens
  throw new InvalidWebhookSignatureException('Its token is not a string')
}

function fieldsOf({
  headers,
  body,
}: Pick<WebhookRequest, 'headers' | 'body'>): [string, unknown][] {
  const type = headers.get('content-type') ?? ''
  if (/^multipart\/form-data\b/i.test(type)) return multipartFields(type, body)
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []
  } catch {
    // Not JSON: it may be a form.
    return [...new URLSearchParams(body)]
  }
}

/**
 * The text fields of a multipart form. Not by the host's `formData()`: Node's refuses a boundary of
 * fewer than 27 characters, which workerd's and many senders allow.
 */
function multipartFields(type: string, body: string): [string, unknown][] {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return []
  // Before the first boundary there is no part, and after the last one none that ends.
  const parts = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, -1)
  return parts.flatMap((part): [string, unknown][] => {
    const end = part.indexOf('\r\n\r\n')
    const [, name] = /^content-disposition:.*?;\s*name="([^"]*)"/im.exec(part.slice(0, end)) ?? []
    return end === -1 || name === undefined ? [] : [[name, part.slice(end + 4)]]
  })
}

/**
 * The token's claims, if one of the keys signed it. Only that is checked: with a check of `exp`, a
 * late callback would count as forged, and its payment would not be checked with the gateway. Its
 * age is judged by its signed timestamp, as for every gateway.
 */
export async function verified(token: string, keys: readonly VerifyingKey[]): Promise<unknown> {
  let code = 'unreadable'
  for (const key of keys) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: ['HS256'] })
      return parse(new TextDecoder().decode(payload))
    } catch (error) {
      if (error instanceof errors.JOSEError) code = error.code
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break
    }
  }
  throw new InvalidWebhookSignatureException(`Its token is not signed with our key: ${code}`)
}

const claimed = z.object({
  eventType: z.string().catch(''),
  eventId: id,
  timestamp: z
    .unknown()
    .optional()
    .transform((value) => timeOf(value) ?? Number.NaN),
  data: z.object({
    transactionId: id,
    merchantReferenceId: optionalId,
    orderId: id.catch(''),
    errorMessage: optionalText,
    currentStatus: z.string().catch(''),
    amount: money,
  }),
})

/** The ids of its payment, also if the rest cannot be read. */
const ids = z.object({
  data: z.object({ transactionId: optionalId, merchantReferenceId: optionalId }),
})

/** The event type of the doctor's own callback: it is signed with our key, and about no payment. */
const DOCTOR = 'SIGNALBOX_DOCTOR'
const fromDoctor = z.object({ eventType: z.literal(DOCTOR) })
const ignored: IgnoredWebhook = { ignored: DOCTOR }

export function readClaims(claims: unknown, call: GatewayCall) {
  if (fromDoctor.safeParse(claims).success) return ignored
  const read = claimed.safeParse(claims)
  if (!read.success) {
    return unreadable(claims, unreadableParts(read.error, 'the whole token'))
  }
  const { eventType, eventId, timestamp, data } = read.data
  const outcome = outcomeOf(eventType, data, call)
  if (!outcome) return unreadable(claims, 'data.currentStatus')
  const { transactionId, merchantReferenceId, orderId, amount } = data
  return {
    gatewayTransactionId: transactionId,
    reference: orderId,
    ...(merchantReferenceId !== undefined && { externalReferenceId: merchantReferenceId }),
    ...amount,
    eventId,
    occurredAt: timestamp,
    ...outcome,
  }
}

function unreadable(claims: unknown, where: string): UnreadableWebhook {
  const { transactionId, merchantReferenceId } = ids.safeParse(claims).data?.data ?? {}
  return {
    unreadable: where,
    ...(transactionId !== undefined && { gatewayTransactionId: transactionId }),
    ...(merchantReferenceId !== undefined && { externalReferenceId: merchantReferenceId }),
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    // The parser's message quotes the text, which may be personal data of the payer: it is dropped.
    return undefined
  }
}

/**
 * The event type comes first: during a refund the status may still be that of the payment.
 * Undefined: it has neither.
 */
function outcomeOf(
  eventType: string,
  { currentStatus, errorMessage }: { currentStatus: string; errorMessage?: string | undefined },
  call: GatewayCall,
) {
  switch (eventType) {
    case 'REFUND_COMPLETED':
      return { status: 'Refunded' } as const
    case 'REFUND_FAILED': {
      const error = failure('refund_failed', currentStatus || eventType, errorMessage)
      return { status: 'Paid', alert: 'refund_failed', error } as const
    }
    default: {
      if (eventType !== 'STATUS_CHANGED') {
        call.warn('payments.redirect_gateway.unknown_event', { eventType })
      }
      if (currentStatus === '') return undefined
      const { status, error } = meaningOf(currentStatus, errorMessage, call)
      return { status, ...(error && { error }) }
    }
  }
}
