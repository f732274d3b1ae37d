// The maintenance switch in the ledger and in its database.

import { describe, expect, it } from 'vitest'
import type { Database } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { forgetPayers } from '../../../../worker/payments/ledger/libsql/forget-libsql.ts'
import { readPause } from '../../../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { HOUR, T0 } from '../../../support/ledger-setup.ts'
import { database, rivalledSetup, setupOver, useMemoryLedger } from './memory-ledger.ts'

const act = (id: string, by = 'ada', now = T0) => ({ id, by, now })
const ADA = { since: T0, by: 'ada' }

describe('A pause', () => {
  useMemoryLedger()

  it('is that of who asked first, however often it is asked for, with one row for each change', async () => {
    const w = rivalledSetup()
    expect(await w.ledger.resume(act('1'))).toBeUndefined()
    expect(await w.ledger.pause(act('2'))).toEqual(ADA)
    expect(await w.ledger.pause(act('2'))).toEqual(ADA)
    expect(await w.ledger.pause(act('3', 'bob', T0 + HOUR))).toEqual(ADA)
    expect(await w.queries.pause()).toEqual(ADA)
    expect(await w.ledger.resume(act('4', 'carl'))).toEqual(ADA)
    expect(await w.ledger.resume(act('5', 'dora'))).toBeUndefined()
    expect(await w.queries.pause()).toBeUndefined()
    const rows = await w.queries.audit({}, { limit: 9 })
    expect(rows.map(({ action, subject }) => [action, subject])).toEqual([
      ['resume', 'carl'],
      ['pause', 'ada'],
    ])
  })

  it('is kept: by other saves, by what forgets payers, and for the next process', async () => {
    const w = setupOver(database)
    const paid = await w.reached('Paid')
    await w.ledger.pause(act('1'))
    await w.webhook(paid, { status: 'Refunded' })
    await forgetPayers(database, { before: T0 + HOUR }, { by: 'eve', clock: hostClock })
    expect(await readPause(database)).toEqual(ADA)
    expect((await setupOver(database).begin({ request: { reference: 'order-2' } })).state).toBe(
      'paused',
    )
  })

  it('that another process sets while a charge is about to be stored comes before the charge', async () => {
    const pauser = setupOver(database)
    let isSet = false
    const slow: Database = {
      ...database,
      async write(statements, signal) {
        if (!isSet) await pauser.ledger.pause(act('1'))
        isSet = true
        return await database.write(statements, signal)
      },
    }
    const w = setupOver(slow)
    expect((await w.begin({})).state).toBe('paused')
    expect(await w.queries.transactions({}, { limit: 9 })).toEqual([])
  })

  it('of the same group decides about what comes after it, and not about what came before', async () => {
    const w = setupOver(database)
    const begin = (reference: string) => w.begin({ request: { reference } })
    const [before, , after] = await Promise.all([
      begin('order-1'),
      w.ledger.pause(act('1')),
      begin('order-2'),
    ])
    expect([before.state, after.state]).toEqual(['begun', 'paused'])
  })

  it('does not refuse the repeated call of what was stored before it, whose answer was lost', async () => {
    const w = setupOver(database)
    const paid = await w.reached('Paid')
    const charge = w.start({ request: { reference: 'order-2' } })
    const refund = w.refundStart(paid, {})
    await w.ledger.beginCharge(charge)
    await w.ledger.beginRefund(refund)
    await w.ledger.pause(act('1'))
    expect((await w.ledger.beginCharge(charge)).state).toBe('begun')
    expect((await w.ledger.beginRefund(refund)).state).toBe('begun')
  })
})
