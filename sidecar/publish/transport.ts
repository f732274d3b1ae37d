// How a message gets to the edge: over a kept connection, or as a call where the edge is in this
// process. And the socket that stays open.

import * as http from 'node:http'
import * as https from 'node:https'
import { edgeHeaders } from '../../worker/shared/outgoing.ts'
import type { EdgeSocket, SocketEvents } from './edge.ts'

export interface Answer {
  status: number
  /** The two that matter, in lower case. */
  headers: { date?: string | undefined; 'retry-after'?: string | undefined }
  text: string
}

type Method = 'GET' | 'POST' | 'PUT'

export interface Transport {
  /** Rejects with a TimeoutError without an answer in time, else with why there can be none. */
  send(method: Method, target: URL, authorization: string, body?: Buffer): Promise<Answer>
  close(): void
}

const TIMEOUT_MS = 15_000
/** An answer is a list of keys at most. A larger one does not come from the edge. */
const MAX_ANSWER_BYTES = 32 << 20

const headersOf = (authorization: string, body: Buffer | undefined) => ({
  ...edgeHeaders(authorization, body !== undefined),
  ...(body && { 'content-length': String(body.length) }),
})

/** The boards of a process share connections: 250 that start take 15, and each is a handshake. */
const AGENTS = {
  http: new http.Agent({ keepAlive: true }),
  https: new https.Agent({ keepAlive: true }),
}

/** Where one of them is dead the others are, mostly: the machine slept, or the edge is another. */
function dropIdle({ freeSockets }: http.Agent): void {
  for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
}

/**
 * Not fetch: it closes a connection after 4 s of quiet unless the server says otherwise, so almost
 * every save would pay for a new TCP and TLS handshake, several round trips to a far edge; and a
 * call through it takes twice as long (0.58 ms against 0.26 ms on one machine).
 */
export function socketTransport({ protocol }: URL, timeoutMs = TIMEOUT_MS): Transport {
  const { request } = protocol === 'https:' ? https : http
  const agent = protocol === 'https:' ? AGENTS.https : AGENTS.http
  const closed = new AbortController()

  const send = (
    method: Method,
    target: URL,
    authorization: string,
    body: Buffer | undefined,
    isFirst: boolean,
  ) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    return new Promise<Answer>((resolve, reject) => {
      const sent = request(target, {
        method,
        agent,
        signal: AbortSignal.any([timeout, closed.signal]),
        headers: headersOf(authorization, body),
      })
      const onError = (error: unknown): void => {
        if (!closed.signal.aborted) dropIdle(agent)
        if (timeout.aborted) reject(timeout.reason)
        // The edge closed a kept connection just as this was written to it. That is no outage, and
        // a repeat is harmless: the edge applies each (run, batch) once.
        else if (isFirst && sent.reusedSocket && !closed.signal.aborted)
          resolve(send(method, target, authorization, body, false))
        else reject(error)
      }
      sent.on('response', (response) => void whole(response).then(resolve, onError))
      sent.on('error', onError)
      // Without a listener Node ends the request, and says nothing to anybody.
      sent.on('upgrade', (_answer, socket) => {
        socket.destroy()
        onError(new Error('it speaks another protocol'))
      })
      sent.end(body)
    })
  }
  return {
    send: (method, target, authorization, body) => send(method, target, authorization, body, true),
    close: () => closed.abort(),
  }
}

function whole(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error('The answer never ends.'))
      else chunks.push(chunk)
    })
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
  })
}

/** A browser's takes no headers, Node's does. Why one was refused, it does not say. */
type WithHeaders = new (url: URL, options: { headers: Record<string, string> }) => WebSocket

export function dial(target: URL, authorization: string, on: SocketEvents): EdgeSocket {
  target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new (WebSocket as unknown as WithHeaders)(target, { headers: { authorization } })
  let isOver = false
  socket.addEventListener('open', () => !isOver && on.open())
  socket.addEventListener('message', ({ data }) => {
    if (!isOver && typeof data === 'string') on.text(data)
  })
  socket.addEventListener('close', () => {
    if (!isOver) on.closed()
    isOver = true
  })
  return {
    send: (text) => socket.send(text),
    close() {
      isOver = true
      socket.close()
    },
  }
}

/** The edge of this process, which cannot be away: no timeout, and nothing to close. */
export function callTransport(edge: (request: Request) => Promise<Response>): Transport {
  return {
    async send(method, target, authorization, body) {
      const headers = headersOf(authorization, body)
      const response = await edge(new Request(target, { method, headers, ...(body && { body }) }))
      const retryAfter = response.headers.get('retry-after') ?? undefined
      return {
        status: response.status,
        headers: { 'retry-after': retryAfter },
        text: await response.text(),
      }
    },
    close: () => undefined,
  }
}
