// What happens long after a run: everything that is kept for a time is forgotten, payments are
// checked once more, the gateways send old events again, and the shop repeats old requests.

import { setTimeout as sleep } from 'node:timers/promises'
import type { PaymentsLoad } from './loads/payments-load.ts'
import type { Recorder } from './recorder.ts'
import { paymentsRest, writeTransactions } from './rest.ts'
import { type SentWebhook, sendAgain } from './sign-again.ts'
import type { System } from './system.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** Longer than events are kept, and in these runs also their keys. */
const DAYS = 200
/** After a long run not all are sent again, but some from each of its parts. */
const MAX_WEBHOOKS = 300
const AT_ONCE = 8
/** A process reads its clock a little later. */
const CLOCK_MS = 500

export async function monthsLater(
  system: System,
  recorder: Recorder,
  payments: PaymentsLoad,
  sent: ReadonlyMap<string, SentWebhook>,
): Promise<void> {
  // What is open then has news for the shop, at a time that its endpoint would not believe.
  for (const each of [system.receiver, system.people]) each.receive = () => 204
  await system.passTime(DAYS * DAY_MS)
  await sleep(CLOCK_MS)
  recorder.write({ kind: 'jump', days: DAYS })
  await checkAll(system, recorder)
  const every = Math.ceil(sent.size / MAX_WEBHOOKS)
  const webhooks = [...sent.values()].filter((_, at) => at % every === 0).values()
  const send = async () => {
    for (const { url, body } of webhooks) {
      // Past the proxy: what was answered months before is what counts.
      const direct = new URL(new URL(url).pathname + new URL(url).search, system.edgeUrl).href
      await sendAgain({ url: direct, body }, system.secrets, Date.now() + DAYS * DAY_MS)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  await payments.refunds.repeat()
  await checkAll(system, recorder)
  await writeTransactions(system, recorder, 'later')
}

/** As after a webhook that is too old: the gateway is asked about each payment. */
async function checkAll(system: System, recorder: Recorder): Promise<void> {
  await system.query('UPDATE payment_transactions SET next_check_at = 0')
  await paymentsRest(system, recorder)
}
