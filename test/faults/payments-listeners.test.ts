// Listeners and an endpoint that hang or throw: no webhook, charge or refund waits for them, and
// each event arrives when they work again.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shopHome } from '../../tools/harness/shop-home.ts'
import { atATime } from '../support/at-a-time.ts'
import { serve, type TestServer } from '../support/http.ts'
import { PATIENT } from '../support/patience.ts'
import { once, seed, send, sendAgain, signed, stored } from '../support/payment-faults.ts'
import { PaymentSystem } from '../support/payment-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Each listener calls the test, which decides when it answers. One of them can also throw. */
const shopOf = (url: string) => `
import { defineConfig } from './worker/payments/define-config.ts'

const asks = async () => {
  const { status } = await fetch('${url}/listener')
  if (status !== 200) throw new Error('the shop is closed')
}

export default defineConfig({
  payments: {
    gateways: { redirect: { driver: 'redirect' } },
    listeners: {
      PaymentInitiated: asks,
      PaymentSucceeded: [
        asks,
        ({ transaction }) => {
          if (transaction.reference.endsWith('throws')) throw new TypeError('broken')
        },
      ],
      PaymentRefunded: asks,
    },
  },
})
`

describe.each(['workerd', 'node'] as const)('listeners on %s', (host) => {
  let dir: string
  let shop: TestServer
  let system: PaymentSystem
  let isOpen = false
  /** Requests of listeners and to the endpoint. */
  let asked: string[] = []
  /** Those that wait for the shop to open. */
  const waiting: (() => void)[] = []

  beforeAll(async () => {
    dir = tempFolder()
    shop = await serve(async (request) => {
      asked.push(new URL(request.url).pathname)
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
      return new Response()
    })
    const home = await shopHome(join(dir, 'home'), { config: shopOf(shop.url) })
    system = await PaymentSystem.start({ host, home, database: 'server' })
  })
  afterAll(async () => {
    for (const release of waiting.splice(0)) release()
    await system[Symbol.asyncDispose]()
    await shop.close()
  })

  it('that hang delay no webhook, charge or refund, and get every event in the end', async () => {
    const edge = await system.anotherEdge({ PAYMENT_EVENTS_URL: `${shop.url}/events` })
    const payments = await seed(system.database, 200)
    const callbacks = await atATime(8, payments, (payment) => signed(payment))
    const answers = await atATime(32, callbacks, (callback) => send(edge, callback))
    expect(new Set(answers.map(({ status, word }) => `${status} ${word}`))).toEqual(
      new Set(['200 ok']),
    )
    expect(await stored(system.database, payments)).toEqual(once(payments))
    const { transactionId, gatewayTransactionId } = await system.charged({}, edge)
    await system.simulator.act(gatewayTransactionId, 'pay')
    const refund = { gateway: 'redirect', transactionId, amount: 25_000, reason: 'Returned' }
    expect((await system.post('/refunds', refund, {}, edge)).status).toBe(200)
    // All of that while they hung, which none of them does before it is called.
    const calls = (path: string) => asked.filter((each) => each === path).length
    await expect.poll(() => calls('/listener'), PATIENT).toBeGreaterThan(payments.length)
    await expect.poll(() => calls('/events'), PATIENT).toBeGreaterThan(payments.length)

    isOpen = true
    for (const release of waiting.splice(0)) release()
    const isDelivered = async () => {
      const ids = new Set(payments.map(({ id }) => id))
      const [row] = await system.database.query(
        `SELECT COUNT(*) AS n FROM payment_outbox o JOIN payment_deliveries d ON d.outbox_id = o.id
          WHERE o.done_at IS NOT NULL AND d.status = 'delivered'
            AND o.transaction_id IN (SELECT value FROM json_each(:ids))`,
        { ids: JSON.stringify([...ids]) },
      )
      if (row?.n === payments.length) return true
      await sendAgain(system, edge)
      return false
    }
    await expect.poll(isDelivered, PATIENT).toBe(true)
  })

  it('that throw delay neither the webhook nor the other listeners', async () => {
    isOpen = true
    asked = []
    const [payment] = await seed(system.database, 1)
    if (!payment) throw new Error('nothing was seeded')
    const { id } = payment
    const reference = `${payment.reference}-throws`
    const renamed = 'UPDATE payment_transactions SET reference = :reference WHERE id = :id'
    await system.database.query(renamed, { id, reference })
    const callback = await signed({ ...payment, reference })
    expect(await send(system.edge, callback)).toMatchObject({ status: 200, word: 'ok' })
    const failures = async () =>
      (await system.log()).match(/payments\.listener\.failed.*TypeError: broken/g)?.length
    // Under Deno the sweeper may have tried it once more by then.
    await expect.poll(failures, PATIENT).toBeGreaterThan(0)
    // They are called at the same time, and the request of this one may arrive later.
    await expect.poll(() => asked, PATIENT).toContain('/listener')
    const tried = async () =>
      (
        await system.database.query(
          'SELECT attempts > 0 AS tried, done_at FROM payment_outbox WHERE transaction_id = :id',
          { id },
        )
      )[0]
    await expect.poll(tried, PATIENT).toMatchObject({ tried: 1, done_at: null })
  })
})
