// The public API of the package `signalbox/payments`: payments over HTTP, for shops.

export type {
  Acknowledgement,
  Alert,
  AlertsPage,
  AuditPage,
  AuditRecord,
  ChargeRequest,
  Gateway,
  Movement,
  MovementDays,
  MovementSum,
  Movements,
  Note,
  Paid,
  Pause,
  PaymentError,
  PaymentResponse,
  PaymentStatus,
  RefundRequest,
  RefundResult,
  Transaction,
  TransactionStory,
  TransactionsPage,
  Unreadable,
} from '../api/types.ts'
export { createPayments } from './client.ts'
export {
  type AlertFilter,
  type AuditFilter,
  type MovementFilter,
  type Payments,
  PaymentsError,
  type PaymentsErrorCode,
  type PaymentsOptions,
  type TransactionFilter,
  type WithKey,
} from './types.ts'
