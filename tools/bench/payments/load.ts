// Requests over some connections at a time, on each the next one when the one before is answered.
// With node:net, since node:http would use much of the two cores, on which the systems under test
// run as well.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from '../../../system/local/ports.ts'

export interface Reply {
  status: number
  body: string
}

export interface Load<Request> {
  port: number
  /** At a time. */
  connections: number
  /** Undefined: no more. */
  next(): Request | undefined
  /** Its bytes. */
  bytes(request: Request): Buffer
  /** Undefined: there was no answer. */
  onEnd(request: Request, reply: Reply | undefined, tookMs: number): void
  /** Then every connection ends. */
  mostMs: number
}

/** A pause after a broken connection: without it each retry would fail at once. */
const AFTER_ERROR_MS = 20

export async function closedLoad<Request>(load: Load<Request>): Promise<void> {
  const { port, next, bytes, onEnd } = load
  const sockets = new Set<Socket>()
  const open = () => {
    const socket = connect({ host: LOOPBACK, port, noDelay: true }).setEncoding('latin1')
    // 'close' follows.
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    sockets.add(socket)
    return socket
  }
  const run = async () => {
    let socket = open()
    for (let request = next(); request !== undefined; request = next()) {
      if (socket.destroyed) socket = open()
      const startedAt = performance.now()
      const reply = await exchange(socket, bytes(request))
      onEnd(request, reply, performance.now() - startedAt)
      if (!reply) await sleep(AFTER_ERROR_MS)
    }
    socket.destroy()
  }
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, load.mostMs)
  await Promise.all(Array.from({ length: load.connections }, run))
  clearTimeout(timer)
}

/** Undefined where the connection breaks. */
function exchange(socket: Socket, request: Buffer): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    let received = ''
    const end = (reply?: Reply) => {
      socket.off('data', read).off('close', broken)
      resolve(reply)
    }
    const broken = () => end()
    const read = (text: string) => {
      received += text
      const reply = replyIn(received)
      if (reply) end(reply)
    }
    socket.on('data', read).once('close', broken)
    socket.write(request)
  })
}

const HEAD_END = '\r\n\r\n'

/** Undefined while it is incomplete. Throws without a Content-Length: all servers send it. */
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

/** `lines`: more of its head. */
export function postOf(path: string, body: string, lines: readonly string[] = []): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    ...lines,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}${HEAD_END}${body}`)
}
