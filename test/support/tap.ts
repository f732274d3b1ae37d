// A proxy in front of an HTTP server. It records requests, and can hold or cut them.

import { serve, type TestServer } from './http.ts'

/** A request that was forwarded or held. */
interface Passed {
  method: string
  path: string
  headers: Headers
  body: string
}

/** Records requests, and holds them back on demand. */
export class Tap {
  readonly seen: (Passed & { isHeld: boolean })[] = []
  /** Held requests do not reach the server, and are never answered. */
  holds: (passed: Passed) => boolean = () => false
  /** The server executes the request, but the response is lost. */
  loses: (passed: Passed) => boolean = () => false
  readonly #target: string
  #server: TestServer | undefined

  private constructor(target: string) {
    this.#target = new URL(target).origin
  }

  static async before(target: string): Promise<Tap> {
    const tap = new Tap(target)
    tap.#server = await serve((request) => tap.#pass(request))
    return tap
  }

  get url(): string {
    return this.#server?.url ?? ''
  }

  async close(): Promise<void> {
    await this.#server?.close()
  }

  async #pass(request: Request): Promise<Response> {
    const { method } = request
    const { pathname: path, search } = new URL(request.url)
    const headers = new Headers(request.headers)
    for (const name of HOP_BY_HOP) headers.delete(name)
    const body = await request.text()
    const passed = { method, path, headers, body }
    const isHeld = this.holds(passed)
    this.seen.push({ ...passed, isHeld })
    if (isHeld) return await new Promise<never>(() => undefined)
    const sent = { method, headers, ...(body !== '' && { body }) }
    const answer = await fetch(`${this.#target}${path}${search}`, { ...sent, redirect: 'manual' })
    if (this.loses(passed)) return new Response('lost', { status: 502 })
    const type = answer.headers.get('content-type')
    const text = await answer.text()
    // Response() throws for such a status with a body.
    return new Response(text === '' ? null : text, {
      status: answer.status,
      headers: type === null ? {} : { 'content-type': type },
    })
  }
}

const HOP_BY_HOP = ['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']
