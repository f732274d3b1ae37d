// Callbacks of First Iraqi Bank: not signed, so that whoever takes one asks the bank itself, and
// what the bank says counts.

import type { CallbackMaker, ToldStatus } from './callback.ts'

const WORDS: Record<ToldStatus, string> = {
  Paid: 'PAID',
  Failed: 'DECLINED',
  Expired: 'DECLINED',
  Cancelled: 'DECLINED',
  Refunded: 'REFUNDED',
}

export const fib = {
  signsWith: undefined,
  needs: ['transaction'],
  statuses: ['Paid', 'Failed', 'Expired', 'Cancelled', 'Refunded'],
  async make({ transactionId: id, status }) {
    const body = JSON.stringify({ id, status: WORDS[status] })
    return { headers: { 'content-type': 'application/json' }, body }
  },
} satisfies CallbackMaker
