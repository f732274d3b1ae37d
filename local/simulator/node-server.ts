// A fetch handler on a port of 127.0.0.1, over node:http.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Handler = (request: Request) => Response | Promise<Response>

export interface NodeServer {
  url: string
  close(): Promise<void>
}

/** `port` 0: any free one. Rejects when it is taken. */
export async function serve(port: number, handle: Handler): Promise<NodeServer> {
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, handle).catch((error: unknown) => {
      // A client that hung up while it was still sending is no fault of ours.
      if (!incoming.destroyed || incoming.complete) console.error(error)
      if (!outgoing.headersSent) outgoing.writeHead(500)
      outgoing.end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
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
  const body = method === 'GET' || method === 'HEAD' ? undefined : await buffer(incoming)
  const request = new Request(new URL(url, `http://${headers.host ?? '127.0.0.1'}`), {
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
