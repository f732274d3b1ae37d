// Which saves of the ledger the faults of late batches hold back, by the texts of their statements.

import { describe, expect, it } from 'vitest'
import { settle } from '../../../libraries/testing/fake-clock.ts'
import { holdBatch, undoesRefund } from '../../../tools/prove/recorder/held-batch.ts'
import type { Answered, Passed } from '../../../tools/prove/recorder/proxy.ts'
import type { Statement } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { database, setupOver, useMemoryLedger } from '../../worker/payments/ledger/memory-ledger.ts'

useMemoryLedger()

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

describe('a batch that is held back', () => {
  const ID = '01K0000000000000RF00000007'
  const passed = (baton: string | null | undefined, ...requests: object[]): Passed => {
    const body = JSON.stringify({ baton, requests })
    return { url: '/v3/pipeline', body, send: () => Promise.resolve('{"baton":"kept"}') }
  }
  const store = (sql: string) => ({ type: 'store_sql', sql_id: 1, sql })
  const batch = { steps: [{ stmt: { sql: 'BEGIN IMMEDIATE' } }, { stmt: { sql_id: 1, id: ID } }] }

  it('is found by the texts of its own connection, and lands once it was overtaken', async () => {
    const proxy = {
      hold: (_: Passed): Promise<string> | undefined => undefined,
      onAnswer: (_: Answered): void => undefined,
    }
    const overtaken = Promise.withResolvers<void>()
    let ids: readonly string[] = []
    const holding = holdBatch(proxy, 0, {
      isSought: undoesRefund,
      overtaken(of) {
        ids = of
        return overtaken.promise
      },
    })
    const answer = (asked: Passed, baton: string | null) =>
      proxy.onAnswer({
        passed: asked,
        status: 200,
        answer: JSON.stringify({ baton, results: [] }),
        tookMs: 1,
      })
    await expect(proxy.hold(passed('older', { batch }))).rejects.toThrow('held back')
    // A new connection has no name, which is said in either way.
    for (const [none, baton, sql] of [
      [undefined, 'writes', 'UPDATE payment_refunds SET status = 1'],
      [null, 'reads', 'SELECT 1'],
    ] as const) {
      const opens = passed(none, store(sql))
      expect(proxy.hold(opens)).toBeUndefined()
      answer(opens, baton)
    }
    expect(proxy.hold(passed('reads', { batch }))).toBeUndefined()
    const late = passed('writes', { batch })
    let isLanding = false
    const held = Promise.resolve(proxy.hold(late)).finally(() => {
      isLanding = true
    })
    await settle()
    expect([isLanding, ids]).toEqual([false, [ID]])
    overtaken.resolve()
    expect(await held).toBe(late.body)
    answer(late, null)
    expect(await holding).toMatchObject({ held: true, isSought: true, isCommitted: false })
  })
})
