// Calls a gateway: asks the guard for admission, adds the access token and retries, throws one
// exception when there is no usable answer, and reports the result to the guard.

import { DeadlineExceeded, within } from '../../shared/clock.ts'
import { GatewayUnavailableException, TooManyCallbacks } from '../domain/exceptions.ts'
import type { CallKind } from '../domain/status.ts'
import type { Notify } from '../domain/types.ts'
import type { TokenAnswer } from './access-tokens.ts'
import { callbackLimit, type Purpose } from './callbacks.ts'
import {
  type Exchanged,
  type ExchangeFailure,
  exchange,
  type Transport,
  withRetries,
} from './exchange.ts'
import type { CountedReply, Gateway, GatewayCall, GatewayRequest } from './gateway.ts'
import type { Admission, GatewayGuard, Verdict } from './guard.ts'

export interface ClientDeps extends Transport {
  guard: GatewayGuard
  /** `GatewayTimeout` once for each try that ran out of time, and `CircuitOpened`. */
  notify: Notify
}

/** A call as its driver gets it, and what is known of it so far. */
export interface OpenCall extends GatewayCall {
  /** How many tries had no definite answer. */
  unanswered(): number
}

/** `end` reports the result of the call, once, and never rejects. */
export type AdmittedCall = { ok: true; call: OpenCall; end(): Promise<void> }

/** A call that the guard admits, or why it does not. */
export type Admitted = AdmittedCall | { ok: false; error: GatewayUnavailableException }

/**
 * For a whole call: its token, each try, each wait. A charge must be answered within 20 s
 * (contract); the rest is for the ledger and the network.
 */
export const CALL_TIMEOUT_MS = 17_000

export type GatewayClient = ReturnType<typeof createClient>

export function createClient(deps: ClientDeps) {
  const { guard, clock, log, notify } = deps
  // The same limit as in the guard, for this isolate alone: a flood must not reach the one guard.
  const limit = callbackLimit()

  async function report(
    gateway: string,
    kind: CallKind,
    verdict: Verdict,
    failure: string | undefined,
    probe: number | undefined,
  ): Promise<void> {
    try {
      const { opened } = await guard.report(gateway, kind, verdict, failure, probe)
      if (opened) notify('CircuitOpened', { gateway, kind })
    } catch (error) {
      // The work is done, and its result matters more than the breaker's count.
      const about = { gateway, verdict, error: String(error) }
      log('warn', 'payments.gateway.not_reported', about)
    }
  }

  /** `deadlineAt`, in ms as the clock's `elapsed`: the gateway is not awaited after that. */
  async function admit(
    { key }: Pick<Gateway, 'key'>,
    kind: CallKind,
    purpose: Purpose = 'call',
    deadlineAt = clock.elapsed() + CALL_TIMEOUT_MS,
  ): Promise<Admitted> {
    const taken = limit.take(key, purpose, clock.elapsed())
    const admission = taken.ok ? await guard.admit(key, kind, purpose) : taken
    if (!admission.ok) return { ok: false, error: refusalOf(key, admission) }
    const opened = openCall({ ...deps, key, deadlineAt }, admission.accessToken)
    const { verdict, failure, ...call } = opened
    return {
      ok: true,
      call,
      async end() {
        // A stranger may know an input that makes the gateway fail. Counting such failures would
        // let them open the circuit for every payer.
        const isByCallback = purpose !== 'call' && verdict() === 'failure'
        const counted = isByCallback ? 'neutral' : verdict()
        await report(key, kind, counted, failure(), admission.probe)
      },
    }
  }

  return {
    admit,
    /**
     * Runs `work` with a call and reports its result, also when it throws. Throws
     * GatewayUnavailableException for an open circuit, TooManyCallbacks for a used-up limit.
     */
    async run<Result>(
      gateway: Pick<Gateway, 'key'>,
      kind: CallKind,
      work: (call: OpenCall) => Promise<Result>,
      { purpose, deadlineAt }: { purpose?: Purpose; deadlineAt?: number } = {},
    ): Promise<Result> {
      const admitted = await admit(gateway, kind, purpose, deadlineAt)
      if (!admitted.ok) throw admitted.error
      try {
        return await work(admitted.call)
      } finally {
        await admitted.end()
      }
    },
  }
}

function refusalOf(
  key: string,
  { reason, retryAfterMs }: Extract<Admission, { ok: false }>,
): GatewayUnavailableException {
  const known = { retryAfterMs, isUnsent: true }
  return reason === 'circuit_open'
    ? new GatewayUnavailableException(`${key} is failing and is not called for now.`, known)
    : new TooManyCallbacks(`${key} is called too often because of its callbacks.`, known)
}

interface CallDeps extends ClientDeps {
  /** The gateway's. */
  key: string
  deadlineAt: number
}

