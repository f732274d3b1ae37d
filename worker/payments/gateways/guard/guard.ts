// The port of the guard: all Workers must agree whether a gateway may be called, and with which
// token. The ledger holds the guard, because there is only one ledger.

import * as z from 'zod'
import { timeSchema } from '../../domain/schemas.ts'
import type { CallKind } from '../../domain/status.ts'
import type { Purpose } from './callback-limit.ts'

/**
 * The result of a call, after its retries. `neutral`: it says nothing about the gateway's health.
 */
export type Verdict = 'success' | 'failure' | 'neutral'

export interface GatewayGuard {
  /** Asks for one call, whose result must be reported. Calls for callbacks are limited. */
  admit(gateway: string, kind: CallKind, purpose: Purpose): Promise<Admission>
  report(gateway: string, kind: CallKind, verdict: Verdict): Promise<{ opened: boolean }>
  /** `refused`: the token that the gateway has just answered with 401; a fresh one is fetched. */
  accessToken(gateway: string, refused?: string): Promise<TokenAnswer>
  /** The state of these gateways' circuits, by key. Changes nothing. */
  health(gateways: readonly string[]): Promise<Readonly<Record<string, Breakers>>>
}

export type Admission =
  | { ok: true; accessToken?: string }
  | { ok: false; reason: 'circuit_open' | 'rate_limited'; retryAfterMs: number }

export type TokenAnswer =
  | { ok: true; token: string }
  /** `timedOutAfterMs` where the gateway did not answer in time. */
  | { ok: false; message: string; timedOutAfterMs?: number }

export const breakerHealthSchema = z.object({
  state: z
    .enum(['closed', 'open', 'probing'])
    .describe(
      '`probing`: the next call, or the one that runs now, decides whether the circuit closes.',
    ),
  failures: z.int().describe('Failed calls in a row.'),
  openUntil: timeSchema.describe('While open: no call is made before this time.').exactOptional(),
})

const breakersSchema = z
  .object({
    charge: breakerHealthSchema,
    refund: breakerHealthSchema,
    status: breakerHealthSchema,
  } satisfies Record<CallKind, unknown>)
  .describe(
    'By kind of call: `status` is the check of a payment, and `charge` also its cancellation. A ' +
      'token that cannot be fetched counts for the kind that needed it.',
  )

export const gatewayHealthSchema = z.object({
  key: z.string().describe('Its key in the configuration.'),
  driver: z.string().describe('The name of the driver in the configuration.'),
  breaker: breakersSchema,
  supportsRefund: z.boolean(),
  refunds: z
    .enum(['full', 'partial'])
    .describe(
      'If it does: `full`, only all of a payment, named by the charged amount; `partial`, ' +
        'parts too.',
    )
    .exactOptional(),
  currencies: z
    .array(z.string())
    .readonly()
    .describe('Missing: the driver takes any.')
    .exactOptional(),
  isLocal: z
    .boolean()
    .describe('Reached over loopback: a simulator, where charges use no real money.'),
})

export type BreakerHealth = z.infer<typeof breakerHealthSchema>
export type Breakers = z.infer<typeof breakersSchema>

/** One gateway as `GET /api/payments/gateways` shows it. */
export type GatewayHealth = z.infer<typeof gatewayHealthSchema>
