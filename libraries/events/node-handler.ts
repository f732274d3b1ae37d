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
 * `receive` for Node and Express. It reads the body itself, since the signature is over its bytes:
 * a parser before it makes the answer a 500.
 *
 * @example
 * app.post('/events', toNodeHandler(handleEvents({ secrets, on })))
 */
export const toNodeHandler =
  (receive: EventReceiver) =>
  async (incoming: NodeRequest, outgoing: NodeResponse): Promise<void> => {
    const body = incoming[Symbol.asyncIterator]()
    // A server that does not wait for this handler would end with whatever it rejects.
    const answer = await toRequest(incoming, body).then(receive).catch(failed)
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
  const { method, readableDidRead: isRead } = incoming
  // Any method but POST is refused by its name alone, and a TRACE can be no Request at all.
  if (method !== 'POST') return new Request(ANY_URL)
  const headers = Object.entries(incoming.headers)
    // HTTP/2 has the method and the path among them, with a name that is none for a Request.
    .filter(([name]) => !name.startsWith(':'))
    .map(([name, value]): [string, string] => [name, String(value ?? '')])
  const init = { method, headers, body: isRead ? '' : streamOf(body), duplex: 'half' }
  const request = new Request(ANY_URL, init as RequestInit)
  if (isRead) await request.text()
  return request
}

function failed(error: unknown): Response {
  console.error('signalbox/events:', error)
  return new Response(null, { status: 500 })
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

/** A body whose answer is known: 64 of the largest events. Who sends more is no mistake. */
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
