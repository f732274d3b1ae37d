// Everything that is known of one payment, and what may be asked for of it now.

import { Problem } from '../../shared/problem.ts'
import { isAskable, isCalled, isStranded, isUnpayable } from '../domain/open-charge.ts'
import { isForeign, type Payment, paidAmount } from '../domain/payment.ts'
import { isRefundable, isRefunding, refundable } from '../domain/refunds.ts'
import type { Can } from '../domain/types.ts'
import { type AnyGateway, isClosable, mayRefund, supportsStatusCheck } from '../gateways/gateway.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'

export interface StoryDeps {
  queries: Pick<PaymentQueries, 'story'>
  config: { gateways: ReadonlyMap<string, AnyGateway> }
}

export const unknownTransaction = () =>
  new Problem('unknown_transaction', 'There is no transaction with this id.')

/** As one object. */
export async function storyOf({ queries, config }: StoryDeps, transactionId: string, now: number) {
  const found = await queries.story(transactionId)
  if (!found) throw unknownTransaction()
  const { transaction, payment, installation, ...rest } = found
  const { transaction: row } = payment
  return {
    ...transaction,
    isStranded: isStranded(row, now),
    can: canOf(payment, config.gateways.get(row.gateway), { installation, now }),
    ...rest,
  }
}

/**
 * By the rules that the operations themselves follow.
 * @forTests Of every payment, beside what the acts do.
 */
export function canOf(
  payment: Payment,
  gateway: AnyGateway | undefined,
  { installation, now }: { installation: string; now: number },
): Can {
  const { transaction } = payment
  if (!gateway || isForeign(transaction, installation)) {
    return { refund: 0, check: false, cancel: false }
  }
  const isFree = !isCalled(transaction, now)
  const isOver = isUnpayable(transaction, gateway)
  const mayClose = isClosable(gateway) && transaction.gateway_transaction_id !== null
  return {
    refund: leftOf(payment, gateway),
    check: isFree && supportsStatusCheck(gateway) && isAskable(transaction, gateway, now),
    cancel: isFree && transaction.status === 'Pending' && (isOver || mayClose),
  }
}

/** The most that can be refunded. A gateway that refunds all or nothing may have no part left. */
function leftOf(payment: Payment, gateway: AnyGateway): number {
  if (!mayRefund(gateway)) return 0
  if (!isRefundable(payment) || isRefunding(payment)) return 0
  const left = Math.max(0, refundable(payment))
  return gateway.refunds === 'full' && left < paidAmount(payment.transaction) ? 0 : left
}
