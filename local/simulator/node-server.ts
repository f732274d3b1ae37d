// Serves a fetch handler on a port of 127.0.0.1 with node:http.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Handler = (request: Request) => Response | Promise<Response>

export interface NodeServer {
  url: string
  close(): Promise<void>
}

/** Far more than any request to a gateway needs. Any web page may send a body of any length. */
const BODY_BYTES = 1 << 20

/** `port` 0: any free port. Rejects if the port is in use. */
export async function serve(port: number, handle: Handler): Promise<NodeServer> {
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, handle).catch((error: unknown) => {
      // A client that closed the connection while sending is not an error of ours.
      if (!incoming.destroyed || incoming.complete) console.error(error)
      if (!outgoing.headersSent) outgoing.writeHead(500)
      outgoing.end()
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, handle: Handler) {
  const hungUp = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) hungUp.abort()
  })
  const { method = 'GET', url = '/', headers } = incoming
  const target = URL.parse(url, `http://${headers.host ?? '127.0.0.1'}`)
  if (!target) return refuse(outgoing, 400)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await bodyOf(incoming) : undefined
  if (hasBody && !body) return refuse(outgoing, 413)
  const request = new Request(target, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    signal: hungUp.signal,
    ...(body !== undefined && { body: new Uint8Array(body) }),
  })
  const response = await handle(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(response.body ? Buffer.from(await response.arrayBuffer()) : undefined)
}

function refuse(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { connection: 'close' }).end()
}

/** Undefined: the body is too long, and was not read to its end. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  // By default the connection would be destroyed here, before a response.
  for await (const chunk of incoming.iterator({
    destroyOnReturn: false,
  }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
