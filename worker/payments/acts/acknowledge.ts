// A person has seen an alert, and maybe done something about it. Pure.

import { newId } from '../domain/new-id.ts'
import { acknowledgeAlert, unchanged, withAlerts } from '../domain/payment.ts'
import { type Act, type Rules, recordAct, storeInOrder } from './act.ts'

interface Acknowledged {
  id: string
  by: string
  now: number
  /** The gateway's id of what a person did about it. */
  gatewayReference?: string | undefined
}

/** Late money that was refunded by hand may have been one of two payments of its order. */
export function acknowledge(
  { id, by, now, gatewayReference }: Acknowledged,
  rules: Rules,
): Act<boolean> {
  return {
    keys: [['alertId', id]],
    decide(rows) {
      const alert = rows.get('alerts', id)
      if (!alert) return false
      const acknowledged = acknowledgeAlert(alert, by, now, gatewayReference)
      const { kind: detail, transaction_id } = alert
      if (acknowledged !== alert) {
        const act = { action: 'acknowledge', transaction_id, about: id, detail } as const
        recordAct(rows, { id: newId(now), by }, { ...act, at: now })
      }
      const payment = rows.payment(alert.transaction_id ?? undefined)
      if (payment) {
        const decision = unchanged(withAlerts(payment, [acknowledged]))
        storeInOrder(rows, { before: payment, decision, now }, rules)
      } else {
        rows.put({ alerts: [acknowledged] })
      }
      return true
    },
  }
}
