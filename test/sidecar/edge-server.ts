// A real edge on a real port: the app in this process, behind node:http.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Edge } from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'

export interface EdgeServer {
  url: string
  edge: Edge
  /** What was posted so far, as route and step. */
  posts: string[]
  close(): Promise<void>
}

export async function serveEdge(edge: Edge = processEdge(), port = 0): Promise<EdgeServer> {
  const posts: string[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request).catch(() => undefined)
      // Whoever sent it ended in the middle of it.
      if (body === undefined) return
      const route = request.url ?? '/'
      posts.push(`${route.split('?')[0]} ${/"step":"(\w+)"/.exec(body)?.[1] ?? ''}`.trim())
      const answer = await edge.fetch(route, {
        method: request.method ?? 'GET',
        headers: { authorization: request.headers.authorization ?? '' },
        ...(body && { body }),
      })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}`,
    edge,
    posts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
