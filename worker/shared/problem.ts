// The one door from a failure to the wire: every reason has a status here, or does not compile.

export type Reason =
  | 'not_configured'
  | 'misconfigured'
  | 'unauthorized'
  | 'keys_unavailable'
  | 'forbidden'
  | 'bad_origin'
  | 'invalid_path'
  | 'invalid_request'
  | 'not_found'
  | 'unknown_repository'
  | 'unknown_task'
  | 'unknown_session'
  | 'payload_too_large'
  | 'sync_required'
  | 'superseded'
  | 'stale_batch'
  | 'internal'

/** A failure that a client is told of. `message` is its sentence, `reason` the stable code. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly reason: Reason

  /** `cause` is for the log: clients are told the sentence alone. */
  constructor(reason: Reason, sentence: string, cause?: unknown) {
    super(sentence, { cause })
    this.reason = reason
  }
}

function statusOf(reason: Reason) {
  switch (reason) {
    case 'invalid_path':
    case 'invalid_request':
      return 400
    case 'unauthorized':
      return 401
    case 'forbidden':
    case 'bad_origin':
      return 403
    case 'not_found':
    case 'unknown_repository':
    case 'unknown_task':
    case 'unknown_session':
      return 404
    case 'sync_required':
    case 'superseded':
    case 'stale_batch':
      return 409
    case 'payload_too_large':
      return 413
    case 'internal':
      return 500
    case 'not_configured':
    case 'misconfigured':
    case 'keys_unavailable':
      return 503
  }
}

/** The answer to a failure: `{"error":"<sentence>","code":"<stable code>"}`. */
export function problemResponse(problem: Problem): Response {
  const status = statusOf(problem.reason)
  const body = { error: problem.message, code: problem.reason }
  const headers = new Headers({ 'Cache-Control': 'no-store' })
  if (status === 401) headers.set('WWW-Authenticate', 'Bearer realm="signalbox"')
  if (status === 503) headers.set('Retry-After', '30')
  return Response.json(body, { status, headers })
}
