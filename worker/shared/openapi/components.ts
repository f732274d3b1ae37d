// The headers and the ways to authenticate, by the names under which the document refers to them.

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

/** 1 to 255 printable characters. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x20-\x7e]{1,255}$/

/** A valid one is kept; anything else is replaced. */
export const CORRELATION_ID_PATTERN = /^[A-Za-z0-9_-]{8,64}$/

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
      '`board:write`, `payments:read` and `payments:write`; `repos` limits those of boards.',
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
