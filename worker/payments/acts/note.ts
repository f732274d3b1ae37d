// What a person writes on a payment for those who look at it next. Pure.

import { NOTES, type NoteRow } from '../domain/rows.ts'
import { type Act, type Asked, recordAct } from './act.ts'

interface Written extends Required<Asked> {
  transactionId: string
  text: string
  now: number
}

/** `id`: of the note, generated once. Undefined: there is no payment with this id. */
export function writeNote({ id, by, transactionId, text, now }: Written): Act<NoteRow | undefined> {
  return {
    keys: [['payment', transactionId]],
    decide(rows) {
      if (!rows.payment(transactionId)) return undefined
      const note = NOTES.row({ id, transaction_id: transactionId, text, by, created_at: now })
      rows.put({ notes: [note] })
      // What it says may name the payer, and the audit trail never forgets.
      const act = { action: 'note', transaction_id: transactionId, about: id, at: now } as const
      recordAct(rows, { id, by }, act)
      return note
    },
  }
}
