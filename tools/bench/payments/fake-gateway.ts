// A redirect gateway with a fixed response time. It records how long each charge really took, so
// that this can be subtracted.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from '../../../system/ports.ts'

export interface FakeGateway {
  url: string
  /** How long it took for the charge of this order, in ms; undefined: it never got one. */
  heldMs(orderId: string): number | undefined
  close(): Promise<void>
}

export async function startFakeGateway(delayMs: number): Promise<FakeGateway> {
  const held = new Map<string, number>()
  const open = async (incoming: IncomingMessage) => {
    const startedAt = performance.now()
    const { orderId } = (await json(incoming)) as { orderId: string }
    await sleep(delayMs)
    held.set(orderId, performance.now() - startedAt)
    return {
      status: 'PENDING',
      transactionDetails: { transactionId: `gt-${orderId}`, orderId },
      redirectUrl: `https://gateway.test/pay/${orderId}`,
    }
  }
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const isToken = incoming.url === '/oauth2/token'
    const body = isToken ? { access_token: 'a-token', expires_in: 3_600 } : await open(incoming)
    outgoing.writeHead(200, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(body))
  }
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK, resolve)
  })
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    heldMs: (orderId) => held.get(orderId),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
