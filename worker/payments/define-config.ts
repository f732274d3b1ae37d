// The type of signalbox.config.ts, which an operator edits. Names are those of the documentation.

import type { NoticeRule } from '../shared/notice-rules.ts'
import type { References } from './domain/types.ts'
import type { Middleware, PaymentsFacade } from './facade.ts'
import type { Driver } from './gateways/gateway.ts'
import type { Listeners } from './outbox/deliver.ts'

export interface SignalboxFile {
  /**
   * The host application's own routes, in the same process: called for every request that Signalbox
   * does not serve itself. Such requests are not authenticated.
   */
  fetch?: HostFetch
  /** What people are told of the boards that are published from here; docs/notices.md. */
  notices?: readonly NoticeRule[]
  payments?: {
    /** By the key that webhook URLs and requests use. Several keys may share a driver. */
    gateways?: Readonly<Record<string, GatewayEntry>>
    /** Further drivers, by the names that `gateways` uses; docs/drivers.md. */
    drivers?: Readonly<Record<string, Driver>>
    /**
     * `shared`, unless set: a reference is one order at all gateways. `per-gateway`: the shops of
     * two gateways may number alike.
     */
    references?: References
    webhooks?: {
      /** Before `/{gateway}`; `payments/webhooks` unless set. */
      route_prefix?: string
      /** Names of middlewares around both routes, the outermost first; `['api']` unless set. */
      middleware?: readonly string[]
      /** How old an event may be; 300, or PAYMENT_TOLERANCE_SECONDS. */
      tolerance_seconds?: number
      /** `log` applies such a payment, `reject` refuses it; or PAYMENT_ON_AMOUNT_MISMATCH. */
      on_amount_mismatch?: 'log' | 'reject'
    }
    /** Further middlewares, by the names that `webhooks.middleware` uses. */
    middlewares?: Readonly<Record<string, Middleware>>
    /** Called in process. One that throws is called again later. */
    listeners?: Listeners
  }
}

/** `payments` is undefined when none are configured. An undefined result becomes a 404. */
export type HostFetch = (
  request: Request,
  signalbox: { payments: PaymentsFacade | undefined },
) => Response | undefined | Promise<Response | undefined>

/** A driver and the settings that are not from the environment. */
export type GatewayEntry = {
  driver: string
  /** The prefix of its environment variables, instead of the driver's own: `SHOP_B_`. */
  env_prefix?: string
} & { readonly [setting: string]: string | undefined }

export const defineConfig = (file: SignalboxFile): SignalboxFile => file
