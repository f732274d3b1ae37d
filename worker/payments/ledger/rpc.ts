// Both ends of the calls to the ledger's Durable Object, as text: objects take the runtime several
// times as long. Failures are sent as data, because an error loses its class on the way. The object
// itself, in worker/cloudflare.ts, only opens the ledger.

import { type Backoff, backoffMs, type Clock, pause } from '../../shared/clock.ts'
import { freshStub } from '../../shared/durable-object.ts'
import type { Log } from '../../shared/log.ts'
import type { GatewayGuard } from '../gateways/guard.ts'
import { LedgerRefused, LedgerUnavailable, OtherDatabase, SchemaMismatch } from './failures.ts'
import { ACTS, type Ledger } from './ledger.ts'
import type { Refusals } from './refused-webhooks.ts'

/** What the object is for: the ledger, and beside it the guard and the count of refusals. */
export type LedgerApi = Ledger & GatewayGuard & Refusals

/** Beside the acts. */
const BESIDE: Readonly<Record<Exclude<keyof LedgerApi, keyof typeof ACTS>, true>> = {
  applyParked: true,
  dispatchDue: true,
  dropOldEvents: true,
  admit: true,
  report: true,
  accessToken: true,
  health: true,
  countRefused: true,
  refused: true,
}
const METHODS: ReadonlySet<string> = new Set(Object.keys({ ...ACTS, ...BESIDE }))

const isMethod = (name: string): name is keyof LedgerApi => METHODS.has(name)

/** Failures that callers know. One that is a kind of another is before it. */
const FAILURES = {
  ledger_refused: LedgerRefused,
  ledger_unavailable: LedgerUnavailable,
  schema_mismatch: SchemaMismatch,
  other_database: OtherDatabase,
}

type LedgerReply =
  | { ok: true; value: unknown }
  | { ok: false; code: keyof typeof FAILURES | 'failed'; message: string }

export interface LedgerCall {
  name: string
  args: readonly unknown[]
}

/**
 * The object's end: calls one method of the ledger, and nothing else of the object. The first call
 * opens it, or the next one after that threw: so a wrong configuration becomes an answer, too.
 */
export function answersOf(open: () => LedgerApi, log: Log): LedgerStub['call'] {
  let ledger: LedgerApi | undefined
  const answer = async ({ name, args }: LedgerCall): Promise<LedgerReply> => {
    if (!isMethod(name)) {
      return { ok: false, code: 'failed', message: `there is no method ${name}` }
    }
    try {
      ledger ??= open()
      const method = ledger[name] as (...given: readonly unknown[]) => Promise<unknown>
      // JSON has no undefined.
      return { ok: true, value: await method(...args.map((arg) => arg ?? undefined)) }
    } catch (error) {
      for (const [code, failure] of Object.entries(FAILURES)) {
        if (!(error instanceof failure)) continue
        return { ok: false, code: code as keyof typeof FAILURES, message: String(error.why) }
      }
      log('error', 'payments.ledger.failed', { method: name, error: String(error) })
      return { ok: false, code: 'failed', message: String(error) }
    }
  }
  return async (call) => JSON.stringify(await answer(JSON.parse(call) as LedgerCall))
}

/** The object's public method over RPC. */
export interface LedgerStub {
  /** A LedgerCall and its LedgerReply, as JSON. */
  call(call: string): Promise<string>
}

/** What this file needs of the binding. */
export interface LedgerNamespace {
  getByName(name: string, options?: { locationHint?: string }): LedgerStub
}

export interface ObjectLedgerDeps {
  namespace: LedgerNamespace
  /** One for each database: two objects would be two writers. */
  name: string
  /** Near the database, so that only the first hop is long. Only the first call decides. */
  locationHint?: string
  clock: Clock
}

/** A deploy resets the object, and the next one starts at once. */
const MAX_TRIES = 4
const RETRY: Backoff = { firstMs: 50, maxMs: 500 }

/** The Worker's end. */
export function objectLedger(deps: ObjectLedgerDeps): LedgerApi {
  const { namespace, name, locationHint, clock } = deps
  const hint = locationHint === undefined ? undefined : { locationHint }
  const stub = freshStub(namespace, name, hint)

  const reach = async <Answer>(call: (stub: LedgerStub) => Promise<Answer>): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      try {
        return await call(stub())
      } catch (cause) {
        // It is not known whether the call was done; its ids make a second call harmless.
        if (tries < MAX_TRIES && isPassing(cause)) {
          const waitMs = backoffMs(tries, RETRY, clock.random())
          await pause(clock, waitMs)
          continue
        }
        throw new LedgerUnavailable('the ledger’s object did not answer', { cause })
      }
    }
  }

  const ask = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const call = JSON.stringify({ name, args } satisfies LedgerCall)
    return answerOf(JSON.parse(await reach((stub) => stub.call(call))) as LedgerReply)
  }
  return Object.fromEntries(
    [...METHODS].map((name) => [name, (...args: unknown[]) => ask(name, args)]),
  ) as unknown as LedgerApi
}

function answerOf(reply: LedgerReply): unknown {
  if (reply.ok) return reply.value
  const { code, message } = reply
  throw code === 'failed' ? new Error(message) : new FAILURES[code](message)
}

/** By the runtime's flags: the object was reset during the call, or the connection broke. */
function isPassing(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  // Repeating a call does not help an object that has too much to do.
  if ('overloaded' in error && error.overloaded === true) return false
  return (
    ('retryable' in error && error.retryable === true) ||
    ('durableObjectReset' in error && error.durableObjectReset === true)
  )
}
