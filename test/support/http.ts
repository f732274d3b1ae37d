// HTTP without the product's client: a server, and a slow upload.

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveNode } from '../../worker/serve-node.ts'

const PIECE = new Uint8Array(64 << 10)

export interface Upload {
  /** Lines of the head, beside those that every request has. */
  head?: readonly string[]
  /** Between two pieces of 64 KiB. */
  pauseMs: number
  pieces: number
}

/**
 * Writes all of the body before it reads, as some clients do: a server that closes the connection
 * before that resets it, and the client loses its answer. Resolves with the line of the answer's
 * status, or with the error.
 */
export async function upload(url: string, { head = [], pauseMs, pieces }: Upload): Promise<string> {
  const { pathname, search, port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.setTimeout(60_000, () => socket.destroy(new Error('Nothing came for a minute.')))
  const failed = new Promise<string>((resolve) => {
    socket.once('error', (error) => resolve(String(error)))
    socket.once('close', () => resolve('closed'))
  })
  const written = async () => {
    const length = `Content-Length: ${pieces * PIECE.length}`
    const lines = [`POST ${pathname}${search} HTTP/1.1`, 'Host: shop', ...head, length]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    for (let sent = 0; sent < pieces; sent++) {
      await new Promise((resolve) => socket.write(PIECE, resolve))
      await sleep(pauseMs)
    }
    const [first] = await once(socket, 'data')
    return String(first).split('\r\n')[0] ?? ''
  }
  return Promise.race([failed, written()]).finally(() => socket.destroy())
}

export type Handler = (request: Request) => Response | Promise<Response>

export interface TestServer {
  url: string
  /** Cuts off what is under way. */
  close(): Promise<void>
}

/** A fetch handler on a free port of this machine, for gateways, shops and edges of tests. */
export async function serve(handle: Handler): Promise<TestServer> {
  const { url, close } = await serveNode(handle, { hostname: '127.0.0.1', port: 0, silenceMs: 0 })
  return { url, close: () => close(0) }
}
