// Node's HTTP server under a fetch handler, and its graceful end.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Problem, problemResponse } from './shared/problem.ts'
import { type ConnectionMetrics, Strangers } from './shared/strangers-node.ts'

export interface NodeServer {
  /** For this machine: of an address that means all of them, the loopback. */
  url: string
  /**
   * Takes no connections any more. Resolves when what is under way is answered; after `graceMs` the
   * rest is cut off.
   */
  close(graceMs: number): Promise<void>
}

export interface NodeServerOptions {
  hostname: string
  /** 0: any free port. */
  port: number
  /** A connection on which nothing moves for so long is cut. */
  silenceMs: number
  /** The most connections without a token. Absent: any number. */
  strangers?: { max: number; metrics?: ConnectionMetrics }
  /** For the head of a request, and for what is left of its body after the answer. */
  restMs?: number
}

/** As long as a client of ours may take for what it should not have sent. */
const REST_MS = 10_000

/**
 * `granted` is called when a request has shown its token. Rejects as Node does when the port is
 * taken.
 */
export async function serveNode(
  handle: (request: Request, granted: () => void) => Response | Promise<Response>,
  { hostname, port, silenceMs, strangers: share, restMs = REST_MS }: NodeServerOptions,
): Promise<NodeServer> {
  let isClosing = false
  const strangers = new Strangers(share?.max ?? Infinity, share?.metrics)
  const answerOne = (request: Request, bindings: object) => {
    const { incoming, outgoing } = bindings as HttpBindings
    const answer = handle(request, () => strangers.leaves(incoming.socket))
    return outgoing.shouldKeepAlive ? answer : lastAnswer(incoming, answer, restMs)
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
  const limits = { headersTimeout: restMs, connectionsCheckingInterval: restMs / 5 }
  const server = createServer(limits, (incoming, outgoing) => {
    const { socket } = incoming
    outgoing.once('close', () => {
      if (!incoming.readableEnded) discardRest(incoming)
      if (!incoming.complete)
        cutOff(incoming, restMs, () => share?.metrics?.cut.add({ reason: 'slow' }))
      // A connection that is kept alive would keep the server from closing.
      if (isClosing) socket.end()
      else if (!socket.destroyed) strangers.waits(socket)
    })
    takeTurn(socket, outgoing, () => {
      strangers.waits(socket, { incoming, outgoing })
      void answer(incoming, outgoing)
    })
  })
  server.on('connection', (socket: Socket) => {
    strangers.waits(socket)
    socket.once('close', () => strangers.leaves(socket))
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
  restMs: number,
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
    await finished(incoming, { signal: AbortSignal.timeout(restMs) }).catch(() => undefined)
  }
  return new Response(response.body.pipeThrough(new TransformStream({ flush })), response)
}

/** Twice the largest body that any route takes. */
const MAX_DISCARDED_BYTES = 16 << 20

/** The client has its answer, and the connection waits for the rest of what it sends. */
function cutOff(incoming: IncomingMessage, ms: number, onCut: () => void): void {
  const { socket } = incoming
  const timer = setTimeout(() => {
    if (incoming.complete || socket.destroyed) return
    onCut()
    socket.destroy()
  }, ms)
  socket.once('close', () => clearTimeout(timer))
  incoming.once('end', () => clearTimeout(timer))
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
