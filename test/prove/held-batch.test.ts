// Which saves of the ledger the faults of late batches hold back, by the texts of their statements.

import { describe, expect, it } from 'vitest'
import { undoesRefund } from '../../tools/prove/recorder/held-batch.ts'
import type { Statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { database, useWriterBed, worldOver } from '../worker/payments/ledger/writer-bed.ts'

useWriterBed()

/** A world, and the last save of its ledger. */
function watched() {
  let last: readonly Statement[] = []
  const world = worldOver({
    ...database,
    write(statements, signal) {
      last = statements
      return database.write(statements, signal)
    },
  })
  const isHeld = () =>
    undoesRefund(
      last.map(({ sql }) => sql),
      JSON.stringify(last),
    )
  return { world, isHeld }
}

describe('a batch that would undo a refund', () => {
  it('is the answer that a refund was accepted', async () => {
    const { world, isHeld } = watched()
    const refund = await world.claimed(await world.reached('Paid'), { amount: 9_000 })
    await world.endRefund(refund, { kind: 'accepted', nextCheckAt: 9 })
    expect(isHeld()).toBe(true)
  })

  it('is the end of late money that went back', async () => {
    const { world, isHeld } = watched()
    const late = await world.reached('Expired')
    await world.webhook(late)
    const refund = await world.claimed(late, { amount: 9_000 })
    await world.endRefund(refund, { kind: 'done' })
    expect(isHeld()).toBe(true)
  })

  it('is none that has an id which was generated once', async () => {
    const { world, isHeld } = watched()
    const paid = await world.reached('Paid')
    expect(isHeld()).toBe(false)
    const refund = await world.claimed(paid, { amount: 9_000 })
    expect(isHeld()).toBe(false)
    await world.endRefund(refund, { kind: 'done' })
    expect(isHeld()).toBe(false)
  })
})
