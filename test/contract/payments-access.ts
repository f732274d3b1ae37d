// Access control of payments over HTTP.

import { describe, expect, it } from 'vitest'
import { LAST, token } from '../support/edge.ts'
import { order } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'

const READS = [
  '/transactions',
  '/transactions/01J',
  '/webhook-events',
  '/webhook-rates',
  '/alerts',
  '/gateways',
]
const WRITES = [
  '/charges',
  '/refunds',
  '/sweep',
  '/transactions/01J/check',
  '/alerts/01J/acknowledge',
  '/deliveries/01J/redeliver',
]

export function accessContract({ host, system }: Payments): void {
  const all = [
    ...READS.map((path) => ({ path, method: 'GET' })),
    ...WRITES.map((path) => ({ path, method: 'POST' })),
  ]
  const ask = async (path: string, init: RequestInit) => {
    const answer = await system().edge.fetch(`/api/payments${path}`, init)
    const { code } = (await answer.json()) as { code?: string }
    return { status: answer.status, code }
  }
  const bearer = async (scope: string) => ({
    Authorization: `Bearer ${await token({ scope, repos: [] })}`,
  })

  describe(`access to payments on ${host}`, () => {
    it('is 401 without a token, or with an invalid one', async () => {
      for (const { path, method } of all) {
        for (const headers of [{}, { Authorization: 'Bearer x.y.z' }]) {
          const refused = await ask(path, { method, headers })
          expect(refused, path).toEqual({ status: 401, code: 'unauthorized' })
        }
      }
    })

    it('is 403 without the scope: neither scope includes the other', async () => {
      const others = {
        GET: await bearer('payments:write board:read board:write'),
        POST: await bearer('payments:read board:read board:write'),
      }
      for (const { path, method } of all) {
        const headers = others[method as keyof typeof others]
        const refused = await ask(path, { method, headers })
        expect(refused, path).toEqual({ status: 403, code: 'forbidden' })
      }
    })

    it('is checked before the request is read, and stores nothing', async () => {
      const before = await system().rows()
      const headers = { ...(await bearer('payments:read')), ...LAST }
      for (const body of [JSON.stringify(order()), '{', 'x'.repeat(100 << 10)]) {
        const refused = await ask('/charges', { method: 'POST', headers, body })
        expect(refused).toEqual({ status: 403, code: 'forbidden' })
      }
      expect(await system().rows()).toEqual(before)
    })

    it('is granted for the routes of each scope', async () => {
      const read = await ask('/transactions', { headers: await bearer('payments:read') })
      expect(read.status).toBe(200)
      const looked = await system().edge.fetch('/api/payments/transactions', {
        method: 'HEAD',
        headers: await bearer('payments:read'),
      })
      expect(looked.status).toBe(200)
      const headers = await bearer('payments:write')
      const write = await ask('/charges', {
        method: 'POST',
        headers,
        body: JSON.stringify(order()),
      })
      expect(write.status).toBe(201)
    })

    it('needs no token for webhooks, and a token does not replace a signature', async () => {
      const headers = await bearer('payments:read payments:write')
      const answer = await system().edge.fetch('/payments/webhooks/redirect', {
        method: 'POST',
        headers,
        body: '{}',
      })
      expect([answer.status, await answer.text()]).toEqual([401, 'invalid'])
    })
  })
}
