// What the HTTP server of the Node host does with clients that leave, that do not read, and that
// send too much.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { type NodeServer, serveNode } from '../../worker/serve-node.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { connectionMetrics } from '../../worker/shared/strangers-node.ts'
import { upload } from '../support/http.ts'
import { PATIENT } from '../support/patience.ts'

const PLACE = { hostname: '127.0.0.1', port: 0, silenceMs: 60_000 }
const CHUNK = new Uint8Array(64 << 10)

let server: NodeServer
let handle: (request: Request) => Response | Promise<Response>
beforeEach(async () => {
  server = await serveNode((request) => handle(request), PLACE)
})
afterEach(() => server.close(0))

/** Sends a request by hand, and reads nothing. */
async function send(text: string, { url } = server): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
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

it('works on one request of a connection at a time, and answers all in their order', async () => {
  let underWay = 0
  let most = 0
  handle = async (request) => {
    most = Math.max(most, ++underWay)
    const body = `<${new URL(request.url).pathname}${await request.text()}>`
    await sleep(0)
    underWay--
    return new Response(body)
  }
  const paths = Array.from({ length: 1_000 }, (_, n) => `/${n}`)
  const posts = paths.map(
    (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n ok`,
  )
  const socket = await send(posts.join(''))
  let answers = ''
  socket.on('data', (data) => {
    answers += data
  })
  await expect.poll(() => answers, PATIENT).toContain('</999 ok>')
  expect(answers.match(/<.*?>/g)).toEqual(paths.map((path) => `<${path} ok>`))
  expect(most).toBe(1)
  socket.write(GET)
  await expect.poll(() => answers).toContain('</>')
  socket.destroy()
})

it('begins nothing that a client which left had sent ahead', async () => {
  const [asked, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begun: string[] = []
  handle = ({ url, signal }) => {
    begun.push(new URL(url).pathname)
    signal.addEventListener('abort', () => aborted.resolve())
    asked.resolve()
    return new Promise(() => undefined)
  }
  const socket = await send(`${GET}${GET.replace('/', '/second')}`)
  await asked.promise
  socket.destroy()
  await aborted.promise
  const later = new AbortController()
  const asking = fetch(server.url, { signal: later.signal }).catch(() => undefined)
  await expect.poll(() => begun).toEqual(['/', '/'])
  later.abort()
  await asking
})

it('cuts off a client that reads nothing of its answer', async () => {
  const left = Promise.withResolvers<string>()
  handle = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(CHUNK),
        cancel: () => left.resolve('cancelled'),
      }),
    )
  const strict = await serveNode((request) => handle(request), { ...PLACE, silenceMs: 100 })
  const socket = await send(GET, strict)
  expect(await left.promise).toBe('cancelled')
  socket.destroy()
  await strict.close(0)
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

it('answers a whole request while more strangers than their share send a byte now and then', async () => {
  const metrics = connectionMetrics(new Metrics())
  const strangers = { max: 8, metrics }
  const own = await serveNode(
    async (request, granted) => {
      if (request.headers.has('authorization')) granted()
      return new Response(await request.text())
    },
    { ...PLACE, strangers },
  )
  onTestFinished(() => own.close(0))
  const known = await send(
    'POST /known HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nContent-Length: 2\r\n\r\n1',
    own,
  )
  const slow: Socket[] = []
  for (let n = 0; n < 20; n++) {
    const head = n % 2 === 0 ? 'Content-Length: 9\r\n\r\n1' : 'X-Slow:'
    slow.push(await send(`POST / HTTP/1.1\r\nHost: a\r\n${head}`, own))
  }
  await expect.poll(() => slow.filter(({ closed }) => closed).length, PATIENT).toBe(12)
  const answer = await fetch(own.url, { method: 'POST', body: 'a webhook' })
  expect(await answer.text()).toBe('a webhook')
  let answered = ''
  known.on('data', (data) => {
    answered += data
  })
  known.write('2')
  await expect.poll(() => answered, PATIENT).toContain('12')
})

it('cuts off who sends the head of a request, or the rest of a refused body, too slowly', async () => {
  const own = await serveNode(() => new Response('refused', { status: 413 }), {
    ...PLACE,
    restMs: 200,
  })
  onTestFinished(() => own.close(0))
  const head = await send('GET / HTTP/1.1\r\nHost: a\r\nX-Slow:', own)
  const body = await send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1', own)
  const last = await send(
    'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9\r\n\r\n1',
    own,
  )
  for (const socket of [head, body, last]) {
    socket.on('error', () => undefined).resume()
    const drip = setInterval(() => socket.write(' '), 20)
    onTestFinished(() => clearInterval(drip))
  }
  await expect.poll(() => [head, body, last].every(({ closed }) => closed), PATIENT).toBe(true)
})
