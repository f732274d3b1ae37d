// A relay in front of an edge or a database that counts what comes: requests by what they ask for,
// and the frames of WebSockets.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { LOOPBACK } from '../../system/ports.ts'

export interface CountingRelay {
  url: string
  /** Since the start, by method and path. An upgrade counts as its GET. */
  requests(): ReadonlyMap<string, number>
  /** Sent to what is behind it. */
  frames(): number
  close(): Promise<void>
}

/** A client writes the head of a request in one piece, which begins with this. */
const REQUEST = /^([A-Z]+) ([^ ?]+)[^ ]* HTTP\/1\.1\r\n/

export async function startCountingRelay(port: number): Promise<CountingRelay> {
  const requests = new Map<string, number>()
  let frames = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const behind = connect(port, LOOPBACK)
    let isUpgraded = false
    client.on('data', (bytes) => {
      const [, method, path] = REQUEST.exec(bytes.toString('latin1')) ?? []
      const asked = `${method} ${path}`
      // A ping is one small frame, and nothing else is sent: each write is one.
      if (isUpgraded) frames++
      else if (method) requests.set(asked, (requests.get(asked) ?? 0) + 1)
      isUpgraded ||= /\r\nupgrade: websocket\r\n/i.test(bytes.toString('latin1'))
    })
    client.pipe(behind).pipe(client)
    for (const [one, other] of [[client, behind] as const, [behind, client] as const]) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
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
      await closed
    },
  }
}
