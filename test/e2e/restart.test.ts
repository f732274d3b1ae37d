// A charge outlives the system that made it: its page opens after a restart, and can be paid there.
// The system is ended through npm, too, which passes a signal on, or is killed and can pass none.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Transaction } from '../../worker/payments/domain/types.ts'
import { EventReceiver } from '../support/event-receiver.ts'
import {
  type Launch,
  oneProcess,
  type Start,
  type StartPlan,
  Starts,
  throughNpm,
} from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'

const SECRET = `whsec_${btoa('a-secret-of-the-host-application')}`

describe.each<[string, Launch]>([
  ['signalbox', oneProcess],
  ['npm start', throughNpm],
])('a restart of %s', (_, launch) => {
  const starts = new Starts()
  const receiver = new EventReceiver(SECRET)
  let plan: StartPlan
  let system: Start
  beforeAll(async () => {
    await receiver.listen()
    const env = { PAYMENT_EVENTS_URL: receiver.url, PAYMENT_EVENTS_SECRET: SECRET }
    plan = { launch, env }
    system = await (await starts.start(plan)).ready()
  })
  afterAll(async () => {
    await starts.clear()
    receiver.close()
  })

  it.each<NodeJS.Signals>(['SIGINT', 'SIGKILL'])(
    'after %s leaves a charge payable: its page opens, it is paid there, its event arrives',
    async (signal) => {
      const charges = await Promise.all(
        ['redirect', 'fib'].map((gateway) => system.charge(`${gateway}-${signal}`, { gateway })),
      )
      system.process.kill(signal)
      const isGraceful = signal === 'SIGINT'
      expect(await system.ended).toEqual(
        isGraceful ? { code: 0, signal: null } : { code: null, signal },
      )
      await system.nothingLeft()
      // Alone it cannot remove the file when it is killed.
      const hasFile = !isGraceful && launch === oneProcess
      expect(existsSync(join(system.dataDir, 'local.json'))).toBe(hasFile)
      const { storeDir, dataDir } = system
      system = await (await starts.start({ ...plan, storeDir, dataDir, port: 'last' })).ready()
      for (const { transactionId, gateway, reference } of charges) {
        const repeated = await system.charge(reference, { gateway })
        // FIB has no page of its own; its app has one here.
        const url = repeated.redirectUrl ?? repeated.deepLink ?? ''
        const page = await fetch(url)
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('25,000')])
        await fetch(url, { method: 'POST', body: 'action=pay', redirect: 'manual' })
        const paid = async () => receiver.typesOf(transactionId).at(-1)
        await expect.poll(paid, PATIENT).toBe('PaymentSucceeded')
        const { status } = await system.payments<Transaction>(`/transactions/${transactionId}`)
        expect(status).toBe('Paid')
      }
    },
  )
})
