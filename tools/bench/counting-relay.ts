// A relay in front of an edge or a database that counts what comes: requests by their method, and
// the frames of WebSockets.

import { connect, createServer, type Socket } from 'node:net'
import { LOOPBACK } from '../../system/local/ports.ts'
import { listen } from '../harness/free-port.ts'

export interface CountingRelay extends Disposable {
  url: string
  /** Since the start. An upgrade counts as a GET, and a frame to what is behind it as a `frame`. */
  counts(): Readonly<Record<string, number>>
}

/** A client writes the head of a request in one piece, which begins with this. */
const REQUEST = /^([A-Z]+) [^ ]+ HTTP\/1\.1\r\n/

export async function startCountingRelay(port: number): Promise<CountingRelay> {
  const counts: Record<string, number> = {}
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const behind = connect(port, LOOPBACK)
    let isUpgraded = false
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1')
      // A ping is one small frame, and nothing else is sent: each write is one.
      const what = isUpgraded ? 'frame' : REQUEST.exec(text)?.[1]
      if (what) counts[what] = (counts[what] ?? 0) + 1
      isUpgraded ||= /\r\nupgrade: websocket\r\n/i.test(text)
    })
    client.pipe(behind).pipe(client)
    for (const [one, other] of [[client, behind] as const, [behind, client] as const]) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  return {
    url: await listen(server),
    counts: () => ({ ...counts }),
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
