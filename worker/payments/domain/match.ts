// Which payment an event or a request is about. Pure.

import type { TransactionRow } from './rows.ts'

/** The ids of an event; null if the gateway does not send one. */
export interface Names {
  gateway: string
  gateway_transaction_id: string | null
  external_reference_id: string | null
  reference: string | null
}

/**
 * By the gateway's name, then by ours, then by the order's newest row that has no gateway's name
 * yet. Never across gateways. `rows`: all that carry one of these names, and maybe others.
 */
export function matchTransaction(
  rows: Iterable<TransactionRow>,
  names: Names,
): TransactionRow | undefined {
  const { gateway_transaction_id: gatewayId, external_reference_id: external, reference } = names
  const ours = [...rows].filter(({ gateway }) => gateway === names.gateway)
  return (
    (gatewayId !== null && ours.find((row) => row.gateway_transaction_id === gatewayId)) ||
    (external !== null && ours.find((row) => row.external_reference_id === external)) ||
    newest(ours.filter((row) => row.reference === reference && row.gateway_transaction_id === null))
  )
}

/** Of one order: the attempts are counted. Ids follow the clock, which may have been set back. */
export const newest = <Row extends { attempt: number }>(rows: readonly Row[]): Row | undefined =>
  rows.reduce<Row | undefined>(
    (last, row) => (last && last.attempt > row.attempt ? last : row),
    undefined,
  )
