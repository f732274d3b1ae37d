// Node's HTTP server under a fetch handler, and its graceful end.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
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

/**
 * `port` 0: any free port. A connection on which nothing moves for `silenceMs` is cut. Rejects as
 * Node does when the port is taken.
 */
export async function serveNode(
  handle: (request: Request) => Response | Promise<Response>,
  { hostname, port, silenceMs }: { hostname: string; port: number; silenceMs: number },
): Promise<NodeServer> {
  let isClosing = false
  const answerOne = (request: Request, bindings: object) => {
    const { incoming, outgoing } = bindings as HttpBindings
    return outgoing.shouldKeepAlive ? handle(request) : lastAnswer(incoming, handle(request))
  }
  const answer = getRequestListener(answerOne, {
    // The global Request and Response belong to the host application too.
    overrideGlobalObjects: false,
    // Its own cleanup closes the connection 500 ms after a body that was refused, also when all of
    // it has come by then: the next request on that connection would get no answer.
    autoCleanupIncoming: false,
    errorHandler: () =>
      problemResponse(new Problem('invalid_request', 'The Host header names no host.')),
  })
  const takeTurn = turns()
  const server = createServer((incoming, outgoing) => {
    outgoing.once('close', () => {
      if (!incoming.readableEnded) discardRest(incoming)
      // A connection that is kept alive would keep the server from closing.
      if (isClosing) incoming.socket.end()
    })
    takeTurn(incoming.socket, outgoing, () => void answer(incoming, outgoing))
  })
  // Or what waits for a client that never reads it would stay in memory.
  server.timeout = silenceMs
  server.listen(port, hostname)
  await once(server, 'listening')
  return {
    url: urlOf(server.address() as AddressInfo),
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

/**
 * One request of a connection at a time: Node hands on all that a client has sent ahead, and each
 * would be worked on at once. Nothing more is read from the client while one waits.
 */
function turns() {
  const waiting = new WeakMap<Socket, (() => void)[]>()
  return (socket: Socket, outgoing: ServerResponse, begin: () => void): void => {
    outgoing.once('close', () => {
      const queue = waiting.get(socket)
      const next = socket.destroyed ? undefined : queue?.shift()
      if (!next) waiting.delete(socket)
      else if (queue?.length === 0) socket.resume()
      next?.()
    })
    const queue = waiting.get(socket)
    if (queue) {
      socket.pause()
      queue.push(begin)
      return
    }
    waiting.set(socket, [])
    begin()
  }
}

/**
 * Node closes the connection after the last answer. While the client still writes, that resets it,
 * and the answer is lost: so its end waits for that of the request.
 */
async function lastAnswer(
  incoming: IncomingMessage,
  answer: Response | Promise<Response>,
): Promise<Response> {
  const response = await answer
  if (incoming.complete || !response.body) return response
  const flush = async () => {
    discardRest(incoming)
    let length = 0
    incoming.on('data', (chunk: Uint8Array) => {
      length += chunk.length
      if (length > MAX_DISCARDED_BYTES) incoming.destroy()
    })
    await finished(incoming).catch(() => undefined)
  }
  return new Response(response.body.pipeThrough(new TransformStream({ flush })), response)
}

/** Twice the largest body that any route takes. */
const MAX_DISCARDED_BYTES = 16 << 20

/** A body that is not read would precede the next request of its connection. */
function discardRest(incoming: IncomingMessage): void {
  incoming.removeAllListeners('data')
  incoming.resume()
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
