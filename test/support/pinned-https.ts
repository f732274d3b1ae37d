// Requests by https that trust one certificate alone, as a phone does after its owner accepted it.

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

export interface PinnedRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
}

export type PinnedFetch = (path: string, init?: PinnedRequest) => Promise<Response>

/** `ca`: the certificate. The path is sent as it is; redirects are not followed. */
export function pinnedFetch(origin: string, ca: string): PinnedFetch {
  const { hostname, port } = new URL(origin)
  return (path, { body, ...init } = {}) =>
    new Promise((resolve, reject) => {
      // Or the name in a Host header of the test would have to be in the certificate.
      const place = { hostname, port, path, ca, servername: '', agent: false, ...init }
      const asked = request(place, (answer) => resolve(responseOf(answer)))
      asked.once('error', reject).end(body)
    })
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = answer
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  }
  const isEmpty = [204, 304].includes(status)
  const body = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>)
  if (isEmpty) answer.resume()
  return new Response(body, { status, headers, statusText: STATUS_CODES[status] ?? '' })
}
