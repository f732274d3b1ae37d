// Fakes around the ledger: subscribers, a guard, and a dispatcher that records its events.

import type { PendingEvent, Subscribers } from '../../worker/payments/domain/events.ts'
import {
  type CallKind,
  DURABLE_EVENTS,
  type DurableEvent,
  LIFECYCLE_EVENTS,
} from '../../worker/payments/domain/status.ts'
import type { GatewayGuard, Verdict } from '../../worker/payments/gateways/guard/guard.ts'
import type { Dispatch } from '../../worker/payments/outbox/dispatch.ts'

export const ENDPOINT = 'https://shop.example/events'

/** By default to the five events of a payment's status. */
const subscribers = (
  isListened: boolean,
  endpoint?: string,
  types: readonly DurableEvent[] = LIFECYCLE_EVENTS,
): Subscribers => ({
  hasListeners: (type) => isListened && types.includes(type),
  endpointFor: (type) => (types.includes(type) ? endpoint : undefined),
})
export const ALERTED = subscribers(true, ENDPOINT, DURABLE_EVENTS)
export const BOTH = subscribers(true, ENDPOINT)
export const LISTENERS = subscribers(true)
export const POSTED = subscribers(false, ENDPOINT)
export const NOBODY = subscribers(false)

/** Admits every call until `retryAfterMs` is set, and records all reports. */
export class FakeGuard implements GatewayGuard {
  retryAfterMs: number | undefined
  opens = false
  readonly admitted: string[] = []
  readonly reported: [gateway: string, verdict: Verdict][] = []

  async admit(gateway: string) {
    if (this.retryAfterMs !== undefined) {
      const refused = {
        ok: false,
        reason: 'circuit_open',
        retryAfterMs: this.retryAfterMs,
      } as const
      return refused
    }
    this.admitted.push(gateway)
    return { ok: true, accessToken: `token of ${gateway}` } as const
  }

  async report(gateway: string, _kind: CallKind, verdict: Verdict) {
    this.reported.push([gateway, verdict])
    return { opened: this.opens }
  }

  async accessToken(gateway: string) {
    return { ok: true, token: `token of ${gateway}` } as const
  }

  async health(gateways: readonly string[]) {
    const health = { state: 'closed', failures: this.reported.length } as const
    return Object.fromEntries(
      gateways.map((gateway) => [gateway, { charge: health, refund: health, status: health }]),
    )
  }
}

/** Records the events that the ledger dispatches. It never settles them, so they stay leased. */
export class FakeDispatcher {
  readonly #pending: PendingEvent[] = []

  dispatch: Dispatch = async (pending) => {
    this.#pending.push(...pending)
    return []
  }

  /** The events since the last call. */
  take = (): PendingEvent[] => this.#pending.splice(0)
}
