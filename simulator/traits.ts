// What the simulation of a gateway declares, so that its name is in no other file: how its payments
// move and its webhooks are written, what its page shows, and what the command line needs to send
// one webhook.

import type { Action, Payment, Rules } from './payments.ts'
import type { Content, WebhookFormat } from './webhooks.ts'

export type SimulatedStatus = 'Paid' | 'Failed' | 'Expired' | 'Cancelled' | 'Refunded'

export interface Traits extends Rules {
  /** On its page. */
  title: string
  accent: string
  /** Amounts are in minor units. Missing: in whole ones. */
  inMinorUnits?: true
  /**
   * The credentials of the merchant, by the settings of the driver, as a simulator that runs on its
   * own has them.
   */
  merchant: Readonly<Record<string, string>>
  /** Missing: it gives no access tokens. */
  tokens?: { scopes: readonly string[]; lifetimeMs: number }
  webhooks: WebhookFormat
  /** Where the payer goes after an action; undefined: nowhere. */
  backUrl(payment: Payment, action: Action): string | undefined
  /** What the payer may type instead of opening the page. */
  codeOf?(payment: Payment): string
  /** A 409. `made`: the answer of the request that has made it, which was lost. */
  conflict(made: unknown): Response
  simulate: SimulateTerms
}

/** For one webhook about a payment that no simulator has. */
export interface SimulateTerms {
  /** The options that are required. */
  needs: readonly ('reference' | 'amount' | 'currency' | 'transaction')[]
  /** Further options that its webhooks cannot carry. */
  ignores?: readonly ('--amount' | '--currency' | '--event-id')[]
  /**
   * The statuses that the gateway has, and what happens to a payment until it has that status. The
   * webhook is about the last of it.
   */
  ways: Readonly<Partial<Record<SimulatedStatus, readonly Action[]>>>
  /**
   * A genuine webhook that changes nothing: a receiver that verifies it has the same secret. It
   * must be answered before anything is stored. `now` in ms.
   */
  probe?(now: number): Content
}

/** Of a 409. */
export const CONFLICT = {
  code: 'CONFLICT',
  message: 'There is such a transaction already.',
} as const

/** For gateways that tell the payer the result on the shop's page. */
export const backToShop = (payment: Payment, action: Action): string | undefined =>
  action === 'pay' || action === 'transfer' ? payment.successUrl : payment.failureUrl

/** For gateways whose webhooks are hints: they name a payment, and nothing of what became of it. */
export const HINTS = {
  needs: ['transaction'],
  ignores: ['--amount', '--currency', '--event-id'],
  ways: {
    Paid: ['pay'],
    Failed: ['fail'],
    Expired: ['expire'],
    Cancelled: ['cancel'],
    Refunded: ['pay', 'refund'],
  },
} as const satisfies SimulateTerms

/** For gateways where a payment is open once, and refunded as a whole. */
export const MOVES = {
  pay: { open: 'paid' },
  // The money arrives although the gateway had said that it would not.
  pay_late: { failed: 'paid', cancelled: 'paid', expired: 'paid' },
  fail: { open: 'failed' },
  cancel: { open: 'cancelled' },
  expire: { open: 'expired' },
  request_refund: { paid: 'refund_requested' },
  refuse_refund: { refund_requested: 'paid' },
  refund: { paid: 'refunded', refund_requested: 'refunded' },
} as const satisfies Rules['moves']
