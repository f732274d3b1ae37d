// A connection that misbehaves when told to: it stands before an HTTP server, and cuts, delays or
// tears what passes, or holds a request back until nobody waits for it any more.

import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from '../../local/ports.ts'

export interface Weather {
  /** No connection comes through, and those that stand are broken. */
  isCut?: boolean
  /** Each request arrives so much later. */
  delayMs?: number
  /** Half of each answer comes, and then nothing. */
  tears?: boolean
}

export interface Passed {
  url: string
  /** Of the request. */
  body: string
}

export interface Answered {
  passed: Passed
  /** 0: there was no answer. */
  status: number
  answer: string
}

export class Link {
  weather: Weather = {}
  /** Resolves when the request may go on; its caller may be gone by then. */
  hold: (passed: Passed) => Promise<void> | undefined = () => undefined
  /** Told of each request that the server answered, or that it did not. */
  onAnswer: (answered: Answered) => void = () => undefined
  /** URLs of servers: each request goes to the next one. */
  targets: readonly string[]
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server = createServer((incoming, outgoing) => {
    this.#pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  #passing = 0
  #turn = 0

  private constructor(target: string) {
    this.targets = [target]
  }

  static async before(port: number): Promise<Link> {
    const link = new Link(`http://${LOOPBACK}:${port}`)
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject)
      link.#server.listen(0, LOOPBACK, resolve)
    })
    return link
  }

  get url(): string {
    return `http://${LOOPBACK}:${(this.#server.address() as AddressInfo).port}`
  }

  /** Requests that came and are not over. */
  get passing(): number {
    return this.#passing
  }

  cut(): void {
    this.weather = { isCut: true }
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    this.#agent.destroy()
    await closed
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.#passing++
    try {
      const bytes = await buffer(incoming)
      if (this.weather.isCut) throw new Error('cut')
      const passed = { url: incoming.url ?? '/', body: bytes.toString() }
      await this.hold(passed)
      if (this.weather.delayMs) await sleep(this.weather.delayMs)
      const answer = await this.#ask(incoming, bytes).catch((error: unknown) => {
        this.onAnswer({ passed, status: 0, answer: String(error) })
        throw error
      })
      this.onAnswer({ passed, status: answer.status, answer: answer.body.toString() })
      if (this.weather.isCut) throw new Error('cut')
      outgoing.writeHead(answer.status, answer.headers)
      if (!this.weather.tears) {
        outgoing.end(answer.body)
        return
      }
      outgoing.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)), () =>
        outgoing.destroy(),
      )
    } finally {
      this.#passing--
    }
  }

  #ask(
    { url, method, headers }: IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; headers: OutgoingHttpHeaders; body: Buffer }> {
    const target = new URL(this.targets[this.#turn++ % this.targets.length] ?? '')
    // What is answered can be read on its way.
    const plain = { host: target.host, 'accept-encoding': 'identity' }
    const sent = { ...headers, ...plain, 'content-length': String(body.length) }
    const { hostname: host, port } = target
    const onward = { host, port, path: url, method, headers: sent, agent: this.#agent }
    return new Promise((resolve, reject) => {
      const asked = request(onward, (answer) => {
        buffer(answer).then((read) => {
          const { 'transfer-encoding': _, ...kept } = answer.headers
          const known = { ...kept, 'content-length': String(read.length) }
          resolve({ status: answer.statusCode ?? 502, headers: known, body: read })
        }, reject)
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }
}
