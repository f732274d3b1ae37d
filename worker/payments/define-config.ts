// The shape of signalbox.config.ts: what an operator edits. Names are spelled as documented.

import type { Listeners } from './domain/events.ts'
import type { PaymentsFace } from './facade.ts'

export interface SignalboxFile {
  /**
   * The host application's own requests, in the same process: asked for whatever Signalbox does not
   * serve itself. Nobody has looked at who asks.
   */
  fetch?: HostFetch
  payments?: {
    /** By the key that stands in webhook URLs and requests. Several keys may share a driver. */
    gateways?: Readonly<Record<string, GatewayEntry>>
    webhooks?: {
      /** Before `/{gateway}`; `payments/webhooks` unless set. */
      route_prefix?: string
      /** Names of middlewares around both routes, the outermost first; `['api']` unless set. */
      middleware?: readonly string[]
      /** How old an event may be; 300, or PAYMENT_TOLERANCE_SECONDS. */
      tolerance_seconds?: number
      /** `log` (or PAYMENT_ON_AMOUNT_MISMATCH) applies such a payment, `reject` refuses it. */
      on_amount_mismatch?: 'log' | 'reject'
    }
    /** Further middlewares, by the names that `webhooks.middleware` uses. */
    middlewares?: Readonly<Record<string, Middleware>>
    /** Called in process. One that throws is called again later. */
    listeners?: Listeners
  }
}

/** `payments` is undefined where none are configured. Undefined for an answer is a 404. */
export type HostFetch = (
  request: Request,
  signalbox: { payments: PaymentsFace | undefined },
) => Response | undefined | Promise<Response | undefined>

/** A driver and, where they differ from the environment's, its settings. */
export type GatewayEntry = {
  driver: string
  /** Where its variables are looked for, instead of the driver's own prefix: `SHOP_B_`. */
  env_prefix?: string
} & { readonly [setting: string]: string | undefined }

/**
 * Around a webhook: answers itself, or what `next` answers. The request has its correlation id in
 * `X-Correlation-Id`, and so will the answer.
 */
export type Middleware = (
  request: Request,
  next: () => Promise<Response>,
) => Response | Promise<Response>

export const defineConfig = (file: SignalboxFile): SignalboxFile => file
