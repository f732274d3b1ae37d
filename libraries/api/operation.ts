// How board.ts, payments.ts and openapi.ts describe routes: make-document.ts makes the OpenAPI
// document of it. Also the headers and the ways to authenticate, under the names that they use.

import type * as z from 'zod'
import { IDEMPOTENCY_KEY_PATTERN } from '../../worker/payments/api/routes-hono.ts'
import { CORRELATION_ID_PATTERN } from '../../worker/payments/domain/new-id.ts'
import type { Scope } from '../../worker/shared/access.ts'
import type { Reason } from '../../worker/shared/problem.ts'

/** What each of them adds to the document. */
export interface Description {
  tag: { name: string; description: string }
  /** By method and path, as the router has them: `GET /api/tasks/:id`. */
  operations: Readonly<Record<string, Operation>>
  /** The schemas of bodies and answers by their public names, and what else deserves a name. */
  schemas: Readonly<Record<string, z.ZodType>>
  /** What we send ourselves, by name. */
  webhooks?: Readonly<Record<string, SentWebhook>>
  /** The routes come before request ids and our own failures. */
  isBare?: true
}

export interface Operation {
  /** The name of the function in generated clients. */
  id: string
  summary: string
  description?: string
  /** `token`: any valid token. `nothing`: no token is needed. */
  needs: Scope | 'token' | 'nothing'
  /** A ticket in the query does as well as a token. */
  takesTicket?: true
  /** What each `:name` of the path is. */
  path?: Readonly<Record<string, string>>
  query?: z.ZodObject
  headers?: readonly RequestHeader[]
  /** `any`: any body that a gateway sends. */
  body?: z.ZodType | 'any'
  isBodyOptional?: true
  /** By status. */
  answers: Readonly<Record<number, Answer>>
  /** Besides those that all routes behind the authentication have. */
  failures: readonly Reason[]
}

export interface Answer {
  description: string
  /** Missing: there is no body. */
  schema?: z.ZodType
  /** Default: `application/json`. */
  type?: 'text/plain' | 'text/event-stream'
  /** The types of the same as a text, if it can be had so. */
  texts?: readonly string[]
  headers?: readonly ResponseHeader[]
}

/** For a read that can be asked again with its `ETag`. */
export const revalidated = (
  schema: z.ZodType,
  headers: readonly ResponseHeader[],
  texts?: readonly string[],
): Operation['answers'] => ({
  200: { description: 'As it is now.', schema, headers, ...(texts && { texts }) },
  304: { description: 'Nothing has changed since `If-None-Match`.', headers },
})

export interface SentWebhook {
  summary: string
  headers: Readonly<Record<string, string>>
  body: z.ZodType
}

const text = { type: 'string' }

export const RESPONSE_HEADERS = {
  'Cache-Control': {
    description: 'Who may keep the answer, and how long.',
    required: true,
    schema: text,
  },
  ETag: {
    description: 'Names this answer: send it as `If-None-Match`.',
    required: true,
    schema: text,
  },
  'Retry-After': {
    description:
      'Seconds after which the same request is worth sending again. With every 503, and with the ' +
      '`in_progress` of a charge.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Set-Cookie': {
    description: 'The session, which no script can read.',
    required: true,
    schema: text,
  },
  'WWW-Authenticate': { description: '`Bearer`.', required: true, schema: text },
  'X-Correlation-Id': {
    description: 'Of the request, or made here: it is in the log and in the payment.',
    schema: text,
  },
  'X-Request-Id': {
    description: 'Of the request, or made here: it is in the log.',
    required: true,
    schema: text,
  },
  'X-Signalbox-Seq': {
    description: 'The newest change that the answer surely includes, in the form of an event id.',
    required: true,
    schema: text,
  },
}
export type ResponseHeader = keyof typeof RESPONSE_HEADERS

export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description:
      'The same key with the same request is the same charge or refund, however often it is sent.',
    schema: { ...text, pattern: IDEMPOTENCY_KEY_PATTERN.source },
  },
  'If-None-Match': {
    description: 'The `ETag` of an answer: what has not changed is answered with `304`.',
    schema: text,
  },
  'Last-Event-ID': {
    description: 'The id of the last event that arrived: the stream continues after it.',
    schema: text,
  },
  Origin: {
    description: 'Browsers send it. It must be the edge’s own, or one of ALLOWED_ORIGINS.',
    schema: text,
  },
  'X-Correlation-Id': {
    description: 'Kept if it is valid, else replaced.',
    schema: { ...text, pattern: CORRELATION_ID_PATTERN.source },
  },
  'X-Request-Id': {
    description: 'Kept if it is valid, else replaced.',
    schema: { ...text, pattern: '^[\\w=-]{1,255}$' },
  },
}
export type RequestHeader = keyof typeof REQUEST_HEADERS

export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token with the claims `aud`, `exp`, `scope` and `repos`. The scopes are `board:read`, ' +
      '`board:write`, `board:work`, `board:lead`, `payments:read` and `payments:write`; `repos` ' +
      'limits those of boards.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-signalbox',
    description:
      'The session of `POST /api/session`, with the scopes of its token. On plain loopback its ' +
      'name is `signalbox-<port>`. Writes need a known `Origin`.',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'From `POST /api/tickets`, for EventSource, which sends no headers.',
  },
}
