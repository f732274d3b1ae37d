// The endpoint for Node's own HTTP server, and for frameworks such as Express.

import type { EventReceiver } from './handle-events.ts'

/** What is used of `http.IncomingMessage`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Somebody has read of its body. */
  readableDidRead: boolean
}

/** What is used of `http.ServerResponse`. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

/**
 * `receive` for Node and Express: `app.post('/events', toNodeHandler(receive))`. It reads the body
 * itself, since the signature is over its bytes; a parser before it makes the answer a 500.
 */
export const toNodeHandler =
  (receive: EventReceiver) =>
  async (incoming: NodeRequest, outgoing: NodeResponse): Promise<void> => {
    const answer = await receive(await toRequest(incoming))
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
    outgoing.end(await answer.text())
  }

async function toRequest(incoming: NodeRequest): Promise<Request> {
  const { method = 'POST', readableDidRead: isRead } = incoming
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
    name,
    String(value ?? ''),
  ])
  if (method === 'GET' || method === 'HEAD') return new Request(ANY_URL, { method, headers })
  const init = { method, headers, body: isRead ? '' : streamOf(incoming), duplex: 'half' }
  const request = new Request(ANY_URL, init as RequestInit)
  if (isRead) await request.text()
  return request
}

/** Nothing is done by it. */
const ANY_URL = 'http://shop/events'

function streamOf(incoming: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await chunks.return?.()),
  })
}
