// A typical client: one event stream, and a read after each event. With node:http, since `fetch`
// would add to the measured time.

import * as http from 'node:http'
import { text } from 'node:stream/consumers'
import type { Target } from './target.ts'

export interface Message {
  type: 'task-changed' | 'tasks-changed' | 'session-changed'
  id?: string
}

/** The stream of a target. What is awaited rejects when it breaks. */
export class Messages {
  readonly #request: http.ClientRequest
  readonly #ended = Promise.withResolvers<never>()
  #onMessage: (message: Message, at: number) => void = () => undefined
  #isClosed = false

  private constructor(target: Target, opened: () => void) {
    this.#ended.promise.catch(() => undefined)
    const fail = (why: string) => {
      if (!this.#isClosed) this.#ended.reject(new Error(`The stream of ${target.system}: ${why}`))
    }
    const headers = { ...target.headers, accept: 'text/event-stream' }
    this.#request = http.get(target.url('/api/events'), { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return fail(`it answered ${response.statusCode}`)
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        const at = performance.now()
        const blocks = (rest + part).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const message = dataOf(block)
          if (message) this.#onMessage(message, at)
          else if (block.startsWith(': connected')) opened()
        }
      })
      response.on('error', (error) => fail(error.message))
      response.on('end', () => fail('it ended'))
    })
    this.#request.on('error', (error) => fail(error.message))
  }

  static async open(target: Target): Promise<Messages> {
    const opened = Promise.withResolvers<void>()
    const messages = new Messages(target, opened.resolve)
    await Promise.race([opened.promise, messages.#ended.promise])
    return messages
  }

  /** When its bytes arrived (`performance.now`); undefined: there was none in time. */
  async next(
    waitMs: number,
    isMeant: (message: Message) => boolean = () => true,
  ): Promise<number | undefined> {
    const arrived = Promise.withResolvers<number | undefined>()
    this.#onMessage = (message, at) => {
      if (isMeant(message)) arrived.resolve(at)
    }
    const timer = setTimeout(() => arrived.resolve(undefined), waitMs)
    try {
      return await Promise.race([arrived.promise, this.#ended.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#request.destroy()
  }
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

/** `more`: headers. */
export async function read(
  target: Target,
  path: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const headers = { ...target.headers, ...more }
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(target.url(path), { headers, agent }, resolve).on('error', reject)
  })
  const { statusCode: status = 0, headers: sent } = response
  return { status, etag: sent.etag, text: await text(response) }
}
