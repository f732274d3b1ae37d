// Calls a gateway with the desk's leave, and tells the desk how it went.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { GatewayUnavailableException } from '../exceptions.ts'
import type { PaymentEvents } from '../telling/events.ts'
import type { GatewayDesk, Verdict } from './desk.ts'
import type { Gateway, GatewayCall } from './gateway.ts'
import { createGatewayCall, type JudgedCall } from './gateway-call.ts'

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
   * without working when the desk says no.
   */
  run<T>(
    gateway: Pick<Gateway, 'key'>,
    purpose: 'call' | 'reread',
    work: (call: GatewayCall) => Promise<T>,
  ): Promise<T>
  /** For what is admitted elsewhere: whoever begins it reports its verdict too. */
  begun(gateway: Pick<Gateway, 'key'>, accessToken?: string): JudgedCall
}

export function createCaller({ desk, onOpened, ...calling }: CallerDeps): Caller {
  const begun: Caller['begun'] = (gateway, accessToken) =>
    createGatewayCall({ gateway, desk, ...calling, accessToken })

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
    async run(gateway, purpose, work) {
      const admission = await desk.admit(gateway.key, purpose)
      if (!admission.ok) {
        const { reason, retryAfterMs } = admission
        const why =
          reason === 'circuit_open'
            ? 'is failing and is left alone for now'
            : 'is not asked more often than this'
        throw new GatewayUnavailableException(`${gateway.key} ${why}.`, { retryAfterMs })
      }
      const call = begun(gateway, admission.accessToken)
      try {
        return await work(call)
      } finally {
        const verdict = call.verdict()
        // A stranger may know what a gateway chokes on, and must not close it to every payer so.
        const isStrangers = purpose === 'reread' && verdict === 'failure'
        await report(gateway.key, isStrangers ? 'neutral' : verdict)
      }
    },
    begun,
  }
}
