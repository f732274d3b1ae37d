// A database is lost while payments are under way, and a backup takes its place.

import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type {
  OpenedPayment,
  RefundResult,
  Transaction,
} from '../../worker/payments/domain/types.ts'
import { embeddedDatabase, fileOf } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../worker/payments/ledger/libsql/store-libsql.ts'
import { run } from '../cli/run.ts'
import { jsonOf } from '../support/json-of.ts'
import { PATIENT } from '../support/patience.ts'
import { order, PaymentSystem } from '../support/payment-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

let dir: string
let system: PaymentSystem
beforeAll(async () => {
  dir = tempFolder()
  system = await PaymentSystem.start({ host: 'node' })
})
afterAll(() => system?.[Symbol.asyncDispose]())

const soon = () => AbortSignal.timeout(60_000)

it('goes on with what was open: its gateways are asked, and no save of before lands', async () => {
  const { simulator } = system
  const paid = await system.paid()
  const paidLater = await system.charged()
  const failedLater = await system.charged()
  const stillOpen = await system.charged()
  const unanswered = order()
  const reference = String(unanswered.reference)
  await simulator.faults(reference, { outage: 200, endpoints: ['init'] })
  const { transactionId: lost } = await jsonOf<OpenedPayment>(
    await system.post('/charges', unanswered),
    503,
  )
  const refunded = await system.paid({ gateway: 'fib' })
  await system.untilStatus(refunded.transactionId, 'Paid')
  // The bank makes it at once, and its webhook does not come.
  await simulator.faults(refunded.reference, { lost: true })
  const back = {
    gateway: 'fib',
    transactionId: refunded.transactionId,
    amount: 25_000,
    reason: 'x',
  }
  await jsonOf<RefundResult>(await system.post('/refunds', back))

  const backup = join(dir, 'payments.backup')
  const backedUp = await run(['backup', backup], { LIBSQL_URL: system.database.url })
  expect(backedUp).toEqual({ code: 0, out: `Copied 6 payments to ${backup}.\n`, err: '' })

  // Another one, of a process that is busy: all that a payment has is in it, or nothing.
  const busy = join(dir, 'busy.backup')
  const [copied] = await Promise.all([
    run(['backup', busy], { LIBSQL_URL: system.database.url }),
    ...Array.from({ length: 20 }, () => system.paid()),
  ])
  expect(copied).toMatchObject({ code: 0, err: '' })
  const copy = embeddedDatabase(busy)
  const [paidRows, toldRows] = await copy.read([
    statement("SELECT id FROM payment_transactions WHERE status = 'Paid' ORDER BY id"),
    statement(`SELECT transaction_id AS id FROM payment_outbox
      WHERE type = 'PaymentSucceeded' ORDER BY transaction_id`),
  ])
  copy.close()
  expect(toldRows).toEqual(paidRows)

  // What happens after it is lost with the database, and the gateways know it.
  await simulator.act(paidLater.gatewayTransactionId, 'pay')
  await simulator.act(failedLater.gatewayTransactionId, 'fail')
  await simulator.faults(reference, {})
  const afterwards = order()
  const known = await system.charged(afterwards)
  const old = embeddedDatabase(fileOf(system.database.url))
  const loaded = await libsqlStore(old).load([['payment', stillOpen.transactionId]], soon())
  old.close()
  await system.edge.close()

  const dataDir = join(dir, 'data')
  const restored = await run(['restore', backup, '--data', dataDir])
  expect(restored).toMatchObject({ code: 0, err: '' })
  expect(restored.out).toContain('The next start asks the gateways about what is open: 5 payments.')
  expect(await run(['restore', backup, '--data', dataDir])).toMatchObject({ code: 2 })
  const file = join(dataDir, 'node/payments.db')
  const fresh = embeddedDatabase(file)
  const [row] = loaded.rows.all('transactions')
  if (row) loaded.rows.put({ transactions: [{ ...row, status: 'Failed' }] })
  await expect(libsqlStore(fresh).save(loaded, soon())).rejects.toMatchObject({
    code: 'stale_rows',
  })
  fresh.close()

  const edge = await system.anotherEdge({ LIBSQL_URL: `file:${file}` })
  const statusOf = async (id: string) => {
    const answer = await system.api(`/transactions/${id}`, {}, edge)
    return (await jsonOf<{ status: string }>(answer)).status
  }
  await expect
    .poll(async () => {
      await system.sweep(edge)
      const ids = [paidLater, failedLater, refunded].map(({ transactionId }) => transactionId)
      return Promise.all(ids.map(statusOf))
    }, PATIENT)
    .toEqual(['Paid', 'Failed', 'Refunded'])
  expect(await statusOf(paid.transactionId)).toBe('Paid')
  expect(await statusOf(stillOpen.transactionId)).toBe('Pending')
  // The charge without an answer was sent again by the sweeper, and is paid after all.
  await simulator.act((await simulator.payments(reference))[0]?.id ?? '', 'pay')
  await jsonOf(await system.post(`/transactions/${lost}/check`, undefined, {}, edge))
  expect(await statusOf(lost)).toBe('Paid')
  // The same charge finds the payment that only the gateway knows, whose page it gave once.
  const again = await system.post('/charges', afterwards, {}, edge)
  const found = await jsonOf<OpenedPayment>(again, 503)
  const story = await jsonOf<Transaction>(
    await system.api(`/transactions/${found.transactionId}`, {}, edge),
  )
  expect(story.gatewayTransactionId).toBe(known.gatewayTransactionId)
})
