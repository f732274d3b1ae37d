// The only place where a failure becomes a response. A new reason does not compile before it has a
// status here.

export type Reason =
  | 'not_configured'
  | 'misconfigured'
  | 'console_not_built'
  | 'unauthorized'
  | 'code_spent'
  | 'keys_unavailable'
  | 'forbidden'
  | 'bad_origin'
  | 'invalid_path'
  | 'invalid_request'
  | 'unknown_filter'
  | 'not_found'
  | 'unknown_repository'
  | 'unknown_task'
  | 'unknown_session'
  | 'unknown_transaction'
  | 'unknown_alert'
  | 'unknown_delivery'
  | 'payload_too_large'
  | 'sync_required'
  | 'superseded'
  | 'stale_batch'
  | 'wire_version'
  | 'in_progress'
  | 'idempotency_conflict'
  | 'reference_conflict'
  | 'invalid_argument'
  | 'gateway_refused'
  | 'gateway_unavailable'
  | 'ledger_unavailable'
  | 'schema_mismatch'
  | 'internal'

interface ProblemOptions {
  /** For the log alone: the client gets the sentence and the fields. */
  cause?: unknown
  /** With a 503: seconds until the client should try again. */
  retryAfterS?: number | undefined
  /** Further fields of the response, beside the sentence and the code. */
  fields?: Readonly<Record<string, string>>
}

const DEFAULT_RETRY_AFTER_S = 30

/** A failure that the client learns. `message` is its sentence, `reason` its stable code. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly reason: Reason
  readonly retryAfterS: number
  readonly fields: Readonly<Record<string, string>>

  constructor(reason: Reason, sentence: string, options: ProblemOptions = {}) {
    super(sentence, { cause: options.cause })
    this.reason = reason
    this.retryAfterS = options.retryAfterS ?? DEFAULT_RETRY_AFTER_S
    this.fields = options.fields ?? {}
  }
}

function statusOf(reason: Reason) {
  switch (reason) {
    case 'invalid_path':
    case 'invalid_request':
    case 'unknown_filter':
      return 400
    case 'unauthorized':
    case 'code_spent':
      return 401
    case 'forbidden':
    case 'bad_origin':
      return 403
    case 'not_found':
    case 'unknown_repository':
    case 'unknown_task':
    case 'unknown_session':
    case 'unknown_transaction':
    case 'unknown_alert':
    case 'unknown_delivery':
      return 404
    case 'sync_required':
    case 'superseded':
    case 'stale_batch':
    case 'wire_version':
    case 'in_progress':
    case 'idempotency_conflict':
    case 'reference_conflict':
      return 409
    case 'payload_too_large':
      return 413
    case 'invalid_argument':
    case 'gateway_refused':
      return 422
    case 'internal':
      return 500
    case 'not_configured':
    case 'misconfigured':
    case 'console_not_built':
    case 'keys_unavailable':
    case 'gateway_unavailable':
    case 'ledger_unavailable':
    case 'schema_mismatch':
      return 503
  }
}

/** The response for a failure: `{"error":"<sentence>","code":"<stable code>"}`. */
export function problemResponse(problem: Problem): Response {
  const status = statusOf(problem.reason)
  const body = { error: problem.message, code: problem.reason, ...problem.fields }
  const headers = new Headers({ 'Cache-Control': 'no-store' })
  if (status === 401) headers.set('WWW-Authenticate', 'Bearer realm="signalbox"')
  if (status === 503) headers.set('Retry-After', String(Math.ceil(problem.retryAfterS)))
  return Response.json(body, { status, headers })
}
