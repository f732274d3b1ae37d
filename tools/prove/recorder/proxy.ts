// A proxy before an HTTP server. On request it cuts, delays or tears what passes, or holds a
// request back until its caller has given up.

import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { loopbackUrl } from '../../../system/local/ports.ts'
import { listen } from '../../harness/free-port.ts'

interface Conditions {
  /** Every connection is refused, and the open ones are broken. */
  isCut?: boolean
  /** Each request arrives so much later. */
  delayMs?: number
  /** Half of each answer comes, and then nothing. */
  tears?: boolean
  /** Each request is carried out, and its connection ends without an answer. */
  loses?: boolean
}

export interface Passed {
  url: string
  /** The request's. */
  body: string
  /** Sends another body in its place, and with its headers; returns the answer. */
  send(body: string): Promise<string>
}

export interface Answered {
  passed: Passed
  /** 0: there was no answer. */
  status: number
  answer: string
  /** As its caller had to wait. */
  tookMs: number
}

export class FaultyProxy {
  conditions: Conditions = {}
  /** The request goes on with this body; its caller may be gone by then. */
  hold: (passed: Passed) => Promise<string> | undefined = () => undefined
  /** Called for each request, when it was answered or failed. */
  onAnswer: (answered: Answered) => void = () => undefined
  /**
   * So long a request goes on when its caller has given up: a server that was stopped reads it once
   * it is there again. Longer than any fault lasts, and than an answer takes after it.
   */
  lateMs = 60_000
  /** URLs of servers; the requests go to them in turn. */
  targets: readonly string[]
  url = ''
  /** Requests that are not over. */
  inFlight = 0
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server = createServer((incoming, outgoing) => {
    this.inFlight++
    this.#pass(incoming, outgoing)
      .catch(() => outgoing.destroy())
      .finally(() => this.inFlight--)
  })
  #turn = 0

  private constructor(target: string) {
    this.targets = [target]
  }

  static async before(port: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(loopbackUrl(port))
    proxy.url = await listen(proxy.#server)
    return proxy
  }

  cut(): void {
    this.conditions = { isCut: true }
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  close(): void {
    this.#server.close()
    this.cut()
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const startedAt = performance.now()
    const end = this.#endOf(outgoing)
    const bytes = await buffer(incoming)
    if (this.conditions.isCut) throw new Error('cut')
    const passed: Passed = {
      url: incoming.url ?? '/',
      body: bytes.toString(),
      send: async (body) => (await this.#ask(incoming, Buffer.from(body))).body.toString(),
    }
    const held = await this.hold(passed)
    if (this.conditions.delayMs) await sleep(this.conditions.delayMs)
    const answered = (status: number, answer: string) =>
      this.onAnswer({ passed, status, answer, tookMs: performance.now() - startedAt })
    // What was held lands for nobody, however late.
    const [sent, until] = held === undefined ? [bytes, end] : [Buffer.from(held), undefined]
    const answer = await this.#ask(incoming, sent, until).catch((error: unknown) => {
      answered(0, String(error))
      throw error
    })
    answered(answer.status, answer.body.toString())
    const { isCut, loses, tears } = this.conditions
    if (isCut || loses) throw new Error('cut')
    outgoing.writeHead(answer.status, answer.headers)
    if (!tears) outgoing.end(answer.body)
    else {
      const half = answer.body.subarray(0, Math.floor(answer.body.length / 2))
      outgoing.write(half, () => outgoing.destroy())
    }
  }

  #ask(
    { url, method, headers }: IncomingMessage,
    body: Buffer,
    signal?: AbortSignal,
  ): Promise<{ status: number; headers: OutgoingHttpHeaders; body: Buffer }> {
    const target = new URL(this.targets[this.#turn++ % this.targets.length] ?? '')
    const { hostname: host, port } = target
    // The answer is recorded, so it must not be compressed.
    const plain = { host: target.host, 'accept-encoding': 'identity' }
    const sent = { ...headers, ...plain, 'content-length': String(body.length) }
    const of = { host, port, path: url, method, headers: sent, agent: this.#agent }
    return new Promise((resolve, reject) => {
      const asked = request({ ...of, ...(signal && { signal }) }, (answer) => {
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

  /** Aborted some time after the caller has closed its connection before it had the answer. */
  #endOf(outgoing: ServerResponse): AbortSignal {
    const over = new AbortController()
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) setTimeout(() => over.abort(), this.lateMs).unref()
    })
    return over.signal
  }
}
