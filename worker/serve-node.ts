// Node's HTTP server under a fetch handler, and its graceful end.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { listen } from './shared/listen-node.ts'
import { Problem, problemResponse } from './shared/problem.ts'

export interface NodeServer {
  /** For this machine: of an address that means all of them, the loopback. */
  url: string
  /**
   * Takes no connections any more. Resolves when what is under way is answered; after `graceMs` the
   * rest is cut off.
   */
  close(graceMs: number): Promise<void>
}

/** `port` 0: any free port. Rejects as Node does when the port is taken. */
export async function serveNode(
  handle: (request: Request) => Response | Promise<Response>,
  { hostname, port }: { hostname: string; port: number },
): Promise<NodeServer> {
  let isClosing = false
  const answer = getRequestListener(handle, {
    // The global Request and Response belong to the host application too.
    overrideGlobalObjects: false,
    // Its own cleanup closes the connection 500 ms after a body that was refused, also when all of
    // it has come by then: the next request on that connection would get no answer.
    autoCleanupIncoming: false,
    errorHandler: () =>
      problemResponse(new Problem('invalid_request', 'The Host header names no host.')),
  })
  const server = createServer((incoming, outgoing) => {
    outgoing.once('close', () => {
      if (!incoming.readableEnded) discardRest(incoming)
      // A connection that is kept alive would keep the server from closing.
      if (isClosing) incoming.socket.end()
    })
    void answer(incoming, outgoing)
  })
  const { address } = await listen(server, { hostname, port })
  return {
    url: urlOf(address),
    close: (graceMs) =>
      new Promise((resolve) => {
        isClosing = true
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
      }),
  }
}

/** A body that is not read would precede the next request of its connection. */
function discardRest(incoming: IncomingMessage): void {
  incoming.removeAllListeners('data')
  incoming.resume()
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
