// A typical client: one event stream, and a read after each event. With node:http, since `fetch`
// would add to the measured time.

import * as http from 'node:http'
import type { Target } from './target.ts'

export interface Message {
  type: 'task-changed' | 'tasks-changed' | 'session-changed'
  id?: string
}

export interface Events {
  close(): void
}

/** What is needed to read from a target. */
export type Streaming = Pick<Target, 'system' | 'url' | 'headers'>

/**
 * `at`: when the bytes arrived (`performance.now`, ms). `onEnd`: the stream ended without `close`.
 */
export function openEvents(
  target: Streaming,
  onMessage: (message: Message, at: number) => void,
  onEnd: (why: string) => void,
): Promise<Events> {
  const { promise, resolve, reject } = Promise.withResolvers<Events>()
  let isClosed = false
  const ended = (why: string) => {
    reject(new Error(`The stream of ${target.system} did not open: ${why}`))
    if (!isClosed) onEnd(why)
  }
  const headers = { ...target.headers, accept: 'text/event-stream' }
  const request = http.get(target.url('/api/events'), { headers, agent: false }, (response) => {
    if (response.statusCode !== 200) return ended(`it answered ${response.statusCode}`)
    let rest = ''
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      const at = performance.now()
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const message = dataOf(block)
        if (message) onMessage(message, at)
        else if (block.startsWith(': connected')) resolve({ close })
      }
    })
    response.on('error', (error) => ended(error.message))
    response.on('end', () => ended('it ended'))
  })
  request.on('error', (error) => ended(error.message))
  const close = () => {
    isClosed = true
    request.destroy()
  }
  return promise
}

/** The message of one block; undefined for a comment, `retry` or an id alone. */
function dataOf(block: string): Message | undefined {
  const line = block.split('\n').find((it) => it.startsWith('data:'))
  return line && JSON.parse(line.slice(5))
}

export interface Answer {
  status: number
  etag: string | undefined
  text: string
}

const agent = new http.Agent({ keepAlive: true })

export function read(target: Target, path: string, etag?: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const headers = { ...target.headers, ...(etag && { 'if-none-match': etag }) }
  const request = http.get(target.url(path), { headers, agent }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: response.statusCode ?? 0, etag: response.headers.etag, text })
    })
  })
  request.on('error', reject)
  return promise
}
