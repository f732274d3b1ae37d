// What a shop does with a payment. The events come at least once, and each of them to here once.

import type { Transaction } from 'signalbox/events'

export async function markPaid({ reference, amount, currency, paid }: Transaction): Promise<void> {
  if (paid?.amount !== amount || paid.currency !== currency)
    return console.log('Look at', reference)
  console.log(`${reference} is paid`)
}
