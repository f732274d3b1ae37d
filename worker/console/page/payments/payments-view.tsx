// Payments: what a person should look at first, then every transaction.

import { words } from '../words.ts'

export function PaymentsView() {
  return <h1>{words.navigation.payments}</h1>
}
