// A proxy between the edge and the database that counts requests.

import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LOOPBACK } from '../../../system/ports.ts'

export interface CountingProxy {
  url: string
  /** The number of batches and statements so far: one round trip each. */
  roundTrips(): number
  close(): Promise<void>
}

export async function startCountingProxy(port: number): Promise<CountingProxy> {
  const agent = new Agent({ keepAlive: true })
  let roundTrips = 0
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { url = '/', method = 'GET', headers } = incoming
    if (method === 'POST') roundTrips++
    const onward = { host: LOOPBACK, port, path: url, method, headers, agent }
    const forwarded = request(onward, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  }
  const server = createServer(pass)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK, resolve)
  })
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    roundTrips: () => roundTrips,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}
