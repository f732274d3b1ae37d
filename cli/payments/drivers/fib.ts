// Callbacks of First Iraqi Bank. They are not signed, so the receiver reads the payment from the
// bank.

import type { DriverTools, SimulatedStatus } from './driver-tools.ts'

const STATUSES: Record<SimulatedStatus, string> = {
  Paid: 'PAID',
  Failed: 'DECLINED',
  Expired: 'DECLINED',
  Cancelled: 'DECLINED',
  Refunded: 'REFUNDED',
}

export const fib = {
  callbacks: {
    signsWith: undefined,
    needs: ['transaction'],
    ignores: ['amount', 'currency', 'event-id'],
    statuses: ['Paid', 'Failed', 'Expired', 'Cancelled', 'Refunded'],
    async make({ transactionId: id, status }) {
      const body = JSON.stringify({ id, status: STATUSES[status] })
      return { headers: { 'content-type': 'application/json' }, body }
    },
  },
} satisfies DriverTools