/** `token`: the guard gave it with its admission; otherwise one is fetched when it is needed. */
export function openCall(
  deps: CallDeps,
  token?: string,
): OpenCall & {
  /** The result so far. A failure stays a failure, even if a later request succeeds. */
  verdict(): Verdict
  /** What failed last, without secrets. */
  failure(): string | undefined
} {
  const { key, log, notify, deadlineAt } = deps
  let verdict: Verdict = 'neutral'
  let failure: string | undefined
  let isUnsent = true
  let unanswered = 0

  /** `refused`: the token that the gateway has just refused. */
  async function sendOnce(request: GatewayRequest, refused?: string): Promise<Exchanged> {
    if (request.withToken && (token === undefined || token === refused)) {
      const answer = await accessToken(deps, refused)
      if (!answer.ok) {
        const { timedOutAfterMs, message: detail } = answer
        const durationMs = timedOutAfterMs ?? 0
        if (timedOutAfterMs !== undefined) {
          notify('GatewayTimeout', { gateway: key, endpoint: 'token', durationMs })
        }
        return { ok: false, reason: 'no_token', durationMs, detail }
      }
      token = answer.token
    }
    const bearer = request.withToken ? token : undefined
    const exchanged = await exchange(deps, request, deadlineAt, bearer)
    // A question changes nothing at the gateway.
    const isSent = exchanged.ok || exchanged.reason !== 'no_time'
    if (!isSent || request.method === 'GET') return exchanged
    isUnsent = false
    if (!exchanged.ok) unanswered++
    return exchanged
  }

  async function send(request: GatewayRequest): Promise<CountedReply> {
    const { endpoint } = request
    let mayRefresh = request.withToken === true
    const once = async () => {
      const [wasUnsent, before] = [isUnsent, unanswered]
      const first = await sendOnce(request)
      if (!mayRefresh || statusOf(first) !== 401) return first
      // The token was refused, so the gateway did nothing and the request may be sent again: now,
      // or by the next call if no new token can be fetched.
      mayRefresh = false
      isUnsent = wasUnsent
      unanswered = before
      return await sendOnce(request, token)
    }
    const exchanged = await withRetries(deps, once, {
      gateway: key,
      endpoint,
      deadlineAt,
      // The guard has already retried the token request.
      mayRepeat: ({ reason }) => request.isIdempotent && reason !== 'no_token',
      onTimeout: (durationMs) => notify('GatewayTimeout', { gateway: key, endpoint, durationMs }),
    })
    if (!exchanged.ok) {
      // If no time was left to send the request, the gateway is not at fault.
      const { reason, retryAfterMs } = exchanged
      const what = `${endpoint}: ${describe(exchanged)}`
      if (reason !== 'no_time') {
        verdict = 'failure'
        failure = what
      }
      throw new GatewayUnavailableException(`${key} ${what}`, { retryAfterMs, isUnsent })
    }
    if (exchanged.reply.status < 300 && verdict === 'neutral') verdict = 'success'
    return { ...exchanged.reply, unanswered }
  }

  return {
    send,
    warn: (event, fields) => log('warn', event, { gateway: key, ...fields }),
    verdict: () => verdict,
    failure: () => failure,
    unanswered: () => unanswered,
  }
}

/** The guard fetches one token for all callers, which may take longer than this call has. */
async function accessToken(
  { key, guard, clock, deadlineAt }: CallDeps,
  refused: string | undefined,
): Promise<TokenAnswer> {
  const startedAt = clock.elapsed()
  try {
    const leftMs = Math.max(deadlineAt - startedAt, 0)
    return await within(clock, leftMs, () => guard.accessToken(key, refused))
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    const timedOutAfterMs = Math.round(clock.elapsed() - startedAt)
    return { ok: false, message: 'timeout', timedOutAfterMs }
  }
}

/** An error page that is not JSON can have status 401 too. */
const statusOf = (exchanged: Exchanged): number | undefined =>
  exchanged.ok ? exchanged.reply.status : exchanged.status

const inBrackets = (detail: string | undefined): string =>
  detail === undefined ? '' : ` (${detail})`

function describe({ reason, durationMs, status, detail }: ExchangeFailure): string {
  switch (reason) {
    case 'timeout':
      return `no answer within ${durationMs} ms`
    case 'connection':
      return `no connection${inBrackets(detail)}`
    case 'redirect':
      return `answered ${status}, a redirect`
    case 'too_large':
      return `answered ${status} with a body that is too large`
    case 'not_json':
      return `answered ${status} with a body that is not JSON${inBrackets(detail)}`
    case 'busy':
    case 'server_error':
      return `answered ${status}`
    case 'no_time':
      return 'no time was left to send the request'
    case 'no_token':
      return `no access token: ${detail ?? 'reason unknown'}`
  }
}
