// What the ledger does, each by its name: the ledger and the calls to its object are derived from
// this table. An act is one transaction of the one writer: all of it is stored or none.
//
// A caller generates an `id` once and keeps it through its retries: a call that is repeated because
// its outcome was unknown finds its own rows and answers as the first time. All times are ms.

import type { Act, Rules } from './act.ts'
import { recordAnswer, settleCheck } from './answer.ts'
import { beginCharge } from './begin-charge.ts'
import { checkSoon, claimCheck, claimChecks } from './check.ts'
import { beginClosing, endClosing } from './close-charge.ts'
import { acknowledge, reopen, writeNote } from './desk.ts'
import { hurryEvents, redeliver } from './dispatch.ts'
import { finishCharge } from './finish-charge.ts'
import { pause, resume } from './pause.ts'
import { beginRefund, finishRefund } from './refund.ts'
import { recordWebhook } from './webhook.ts'

export const ACTS = {
  /** Records a verified event and applies it to its transaction. */
  webhook: recordWebhook,
  /** Records what the gateway tells when it is asked, if that is new, and applies it. */
  answer: recordAnswer,
  /** The sweeper soon checks the payment with these ids, if it is known. */
  checkSoon,

  /** Stores a charge before its gateway is called, or finds the one that this request made. */
  beginCharge,
  /** Stores the gateway's answer, and applies events that were parked for it. */
  finishCharge,
  /** Ends a charge that never reached its gateway; any other one its gateway has to end. */
  beginClosing,
  /** Its gateway has not ended it. */
  endClosing,
  /** Claims a refund before its gateway is called: one of a transaction at a time. */
  beginRefund,
  finishRefund,

  /** Transactions whose check is due. Without a result they are due again at `until`. */
  claimChecks,
  /** One of them, due or not. The sweeper leaves it alone until `until`. */
  claimCheck,
  /** As `answer`, if there is one, and with what follows for the next check. */
  settleCheck,

  /** Sends a delivery again, in any status. False: there is none with this id. */
  redeliver,
  /** Makes what waits for an endpoint due, the oldest of it. True: there may be more. */
  hurryEvents,
  /** Marks an alert as seen; a second time changes nothing. False: there is none with this id. */
  acknowledge,
  /** Takes that back, a minute long. */
  reopen,
  /** Undefined: there is no payment with this id. */
  writeNote,

  /** Nothing new is begun until `resume`. Again, it changes nothing. */
  pause,
  resume,
} satisfies Record<string, (input: never, rules: Rules) => Act<unknown>>

type Acts = typeof ACTS
type AnswerOf<Made> = Made extends Act<infer Answer> ? Answer : never

/** Each act, as the writer answers it. */
export type LedgerActs = {
  [Name in keyof Acts]: (
    input: Parameters<Acts[Name]>[0],
  ) => Promise<AnswerOf<ReturnType<Acts[Name]>>>
}
