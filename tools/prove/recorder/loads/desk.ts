// What the staff of a gateway does with a payment that is paid: refunds that nobody asked for
// through us. At Stripe and Mollie of any part, and some wait, are cancelled, or fail after all.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Payment, Refund } from '../../../../simulator/payments.ts'
import type { Seeded } from '../../../harness/seeded.ts'
import type { SimulatorControl } from '../../../harness/simulator-control.ts'

/** Shares of paid payments that the gateway's staff refunds, some before we know of them. */
export const AT_DESK = { stripe: 0.6, mollie: 0.6, redirect: 0.08, fib: 0.08 } as const

/** Refunds may be of any part, and have states of their own. The payments are in dollars. */
export const isInParts = (gateway: string): boolean => gateway === 'stripe' || gateway === 'mollie'

type Course = readonly Refund['status'][]

/** What becomes of a refund, one status after the other. */
const COURSES: readonly (readonly [weight: number, course: Course])[] = [
  [35, ['succeeded']],
  [15, ['succeeded', 'failed']],
  [15, ['pending', 'succeeded']],
  [10, ['pending', 'canceled']],
  [10, ['pending', 'failed']],
  [5, ['pending']],
]
const MAX_REFUNDS = 3
const WHOLE = 0.3
const NEXT_MS = 700

export async function refundAtDesk(
  simulator: SimulatorControl,
  id: string,
  random: Seeded,
): Promise<void> {
  const { gateway } = await simulator.payment(id)
  if (!isInParts(gateway)) return void (await simulator.act(id, 'refund').catch(refused))
  const times = 1 + random.below(MAX_REFUNDS)
  const refunds = Array.from({ length: times }, () => refundPart(simulator, id, random.fork()))
  await Promise.all(refunds)
}

async function refundPart(simulator: SimulatorControl, id: string, random: Seeded): Promise<void> {
  const [first, ...rest] = random.weighted(COURSES)
  await sleep(random.below(NEXT_MS))
  const { amount: asked, paid } = await simulator.payment(id)
  const part = 1 + random.below(paid?.amount ?? asked)
  const amount = random.next() < WHOLE ? {} : { amount: part }
  const made = await simulator
    .refund(id, { ...amount, ...(first && { status: first }) })
    .catch(refused)
  const refundId = made?.refunds?.findLast(isOfDesk)?.id
  if (refundId === undefined) return
  for (const status of rest) {
    await sleep(random.below(NEXT_MS))
    await simulator.refund(id, { refundId, status })
  }
}

/** What we asked for carries our name. */
const isOfDesk = ({ metadata }: Refund): boolean => metadata.refund_id === undefined

/** There was nothing left to refund. */
const refused = (): Payment | undefined => undefined

/** What a shop asks for: everything, or some parts of it. */
export function partsOf(gateway: string, whole: number, random: Seeded): number[] {
  if (!isInParts(gateway) || random.next() < WHOLE) return [whole]
  const times = 1 + random.below(MAX_REFUNDS)
  return Array.from({ length: times }, () => 1 + random.below(Math.max(1, Math.floor(whole / 2))))
}
