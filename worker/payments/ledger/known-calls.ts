// The payments that are at their gateways now, as this ledger saved them last. When the answer
// comes they are not loaded again: a save names the position that it was decided on, so that it is
// refused if anybody has saved since.

import { type Payment, refundUnderWay } from '../domain/payment.ts'
import type { Operation } from './operation.ts'
import type { Loaded, Position } from './store.ts'
import { WorkingSet } from './working-set.ts'

/** The end of a call that crashed is reported by nobody: beyond this, the oldest are forgotten. */
const MAX_CALLS = 1_000

export class KnownCalls {
  readonly #calls = new Map<string, Payment>()
  /** Of the last save. Undefined: nothing is known. */
  #position: Position | undefined

  /** The rows that all of the operations need, if none of them needs a look at the database. */
  guess(operations: readonly Operation<unknown>[]): Loaded | undefined {
    if (!this.#position) return undefined
    const each = operations.map(({ expects }) => expects?.(this.#calls) ?? [undefined])
    const expected = each.flat()
    const payments = expected.flatMap((payment) => payment ?? [])
    if (payments.length < expected.length) return undefined
    // A new charge is compared with the others of its order. A load may leave out their requests.
    const hasNew = each.some(({ length }) => length === 0)
    if (hasNew && payments.some(({ transaction }) => transaction.request === null)) return undefined
    return { rows: WorkingSet.of(payments), position: this.#position }
  }

  /** `rows` were saved on `before`, and nothing else was saved until `after`. */
  saved(rows: WorkingSet, before: Position, after: Position): void {
    if (this.#position?.epoch !== before.epoch || this.#position.batch !== before.batch) {
      this.forget()
    }
    this.#position = after
    for (const { id } of rows.all('transactions')) {
      const payment = rows.payment(id)
      if (payment) this.#remember(payment)
    }
  }

  forget(): void {
    this.#calls.clear()
    this.#position = undefined
  }

  #remember(payment: Payment): void {
    const { transaction, refunds } = payment
    for (const { id } of [transaction, ...refunds]) this.#calls.delete(id)
    if (transaction.called_by !== null) this.#calls.set(transaction.id, payment)
    const refund = refundUnderWay(payment)
    if (refund) this.#calls.set(refund.id, payment)
    for (const id of this.#calls.keys()) {
      if (this.#calls.size <= MAX_CALLS) break
      this.#calls.delete(id)
    }
  }
}
