// Calls a gateway if the guard admits the call, and reports the result to the guard.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentEvents } from '../../domain/events.ts'
import { GatewayUnavailableException } from '../../domain/exceptions.ts'
import type { CallKind } from '../../domain/status.ts'
import { createGatewayCall, type TrackedCall } from '../client/gateway-call.ts'
import type { Gateway, GatewayCall } from '../gateway.ts'
import { callbackLimit, type Purpose } from './callback-limit.ts'
import type { Admission, GatewayGuard, Verdict } from './guard.ts'

export interface CallerDeps {
  guard: GatewayGuard
  clock: Clock
  log: Log
  fetch: typeof fetch
  onTimeout: (timeout: PaymentEvents['GatewayTimeout']) => void
  /** Called when a report of `run` opened the circuit. */
  onOpened: (opened: PaymentEvents['CircuitOpened']) => void
}

export interface Caller {
  /**
   * Asks the guard, runs `work`, and reports its result once, also when it throws. If the guard
   * does not admit the call, `work` is not run: throws GatewayUnavailableException for an open
   * circuit, TooManyCallbacks for a used-up limit. `deadlineAt`: see startCall().
   */
  run<T>(
    gateway: Pick<Gateway, 'key'>,
    kind: CallKind,
    purpose: Purpose,
    work: (call: GatewayCall) => Promise<T>,
    deadlineAt?: number,
  ): Promise<T>
  /**
   * For an operation that the ledger has admitted: the caller of this reports its verdict itself.
   * `deadlineAt`, in ms, if the call has less time than CALL_TIMEOUT_MS from now.
   */
  startCall(gateway: Pick<Gateway, 'key'>, accessToken?: string, deadlineAt?: number): TrackedCall
}

/** The gateway was not called: its callbacks have used up their limit. */
export class TooManyCallbacks extends GatewayUnavailableException {}

/**
 * For a whole call: its token, each try, each wait. A charge must be answered within 20 s
 * (contract); the rest is for the ledger and the network.
 */
export const CALL_TIMEOUT_MS = 17_000

export function createCaller({ guard, onOpened, ...calling }: CallerDeps): Caller {
  const startCall: Caller['startCall'] = (gateway, accessToken, deadlineAt) =>
    createGatewayCall({
      gateway,
      guard,
      ...calling,
      accessToken,
      deadlineAt: deadlineAt ?? calling.clock.elapsed() + CALL_TIMEOUT_MS,
    })

  // The same limit as in the guard, for this isolate alone: a flood must not reach the one ledger.
  const limit = callbackLimit()

  async function admit(gateway: string, kind: CallKind, purpose: Purpose): Promise<Admission> {
    if (purpose !== 'call') {
      const taken = limit.take(gateway, purpose, calling.clock.elapsed())
      if (!taken.ok) return { ...taken, reason: 'rate_limited' }
    }
    return await guard.admit(gateway, kind, purpose)
  }

  async function report(gateway: string, kind: CallKind, verdict: Verdict): Promise<void> {
    try {
      const { opened } = await guard.report(gateway, kind, verdict)
      if (opened) onOpened({ gateway, kind })
    } catch (error) {
      // The work is done, and its result matters more than the breaker's count.
      calling.log('warn', 'payments.gateway.not_reported', {
        gateway,
        verdict,
        error: String(error),
      })
    }
  }

  return {
    async run(gateway, kind, purpose, work, deadlineAt) {
      const admission = await admit(gateway.key, kind, purpose)
      if (!admission.ok) {
        const { reason, retryAfterMs } = admission
        const { key } = gateway
        throw reason === 'circuit_open'
          ? new GatewayUnavailableException(`${key} is failing and is not called for now.`, {
              retryAfterMs,
            })
          : new TooManyCallbacks(`${key} is called too often because of its callbacks.`, {
              retryAfterMs,
            })
      }
      const call = startCall(gateway, admission.accessToken, deadlineAt)
      try {
        return await work(call)
      } finally {
        const verdict = call.verdict()
        // A stranger may know an input that makes the gateway fail. Counting such failures would
        // let them open the circuit for every payer.
        const isByCallback = purpose !== 'call' && verdict === 'failure'
        await report(gateway.key, kind, isByCallback ? 'neutral' : verdict)
      }
    },
    startCall,
  }
}
