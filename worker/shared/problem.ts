// The only place where a failure becomes a response. A reason exists only with a status.

import { LIMIT_STATUS, LIMITED } from './board-settings.ts'

/** Another charge or refund is in the way: what `PaymentConflictException` has as its code. */
const PAYMENT_CONFLICTS = {
  in_progress: 409,
  idempotency_conflict: 409,
  reference_conflict: 409,
  already_paid: 409,
  not_cancellable: 409,
} as const

export type PaymentConflict = keyof typeof PAYMENT_CONFLICTS

/** Every stable code of a failure, with its status. */
export const STATUS_OF = {
  invalid_path: 400,
  invalid_request: 400,
  unknown_filter: 400,
  bad_since: 400,
  bad_limit: 400,
  unauthorized: 401,
  code_spent: 401,
  forbidden: 403,
  bad_origin: 403,
  bad_host: 403,
  not_found: 404,
  unknown_repository: 404,
  unknown_task: 404,
  unknown_session: 404,
  unknown_transaction: 404,
  unknown_alert: 404,
  unknown_delivery: 404,
  unknown_event: 404,
  unknown_claim: 404,
  unknown_rule: 404,
  nothing_ready: 404,
  sync_required: 409,
  superseded: 409,
  published: 409,
  stale_batch: 409,
  wire_version: 409,
  ...PAYMENT_CONFLICTS,
  too_late: 409,
  claimed: 409,
  closed: 409,
  not_ready: 409,
  already_holding: 409,
  ...LIMIT_STATUS,
  claim_lost: 410,
  payload_too_large: 413,
  invalid_argument: 422,
  gateway_refused: 422,
  refund_failed: 422,
  upgrade_required: 426,
  too_many_claims: 429,
  too_many_sidecars: 429,
  internal: 500,
  not_configured: 503,
  misconfigured: 503,
  console_not_built: 503,
  keys_unavailable: 503,
  sessions_unavailable: 503,
  directory_full: 503,
  gateway_unavailable: 503,
  paused: 503,
  ledger_unavailable: 503,
  schema_mismatch: 503,
  other_database: 503,
} as const

export type Reason = keyof typeof STATUS_OF

/** The code that clients get. Boards and payments have one word, and statuses of their own. */
export const codeOf = (reason: Reason): Exclude<Reason, 'board_paused'> =>
  reason === 'board_paused' ? 'paused' : reason

/** A charge or a refund that is refused so certainly has no effect. */
export const WITHOUT_EFFECT = [
  'invalid_argument',
  'gateway_refused',
  'refund_failed',
  'already_paid',
] as const satisfies Reason[]

/** What a lead has set stands in the way of a claim. */
export const LIMIT_CODES: readonly string[] = LIMITED.map(codeOf)
const PASSING: readonly Reason[] = ['nothing_ready', 'claimed', 'not_ready']
/** What a change of the board or its settings, or the end of another claim, may end. */
export const MAY_PASS: readonly string[] = [...PASSING, ...LIMIT_CODES]
/** Somebody else has the task, or the actor holds another one. */
export const TAKEN: readonly string[] = [
  'claimed',
  'claim_lost',
  'already_holding',
] satisfies Reason[]

interface ProblemOptions {
  /** For the log alone: the client gets the sentence and the fields. */
  cause?: unknown
  /** Seconds until the client should try again. A 503 has 30 if it is not given. */
  retryAfterS?: number | undefined
  /** Further fields of the response, beside the sentence and the code. */
  fields?: Readonly<Record<string, string | number | readonly object[]>>
}

const DEFAULT_RETRY_AFTER_S = 30

/** A failure that the client learns. `message` is its sentence, `reason` its stable code. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly reason: Reason
  readonly retryAfterS: number | undefined
  readonly fields: Readonly<Record<string, string | number | readonly object[]>>

  constructor(reason: Reason, sentence: string, options: ProblemOptions = {}) {
    super(sentence, { cause: options.cause })
    this.reason = reason
    const isTemporary = STATUS_OF[reason] === 503
    this.retryAfterS = options.retryAfterS ?? (isTemporary ? DEFAULT_RETRY_AFTER_S : undefined)
    this.fields = options.fields ?? {}
  }
}

/** The response for a failure: `{"error":"<sentence>","code":"<stable code>"}`. */
export function problemResponse(problem: Problem): Response {
  const status = STATUS_OF[problem.reason]
  const body = { error: problem.message, code: codeOf(problem.reason), ...problem.fields }
  const headers = new Headers({ 'Cache-Control': 'no-store' })
  if (status === 401) headers.set('WWW-Authenticate', 'Bearer realm="signalbox"')
  const { retryAfterS } = problem
  if (retryAfterS !== undefined) headers.set('Retry-After', String(Math.ceil(retryAfterS)))
  return Response.json(body, { status, headers })
}
