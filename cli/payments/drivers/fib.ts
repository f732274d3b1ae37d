// Callbacks of First Iraqi Bank. They are not signed, so the receiver reads the payment from the
// bank.

import type { DriverTools } from './driver-tools.ts'

export const fib = {
  callbacks: {
    gateway: 'fib',
    signsWith: undefined,
    needs: ['transaction'],
    ignores: ['--amount', '--currency', '--event-id'],
    ways: {
      Paid: ['pay'],
      Failed: ['fail'],
      Expired: ['expire'],
      Cancelled: ['cancel'],
      Refunded: ['pay', 'refund'],
    },
  },
} satisfies DriverTools
