// Payers whose order changes, or is cancelled, while they pay: at that very moment either may win.

import { setTimeout as sleep } from 'node:timers/promises'
import type { DriverName } from '../../../worker/payments/gateways/registry.ts'
import type { Seeded } from '../../harness/seeded.ts'
import type { SimulatorControl } from '../../harness/simulator-control.ts'
import type { ShopRequests } from './shop-requests.ts'

/** Shares of orders at a gateway that can cancel. */
const CHANGED = 0.25
const CANCELLED = 0.5
/** Payer and shop act within these times. A shop needs three requests to the gateway. */
const PAYS_MS = 300
const ASKS_MS = 150
const PAID_AFTERWARDS = 0.6

export const mayChange = (gateway: DriverName, random: Seeded): boolean =>
  gateway !== 'redirect' && random.next() < CHANGED

/** The gateway's id of the payment, and ours. */
interface Open {
  payment: string
  transactionId: string
}

interface Doing {
  /** Charges the changed order: the gateway's id of what can be paid then. */
  replace: (key: string) => Promise<string | undefined>
  payLate: (payment: string) => Promise<void>
}

export async function changeWhilePaid(
  { simulator, shop }: { simulator: SimulatorControl; shop: ShopRequests },
  { payment, transactionId }: Open,
  random: Seeded,
  { replace, payLate }: Doing,
): Promise<void> {
  const [paidAfter, askedAfter] = [random.below(PAYS_MS), random.below(ASKS_MS)]
  const paying = sleep(paidAfter).then(() => simulator.act(payment, 'pay').catch(tooLate))
  const what = { kind: 'cancel', transactionId } as const
  const asking = sleep(askedAfter).then(async () => {
    if (random.next() >= CANCELLED) return await replace(`key after the change of ${transactionId}`)
    await shop.untilDone(`/transactions/${transactionId}/cancel`, {}, undefined, what)
    return undefined
  })
  const [paid, second] = await Promise.all([paying, asking])
  const isOther = second !== undefined && second !== payment
  if (isOther && random.next() < PAID_AFTERWARDS) await simulator.act(second, 'pay')
  // The bank had taken the money, although it reported that it was cancelled.
  if (!paid && random.next() < PAID_AFTERWARDS) await payLate(payment)
}

/** It was cancelled before it was paid. */
const tooLate = () => undefined
