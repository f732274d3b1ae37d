// Which payment an event or a request is about. Pure.

import type { TransactionRow, WebhookEventRow } from './rows.ts'
import type { VerifiedWebhook } from './types.ts'

/**
 * What an event or an answer is about; null for what it does not carry. `transaction_id` is ours:
 * until it is applied, only the answer to a question about a payment has it.
 */
export type PaymentIds = Pick<
  WebhookEventRow,
  'gateway' | 'gateway_transaction_id' | 'external_reference_id' | 'reference'
> & {
  transaction_id?: string | null
  amount: number | null
  currency: string | null
}

/** Which payment an event is about, as its driver reads it. */
export type EventIds = Partial<
  Pick<
    VerifiedWebhook,
    | 'gatewayTransactionId'
    | 'isOtherId'
    | 'reference'
    | 'externalReferenceId'
    | 'amount'
    | 'currency'
  >
>

/** The ids of a gateway's event, as they are stored and compared. */
export function paymentIdsIn(gateway: string, given: EventIds): PaymentIds {
  const { gatewayTransactionId = '', externalReferenceId = '', reference = '', isOtherId } = given
  return {
    gateway: wellFormed(gateway),
    gateway_transaction_id: isOtherId ? null : wellFormed(gatewayTransactionId) || null,
    external_reference_id: wellFormed(externalReferenceId) || null,
    reference: wellFormed(reference) || null,
    amount: given.amount ?? null,
    currency: given.currency === undefined ? null : currencyOf(given.currency),
  }
}

/** Half a surrogate pair has no UTF-8: it would be stored as another text, and not be found. */
export const wellFormed = (given: string): string => given.toWellFormed()

/** Gateways write `iqd`, too. */
export const currencyOf = (given: string): string => wellFormed(given).toUpperCase()

export interface Match {
  row: TransactionRow
  /** The payments that have its other ids. */
  others: readonly TransactionRow[]
  /** Its ids are not those of one payment: it changes nothing. */
  isContradiction: boolean
}

/**
 * By the gateway's id, then by ours. Another system at the same account may number its orders as we
 * do: so by the order only without an id of ours, and only if the money agrees, as the newest row
 * that has no gateway's id yet. Never across gateways. `rows`: all that have one of these ids,
 * and maybe others.
 */
export function matchTransaction(
  rows: Iterable<TransactionRow>,
  ids: PaymentIds,
): Match | undefined {
  const { gateway_transaction_id: gatewayId, external_reference_id: external } = ids
  const ours = [...rows].filter(({ gateway }) => gateway === ids.gateway)
  const [row, ...others] = new Set([
    ...ours.filter(({ id }) => id === ids.transaction_id),
    ...ours.filter((row) => gatewayId !== null && row.gateway_transaction_id === gatewayId),
    ...ours.filter((row) => external !== null && row.external_reference_id === external),
  ])
  if (row) {
    const isContradiction =
      others.length > 0 ||
      differs(row.gateway_transaction_id, gatewayId) ||
      differs(row.external_reference_id, external)
    return { row, others, isContradiction }
  }
  const ordered = external === null && newest(ours.filter((each) => isOrder(each, ids)))
  return ordered ? { row: ordered, others: [], isContradiction: false } : undefined
}

/** Two ids of one kind. What is not carried contradicts nothing. */
export const differs = (own: string | null | undefined, carried: string | null | undefined) =>
  own != null && carried != null && own !== carried

const isOrder = (row: TransactionRow, { reference, amount, currency }: PaymentIds): boolean =>
  row.gateway_transaction_id === null &&
  row.reference === reference &&
  row.amount === amount &&
  row.currency === currency

/** The last attempt of an order. Ids would not say it: the clock may have been set back. */
export const newest = <Row extends { attempt: number }>(rows: readonly Row[]): Row | undefined =>
  rows.reduce<Row | undefined>(
    (last, row) => (last && last.attempt > row.attempt ? last : row),
    undefined,
  )
