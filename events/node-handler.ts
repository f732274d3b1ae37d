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
  write(body: string): unknown
  end(): unknown
}

/**
 * `receive` for Node and Express: `app.post('/events', toNodeHandler(receive))`. It reads the body
 * itself, since the signature is over its bytes; a parser before it makes the answer a 500.
 */
export const toNodeHandler =
  (receive: EventReceiver) =>
  async (incoming: NodeRequest, outgoing: NodeResponse): Promise<void> => {
    const body = incoming[Symbol.asyncIterator]()
    const answer = await receive(await toRequest(incoming, body))
    const text = await answer.text()
    const headers = Object.fromEntries(answer.headers)
    // With its length the answer is whole for the sender before the end of it.
    if (text !== '') headers['content-length'] = String(new TextEncoder().encode(text).length)
    outgoing.writeHead(answer.status, headers)
    if (text !== '') outgoing.write(text)
    await discardRest(body)
    outgoing.end()
  }

type Body = AsyncIterator<Uint8Array>

async function toRequest(incoming: NodeRequest, body: Body): Promise<Request> {
  const { method = 'POST', readableDidRead: isRead } = incoming
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
    name,
    String(value ?? ''),
  ])
  if (method === 'GET' || method === 'HEAD') return new Request(ANY_URL, { method, headers })
  const init = { method, headers, body: isRead ? '' : streamOf(body), duplex: 'half' }
  const request = new Request(ANY_URL, init as RequestInit)
  if (isRead) await request.text()
  return request
}

/** Nothing is done by it. */
const ANY_URL = 'http://shop/events'

/** Cancelled, it leaves the rest of the body to `discardRest`. */
const streamOf = (body: Body): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await body.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })

/** Of a body whose answer is known. 64 of the largest events: who sends more is no mistake. */
const MAX_DISCARDED_BYTES = 16 << 20

/**
 * Many senders read the answer only when all of their body is written. To close the connection
 * before that resets it, and the answer is lost. How long it may take is the server's
 * `requestTimeout`.
 */
async function discardRest(body: Body): Promise<void> {
  try {
    for (let length = 0; length <= MAX_DISCARDED_BYTES; ) {
      const { done, value } = await body.next()
      if (done) return
      length += value.byteLength
    }
    // Closes the connection.
    await body.return?.()
  } catch {
    // The sender has left.
  }
}
