// One HTTP/1.1 connection that sends whole requests as bytes. With node:net, since node:http would
// use much of the two cores, on which the systems under test run as well.

import { connect, type Socket } from 'node:net'
import { LOOPBACK } from '../../../system/ports.ts'

export interface Reply {
  status: number
  body: string
}

export class Connection {
  readonly #port: number
  #socket: Socket | undefined
  #pending: PromiseWithResolvers<Reply> | undefined
  #received = ''

  constructor(port: number) {
    this.#port = port
  }

  /** One request at a time. Rejects if the connection breaks; the next request opens a new one. */
  send(request: Buffer): Promise<Reply> {
    this.#pending = Promise.withResolvers()
    this.#received = ''
    this.#socket ??= this.#open()
    this.#socket.write(request)
    return this.#pending.promise
  }

  /** Rejects the pending request with `why`. */
  close(why: string): void {
    this.#fail(new Error(why))
  }

  #open(): Socket {
    const socket = connect({ host: LOOPBACK, port: this.#port, noDelay: true })
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      const reply = replyIn(this.#received)
      if (!reply) return
      const pending = this.#pending
      this.#pending = undefined
      pending?.resolve(reply)
    })
    const ended = (error: Error) => {
      if (socket === this.#socket) this.#fail(error)
    }
    socket.on('error', ended)
    socket.on('close', () => ended(new Error('the connection was closed')))
    return socket
  }

  #fail(error: Error): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#pending?.reject(error)
    this.#pending = undefined
  }
}

const HEAD_END = '\r\n\r\n'

/**
 * Undefined while the response is incomplete. Throws without a Content-Length: all servers send it.
 */
function replyIn(received: string): Reply | undefined {
  const headEnd = received.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = received.slice(0, headEnd)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length === undefined) throw new Error(`An answer without a length: ${head}`)
  const body = received.slice(headEnd + HEAD_END.length)
  if (body.length < Number(length)) return undefined
  return { status: Number(head.slice(9, 12)), body: body.slice(0, Number(length)) }
}
