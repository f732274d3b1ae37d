// The status of a payment.

import type { PaymentStatus } from '../../worker/payments/domain/status.ts'
import { words } from '../words.ts'

export const StatusBadge = ({ status }: { status: PaymentStatus }) => (
  <span class={`badge ${status}`}>{words.payments.status[status]}</span>
)
