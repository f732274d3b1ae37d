// A relay in front of an edge or a database that counts what comes: requests by what they ask for,
// and the frames of WebSockets.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LOOPBACK } from '../../system/ports.ts'

export interface CountingRelay {
  url: string
  /** Since the start, by method and path. An upgrade counts as its GET. */
  requests(): ReadonlyMap<string, number>
  /** Sent to what is behind it. */
  frames(): number
  close(): Promise<void>
}

export async function startCountingRelay(port: number): Promise<CountingRelay> {
  const requests = new Map<string, number>()
  let frames = 0
  const sockets = new Set<Duplex>()
  const count = ({ method = 'GET', url = '/' }: IncomingMessage) => {
    const asked = `${method} ${url.split('?')[0]}`
    requests.set(asked, (requests.get(asked) ?? 0) + 1)
  }
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    count(incoming)
    const { url = '/', method = 'GET', headers } = incoming
    const forwarded = request({ host: LOOPBACK, port, path: url, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  }
  const upgrade = (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    count(incoming)
    const { method, url, rawHeaders } = incoming
    const lines = Array.from({ length: rawHeaders.length / 2 }, (_, n) =>
      [rawHeaders[2 * n], rawHeaders[2 * n + 1]].join(': '),
    )
    const edge: Socket = connect(port, LOOPBACK, () => {
      edge.write(`${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
      edge.write(head)
      client.pipe(edge).pipe(client)
    })
    // A ping is one small frame, and nothing else is sent: each write is one.
    client.on('data', () => frames++)
    for (const [one, other] of [[client, edge] as const, [edge, client] as const]) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }
  const server = createServer(pass).on('upgrade', upgrade)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK, resolve)
  })
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    requests: () => new Map(requests),
    frames: () => frames,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await closed
    },
  }
}
