// Calls a gateway with the desk's leave, and tells the desk how it went.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentEvents } from '../../domain/events.ts'
import { GatewayUnavailableException } from '../../domain/exceptions.ts'
import { createGatewayCall, type JudgedCall } from '../client/gateway-call.ts'
import type { Gateway, GatewayCall } from '../gateway.ts'
import { callbackLimit, type Purpose } from './callback-limit.ts'
import type { Admission, GatewayDesk, Verdict } from './guard.ts'

export interface CallerDeps {
  desk: GatewayDesk
  clock: Clock
  log: Log
  fetch: typeof fetch
  onTimeout: (timeout: PaymentEvents['GatewayTimeout']) => void
  /** A report made by `run` opened the circuit. */
  onOpened: (opened: PaymentEvents['CircuitOpened']) => void
}

export interface Caller {
  /**
   * Asks the desk, works, and reports once however that ends. Throws GatewayUnavailableException
   * without working when the desk says no, TooManyCallbacks when it is for their number.
   * `deadlineAt` as below.
   */
  run<T>(
    gateway: Pick<Gateway, 'key'>,
    purpose: Purpose,
    work: (call: GatewayCall) => Promise<T>,
    deadlineAt?: number,
  ): Promise<T>
  /**
   * For what is admitted elsewhere: whoever begins it reports its verdict too. `deadlineAt`, in ms:
   * where it has less time than a call from now on.
   */
  begun(gateway: Pick<Gateway, 'key'>, accessToken?: string, deadlineAt?: number): JudgedCall
}

/** The gateway was not asked: callbacks have used up their limit. */
export class TooManyCallbacks extends GatewayUnavailableException {}

/**
 * For a whole call: its token, each try, each wait. A charge has to be answered within 20 s
 * (contract), and the ledger needs some of them, as does the way there and back.
 */
export const CALL_WITHIN_MS = 17_000

export function createCaller({ desk, onOpened, ...calling }: CallerDeps): Caller {
  const begun: Caller['begun'] = (gateway, accessToken, deadlineAt) =>
    createGatewayCall({
      gateway,
      desk,
      ...calling,
      accessToken,
      deadlineAt: deadlineAt ?? calling.clock.now() + CALL_WITHIN_MS,
    })

  // Of this isolate alone, with the desk's own rule: a flood must not reach the one ledger.
  const limit = callbackLimit()

  async function admit(gateway: string, purpose: Purpose): Promise<Admission> {
    if (purpose !== 'call') {
      const taken = limit.take(gateway, purpose, calling.clock.now())
      if (!taken.ok) return { ...taken, reason: 'rate_limited' }
    }
    return await desk.admit(gateway, purpose)
  }

  async function report(gateway: string, verdict: Verdict): Promise<void> {
    try {
      const { opened } = await desk.report(gateway, verdict)
      if (opened) onOpened({ gateway })
    } catch (error) {
      // The work is done, and its answer matters more than the breaker's count.
      calling.log('warn', 'payments.gateway.not_reported', {
        gateway,
        verdict,
        error: String(error),
      })
    }
  }

  return {
    async run(gateway, purpose, work, deadlineAt) {
      const admission = await admit(gateway.key, purpose)
      if (!admission.ok) {
        const { reason, retryAfterMs } = admission
        const { key } = gateway
        throw reason === 'circuit_open'
          ? new GatewayUnavailableException(`${key} is failing and is left alone for now.`, {
              retryAfterMs,
            })
          : new TooManyCallbacks(`${key} is not asked more often than this.`, { retryAfterMs })
      }
      const call = begun(gateway, admission.accessToken, deadlineAt)
      try {
        return await work(call)
      } finally {
        const verdict = call.verdict()
        // A stranger may know what a gateway chokes on, and must not close it to every payer so.
        const isStrangers = purpose !== 'call' && verdict === 'failure'
        await report(gateway.key, isStrangers ? 'neutral' : verdict)
      }
    },
    begun,
  }
}
