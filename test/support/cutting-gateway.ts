// A proxy before a gateway: it carries out the next request of an endpoint, and ends the connection
// without a whole answer. It counts what arrives.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const LATE_MS = 500

/** How the connection ends, once the gateway has carried the request out. */
export const CUTS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'a FIN': (socket) => socket.end(),
  'a RST': (socket) => socket.resetAndDestroy(),
  'a FIN after half a second': async (socket) => {
    await sleep(LATE_MS)
    socket.end()
  },
  'half a header': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'headers without their body': (socket) => {
    const type = 'Content-Type: application/json'
    socket.end(`HTTP/1.1 200 OK\r\n${type}\r\nContent-Length: 200\r\n\r\n`)
  },
}

interface Arrived {
  /** Whether its connection had brought a request before. */
  isKept: boolean
  /** Undefined: its length is not known beforehand. */
  length: string | undefined
}

export class CuttingGateway {
  /** Where the requests go. */
  target = ''
  /** Whether connections are kept after an answer. */
  keeps = true
  #cut: { path: RegExp; end: (socket: Socket) => unknown; arrived: Arrived[] } | undefined
  readonly #used = new WeakSet<Socket>()
  // A connection that is kept is kept for as long as a busy machine needs.
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    this.#pass(incoming, outgoing).catch(() => outgoing.destroy())
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /**
   * The first POST to such a path is carried out and cut; later ones are answered. Returns all that
   * arrive from now on.
   */
  cutNext(path: RegExp, cut: string): readonly Arrived[] {
    const arrived: Arrived[] = []
    this.#cut = { path, end: CUTS[cut] ?? (() => undefined), arrived }
    return arrived
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', socket, headers } = incoming
    const isKept = this.#used.has(socket)
    this.#used.add(socket)
    const cut = method === 'POST' && this.#cut?.path.test(url) ? this.#cut : undefined
    cut?.arrived.push({ isKept, length: headers['content-length'] })
    const isCut = cut?.arrived.length === 1
    const body = await text(incoming)
    const { authorization = '', 'content-type': type = '' } = headers
    const sent = { authorization, 'content-type': type }
    const answer = await fetch(`${this.target}${url}`, {
      method,
      headers: sent,
      ...(body !== '' && { body }),
    })
    const bytes = await answer.bytes()
    if (cut && isCut) {
      await cut.end(socket)
      return
    }
    const { keeps } = this
    outgoing.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
      ...(!keeps && { connection: 'close' }),
    })
    outgoing.end(bytes)
  }
}
