// Each POST to a gateway is one request, also where its connection ends without a whole answer: a
// bank without idempotency keys would make a second payment, or give the money back twice.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Host } from '../../tools/harness/edge.ts'
import { shopHome } from '../../tools/harness/shop-home.ts'
import { CUTS, CuttingGateway } from '../support/cutting-gateway.ts'
import { freshReference, order, PaymentSystem } from '../support/payment-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** A shop that cancels at the bank, which only its own process may do. */
const CANCELS = `import { defineConfig } from './worker/payments/define-config.ts'
export default defineConfig({
  payments: { gateways: { fib: { driver: 'fib' } } },
  async fetch(request, { payments }) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/cancel') return undefined
    await payments?.driver('fib').cancel?.(searchParams.get('id') ?? '')
    return new Response('cancelled')
  },
})
`

export function oneRequestContract(host: Host): void {
  const gateway = new CuttingGateway()
  let system: PaymentSystem
  let dir = ''
  beforeAll(async () => {
    dir = tempFolder()
    const home = await shopHome(join(dir, 'home'), { config: CANCELS })
    const variables = { FIB_BASE_URL: await gateway.listen() }
    system = await PaymentSystem.start({ host, home, variables })
    gateway.target = system.simulator.url
  })
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]()
    await gateway.close()
  })

  /** Tries that the edge itself counted as failed: after one it may send what is idempotent. */
  const failedTries = async (endpoint: string): Promise<number> => {
    const lines = (await readFile(join(system.edge.dir, 'edge.log'), 'utf8')).split('\n')
    const isOne = (line: string) =>
      line.includes('payments.gateway.attempt_failed') && line.includes(`"${endpoint}"`)
    return lines.filter(isOne).length
  }

  const refund = async (transactionId: string): Promise<number> => {
    const body = { gateway: 'fib', transactionId, amount: 25_000, reason: 'Broken' }
    return (await system.post('/refunds', body)).status
  }

  /** Whether each request that was cut came on a kept connection, where connections are kept. */
  const kept: boolean[] = []
  const CONNECTIONS = { 'its first connection': false, 'one that was kept': true }
  const all = Object.keys(CUTS).flatMap((cut) =>
    Object.entries(CONNECTIONS).map(([connection, keeps]) => ({ cut, connection, keeps })),
  )

  describe.each(all)(`on ${host}, after $cut on $connection`, ({ cut, keeps }) => {
    /** A payment of the bank, whose request leaves a connection or none. */
    const charged = async (work: 'charged' | 'paid') => {
      gateway.keeps = keeps
      return await system[work]({ gateway: 'fib' })
    }
    // The pool may open another one all the same, and another request may have left one.
    const isKept = expect.any(Boolean)
    const noteKept = ([first]: ReturnType<CuttingGateway['cutNext']>) => {
      if (keeps) kept.push(first?.isKept ?? false)
    }

    it('a charge is one request and one payment', async () => {
      await charged('charged')
      const arrived = gateway.cutNext(/\/payments$/, cut)
      const reference = freshReference()
      const answer = await system.post('/charges', order({ gateway: 'fib', reference }))
      expect(answer.status).toBe(503)
      expect(arrived).toEqual([{ isKept, length: expect.stringMatching(/^[1-9]/) }])
      expect(await system.simulator.payments(reference)).toHaveLength(1)
      noteKept(arrived)
    })

    it('a refund is one request', async () => {
      // The first is answered: so many that fail in a row would open the circuit.
      expect(await refund((await charged('paid')).transactionId)).toBe(200)
      const { transactionId } = await charged('paid')
      const arrived = gateway.cutNext(/\/refund$/, cut)
      await refund(transactionId)
      expect(arrived).toEqual([{ isKept, length: '0' }])
      noteKept(arrived)
    })

    it('a cancellation is one request for each try', async () => {
      const { transactionId } = await charged('charged')
      const before = await failedTries('payments/cancel')
      const arrived = gateway.cutNext(/\/cancel$/, cut)
      await system.edge.fetch(`/cancel?id=${transactionId}`, { method: 'POST' })
      const failed = (await failedTries('payments/cancel')) - before
      expect(failed).toBeGreaterThan(0)
      expect(arrived).toHaveLength(failed + 1)
      expect(arrived[0]).toEqual({ isKept, length: '0' })
      noteKept(arrived)
    })
  })

  it(`on ${host}, what was to be cut on a connection that was kept mostly was`, () => {
    // Deno repeats on connections that are kept, and so keeps none.
    const share = kept.filter(Boolean).length / kept.length
    if (host === 'deno') expect(share).toBe(0)
    else expect(share).toBeGreaterThan(0.5)
  })
}
