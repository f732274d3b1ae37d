// What the HTTP server of the Node host does with clients that leave, that do not read, and that
// send too much.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type NodeServer, serveNode } from '../../worker/serve-node.ts'
import { upload } from '../support/upload.ts'

const CHUNK = new Uint8Array(64 << 10)

let server: NodeServer
let handle: (request: Request) => Response | Promise<Response>
beforeEach(async () => {
  const place = { hostname: '127.0.0.1', port: 0 }
  server = await serveNode((request) => handle(request), place)
})
afterEach(() => server.close(0))

/** Sends a request by hand, and reads nothing. */
async function send(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

it('asks a stream for no more than its client reads, and cancels it when that leaves', async () => {
  let produced = 0
  const left = Promise.withResolvers<string>()
  handle = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          produced++
          controller.enqueue(CHUNK)
        },
        cancel: () => left.resolve('cancelled'),
      }),
    )
  const socket = await send(GET)
  const grown = async () => {
    const before = produced
    await sleep(50)
    return produced - before
  }
  await expect.poll(() => produced).toBeGreaterThan(0)
  // Until the buffers of the system are full.
  await expect.poll(grown).toBe(0)
  socket.destroy()
  expect(await left.promise).toBe('cancelled')
})

it('aborts the signal of a request whose client leaves before the answer', async () => {
  const [asked, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  handle = ({ signal }) => {
    signal.addEventListener('abort', () => aborted.resolve('aborted'))
    asked.resolve()
    return new Promise(() => undefined)
  }
  const socket = await send(GET)
  await asked.promise
  socket.destroy()
  expect(await aborted.promise).toBe('aborted')
})

const LARGE = 'x'.repeat(262_145)
const BODIES = {
  length: `Content-Length: ${LARGE.length}\r\n\r\n${LARGE}`,
  chunks: `Transfer-Encoding: chunked\r\n\r\n${LARGE.length.toString(16)}\r\n${LARGE}\r\n0\r\n\r\n`,
}

it.each([
  ['unread', BODIES.length, false],
  ['read in part', BODIES.chunks, true],
])('refuses a large body %s, and goes on with its connection', async (_, body, reads) => {
  handle = async (request) => {
    if (reads) await request.body?.getReader().read()
    return new Response(request.method, { status: 413 })
  }
  const socket = await send(`POST / HTTP/1.1\r\nHost: a\r\n${body}`)
  let answers = ''
  socket.on('data', (data) => {
    answers += data
  })
  await expect.poll(() => answers).toContain('POST')
  // The library alone would close it after 500 ms.
  await sleep(700)
  socket.write(GET)
  await expect.poll(() => answers).toContain('GET')
  socket.destroy()
})

it.each([{ head: [] }, { head: ['Connection: close'] }])(
  'refuses 20 clients that write 1 MiB before they read: $head',
  async ({ head }) => {
    handle = () => new Response('No.', { status: 413 })
    const how = { head, pauseMs: 5, pieces: 16 }
    const answers = await Promise.all(Array.from({ length: 20 }, () => upload(server.url, how)))
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 413 Payload Too Large']))
  },
)

it('cuts off a client whose refused body has no end', async () => {
  handle = () => new Response('No.', { status: 413 })
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n'
  const socket = await send(`${head}Content-Length: 1000000000\r\n\r\n`)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined).resume()
  while (!socket.destroyed) {
    await Promise.race([new Promise((resolve) => socket.write(CHUNK, resolve)), closed])
  }
  expect(socket.bytesWritten).toBeLessThan(1_000_000_000)
})

it('brings a large body to its handler, and a large one back', async () => {
  const body = new Uint8Array(8 << 20).fill(7)
  handle = async (request) => new Response(await request.arrayBuffer())
  const answer = await fetch(server.url, { method: 'POST', body })
  expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), body)).toBe(0)
})

it('cuts off what is not answered in time when it closes', async () => {
  const asked = Promise.withResolvers<void>()
  handle = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  const answer = fetch(server.url)
  await asked.promise
  await Promise.all([server.close(1), expect(answer).rejects.toThrow()])
})

it('leaves the global Request and Response as they are', () => {
  expect([Request.name, Response.name]).toEqual(['Request', 'Response'])
  expect(Object.getPrototypeOf(Response)).toBe(Function.prototype)
})
