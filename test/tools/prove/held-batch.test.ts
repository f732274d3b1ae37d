// Which saves of the ledger the faults of late batches hold back, by the texts of their statements.

import { describe, expect, it } from 'vitest'
import { undoesRefund } from '../../../tools/prove/recorder/held-batch.ts'
import type { Statement } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { database, setupOver, useWriterSetup } from '../../worker/payments/ledger/writer-setup.ts'

useWriterSetup()

/** A setup, and the last save of its ledger. */
function watched() {
  let last: readonly Statement[] = []
  const setup = setupOver({
    ...database,
    write(statements, signal) {
      last = statements
      return database.write(statements, signal)
    },
  })
  const isHeld = () => undoesRefund(last.map(({ sql }) => sql))
  return { setup, isHeld }
}

describe('a batch that would undo a refund', () => {
  it('is the answer that a refund was accepted', async () => {
    const { setup, isHeld } = watched()
    const refund = await setup.claimed(await setup.reached('Paid'), { amount: 9_000 })
    await setup.endRefund(refund, { kind: 'accepted', nextCheckAt: 9 })
    expect(isHeld()).toBe(true)
  })

  it('is none that has an id which was generated once', async () => {
    const { setup, isHeld } = watched()
    const paid = await setup.reached('Paid')
    expect(isHeld()).toBe(false)
    const refund = await setup.claimed(paid, { amount: 9_000 })
    expect(isHeld()).toBe(false)
    await setup.endRefund(refund, { kind: 'done' })
    expect(isHeld()).toBe(false)
  })
})
