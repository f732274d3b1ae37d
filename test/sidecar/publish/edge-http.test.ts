import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EdgeHttp, type EdgeHttpOptions } from '../../../sidecar/publish/edge-http.ts'
import { WIRE } from '../../../worker/board/wire.ts'
import { boardReport, syncRoot } from '../../support/edge.ts'

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2VjcmV0'
const ROOT = syncRoot(null)
const ANSWER = { wire: WIRE, step: 'root', run: 1, epoch: 'e', match: true }
const CHANGED = { wire: WIRE, seq: 'e-1', message: null }

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void

let handle: Handle
let connections = 0
let server: ReturnType<typeof createServer>
const edges: EdgeHttp[] = []

beforeEach(async () => {
  connections = 0
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => handle(request, response, body))
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  for (const edge of edges.splice(0)) edge.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const port = (): number => (server.address() as AddressInfo).port

function open(options: Partial<EdgeHttpOptions> = {}): EdgeHttp {
  const url = new URL(`http://127.0.0.1:${port()}`)
  const token = () => Promise.resolve(TOKEN)
  const edge = new EdgeHttp({ url, repo: '/srv/my board', token, ...options })
  edges.push(edge)
  return edge
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handle =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

test('an answer in another protocol is a failure, and is not waited for', async () => {
  handle = (_, response) => {
    response.writeHead(101, { connection: 'upgrade', upgrade: 'other' })
    response.flushHeaders()
  }
  expect(await open().changes({})).toMatchObject({ ok: false, reason: 'network' })
})

test('a report is a PUT, and is not waited for by what is published', async () => {
  const seen: unknown[] = []
  const held: (() => void)[] = []
  handle = (request, response, body) => {
    seen.push(`${request.method} ${request.url}`)
    const isReport = request.method === 'PUT'
    if (isReport) held.push(() => answer(200, { wire: WIRE })(request, response, body))
    else answer(200, ANSWER)(request, response, body)
  }
  const edge = open()
  const { wire: _, ...report } = boardReport()
  const reported = edge.report(report)
  await expect.poll(() => held.length).toBe(1)
  expect(await edge.root(ROOT)).toEqual({ ok: true, value: ANSWER })
  held[0]?.()
  expect(await reported).toEqual({ ok: true, value: { wire: WIRE } })
  const path = 'path=%2Fsrv%2Fmy%20board'
  expect(seen).toEqual([`PUT /api/boards?${path}`, `POST /api/sync?${path}`])
})

test('a message is a POST to the route of its kind, with path and token, on one connection', async () => {
  const seen: unknown[] = []
  handle = (request, response, body) => {
    expect(request.headers['user-agent']).toBe('signalbox')
    seen.push([request.method, request.url, request.headers.authorization, JSON.parse(body)])
    answer(200, request.url?.includes('sync') ? ANSWER : CHANGED)(request, response, body)
  }
  const edge = open({ url: new URL(`http://127.0.0.1:${port()}/prefix`) })
  expect(await edge.root(ROOT)).toEqual({ ok: true, value: ANSWER })
  const change = { epoch: 'e', run: 1, batch: 1, upserts: [], deletes: [] }
  expect(await edge.changes(change)).toEqual({ ok: true, value: CHANGED })
  expect(seen).toEqual([
    [
      'POST',
      '/prefix/api/sync?path=%2Fsrv%2Fmy%20board',
      `Bearer ${TOKEN}`,
      { wire: WIRE, ...ROOT },
    ],
    [
      'POST',
      '/prefix/api/changes?path=%2Fsrv%2Fmy%20board',
      `Bearer ${TOKEN}`,
      { wire: WIRE, ...change },
    ],
  ])
  expect(connections).toBe(1)
})

test('the boards of a process share their connections', async () => {
  handle = answer(200, ANSWER)
  for (let n = 0; n < 250; n++) {
    expect(await open({ repo: `board-${n}` }).root(ROOT)).toMatchObject({ ok: true })
  }
  expect(connections).toBe(1)
  // What another one has under way is not broken off.
  const [one, other] = edges
  const held: (() => void)[] = []
  handle = (...request) => held.push(() => answer(200, ANSWER)(...request))
  const asked = other?.root(ROOT)
  await expect.poll(() => held.length).toBe(1)
  one?.close()
  held[0]?.()
  expect(await asked).toMatchObject({ ok: true })
})

test('a connection that is dead is found once, whatever else lies idle', async () => {
  const waiting: (() => void)[] = []
  handle = (...request) => waiting.push(() => answer(200, ANSWER)(...request))
  const boards = [1, 2, 3].map((n) => open({ repo: `board-${n}` }))
  const asked = boards.map((edge) => edge.root(ROOT))
  await expect.poll(() => waiting.length).toBe(3)
  for (const respond of waiting) respond()
  await Promise.all(asked)
  expect(connections).toBe(3)
  // As after the machine slept: nobody answers on those that are open.
  const dead = new Set<unknown>()
  handle = ({ socket }, ...rest) => {
    if (connections === 3) dead.add(socket)
    if (!dead.has(socket)) answer(200, ANSWER)({ socket } as IncomingMessage, ...rest)
  }
  const impatient = open({ timeoutMs: 100 })
  expect(await impatient.root(ROOT)).toMatchObject({ ok: false, reason: 'timeout' })
  expect(await open().root(ROOT)).toMatchObject({ ok: true })
  expect(connections).toBe(4)
})

describe('a failure is a value', () => {
  const cases = [
    [400, 'refused'],
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [404, 'refused'],
    [408, 'busy'],
    [409, 'conflict'],
    [413, 'too_large'],
    [429, 'busy'],
    [500, 'busy'],
    [503, 'busy'],
    [302, 'malformed'],
  ] as const
  test.each(cases)(
    '%i is %s, with the code and the sentence of the edge',
    async (status, reason) => {
      handle = answer(
        status,
        { error: 'It is so.', code: 'so' },
        { location: 'http://127.0.0.1:1/' },
      )
      expect(await open().root(ROOT)).toEqual({
        ok: false,
        reason,
        status,
        code: 'so',
        message: 'It is so.',
      })
    },
  )

  test.each(['<html>hotel wifi</html>', '{"hello":1}', ''])(
    'a page that is not the protocol is malformed: %j',
    async (page) => {
      handle = answer(200, page)
      expect(await open().root(ROOT)).toMatchObject({ ok: false, reason: 'malformed' })
    },
  )

  test('nobody listening is network', async () => {
    const edge = open({ url: new URL('http://127.0.0.1:1') })
    expect(await edge.root(ROOT)).toMatchObject({ ok: false, reason: 'network' })
  })

  test('an answer that breaks off is network', async () => {
    handle = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{')
      setTimeout(() => response.destroy(), 20)
    }
    expect(await open().root(ROOT)).toMatchObject({ ok: false, reason: 'network' })
  })

  test('no answer in time is timeout', async () => {
    handle = () => undefined
    const edge = open({ timeoutMs: 50 })
    expect(await edge.root(ROOT)).toMatchObject({ ok: false, reason: 'timeout' })
  })

  test('being closed while waiting is network, at once', async () => {
    handle = () => undefined
    const edge = open()
    const reply = edge.root(ROOT)
    setTimeout(() => edge.close(), 20)
    expect(await reply).toMatchObject({ ok: false, reason: 'network' })
  })

  test('the token does not stand in a message, even when the edge echoes it', async () => {
    handle = answer(401, { error: `Bad token ${TOKEN}`, code: 'bad' })
    expect(JSON.stringify(await open().root(ROOT))).not.toContain(TOKEN)
  })
})

describe('an edge of another version', () => {
  const speaks = (wire: number, upgrade: string) => ({
    ok: false,
    reason: 'version',
    code: 'wire_version',
    message: expect.stringMatching(
      `edge speaks version ${wire} .* the sidecar version ${WIRE}: upgrade the ${upgrade}\\.$`,
    ),
  })

  test('is known by its first answer, and which side must be upgraded is said', async () => {
    const { wire: _, ...first } = ANSWER
    handle = answer(200, first)
    expect(await open().root(ROOT)).toEqual(speaks(1, 'edge'))
    handle = answer(200, { ...ANSWER, wire: WIRE + 1 })
    expect(await open().root(ROOT)).toEqual(speaks(WIRE + 1, 'sidecar'))
  })

  test('that refuses ours is told of in its own sentence', async () => {
    const error = 'Upgrade the sidecar.'
    handle = answer(409, { error, code: 'wire_version' })
    expect(await open().root(ROOT)).toMatchObject({ reason: 'version', message: error })
  })

  test('is found by a probe, also the first one, which knows no probe', async () => {
    handle = answer(200, { wire: WIRE, step: 'probe' })
    expect(await open().probe()).toMatchObject({ ok: true })
    handle = answer(400, { error: 'The body is malformed at step.', code: 'invalid_request' })
    expect(await open().probe()).toEqual(speaks(1, 'edge'))
    handle = answer(400, { error: 'What is this?' })
    expect(await open().probe()).toMatchObject({ reason: 'refused' })
  })
})

test('Retry-After counts as seconds and as a date', async () => {
  handle = answer(503, {}, { 'retry-after': '7' })
  expect(await open().root(ROOT)).toMatchObject({ retryAfterMs: 7_000 })
  const inAnHour = new Date(Date.now() + 3_600_000)
  handle = answer(503, {}, { 'retry-after': inAnHour.toUTCString() })
  const reply = await open().root(ROOT)
  expect(reply.ok ? 0 : reply.retryAfterMs).toBeGreaterThan(3_500_000)
  handle = answer(503, {}, { 'retry-after': 'soon' })
  expect(await open().root(ROOT)).not.toHaveProperty('retryAfterMs')
})

test.each([401, 403])(
  'a token that was refused with %i is read again, one that works is not',
  async (status) => {
    const tokens = ['old', 'new', 'never']
    const seen: unknown[] = []
    handle = (request, response, body) => {
      const { authorization } = request.headers
      seen.push(authorization)
      const good = authorization === 'Bearer new'
      answer(good ? 200 : status, good ? ANSWER : { code: 'token_expired' })(
        request,
        response,
        body,
      )
    }
    const edge = open({ token: () => Promise.resolve(tokens.shift() ?? '') })
    expect(await edge.root(ROOT)).toMatchObject({ ok: false, reason: 'unauthorized' })
    expect(await edge.root(ROOT)).toMatchObject({ ok: true })
    expect(await edge.root(ROOT)).toMatchObject({ ok: true })
    expect(seen).toEqual(['Bearer old', 'Bearer new', 'Bearer new'])
  },
)

test('a kept connection that the edge closed is no failure', async () => {
  handle = (request, response, body) => answer(200, ANSWER)(request, response, body)
  const edge = open()
  expect(await edge.root(ROOT)).toMatchObject({ ok: true })
  let isFirst = true
  handle = (request, response, body) => {
    if (isFirst) request.socket.destroy()
    else answer(200, ANSWER)(request, response, body)
    isFirst = false
  }
  expect(await edge.root(ROOT)).toMatchObject({ ok: true })
  expect(connections).toBe(2)
})

test('the clock of the edge is told from its Date header', async () => {
  const ahead = 3_600_000
  handle = answer(200, ANSWER, { date: new Date(Date.now() + ahead).toUTCString() })
  const skews: number[] = []
  await open({ onSkew: (ms) => skews.push(ms) }).root(ROOT)
  expect(Math.abs((skews[0] ?? 0) - ahead)).toBeLessThan(60_000)
})

test('a token that cannot be read is said so, and nothing is sent', async () => {
  handle = () => undefined
  const edge = open({ token: () => Promise.reject(new Error('ENOENT: no such file')) })
  expect(await edge.root(ROOT)).toMatchObject({
    reason: 'unauthorized',
    message: 'The token could not be read: ENOENT: no such file',
  })
  expect(connections).toBe(0)
})

describe('a socket', () => {
  /** What happens to it. */
  async function dialled(edge: EdgeHttp): Promise<string[]> {
    handle = answer(200, { wire: WIRE, step: 'probe' })
    expect(await edge.probe()).toMatchObject({ ok: true })
    handle = answer(426, { error: 'No.', code: 'upgrade_required' })
    const events: string[] = []
    const closed = Promise.withResolvers<void>()
    edge.attach?.(1, {
      open: () => events.push('open'),
      text: (text) => events.push(text),
      closed: () => {
        events.push('closed')
        closed.resolve()
      },
    })
    await closed.promise
    return events
  }

  test('is closed, once, where a proxy drops the upgrade', async () => {
    expect(await dialled(open())).toEqual(['closed'])
  })

  test('is closed, once, where a proxy breaks the connection off', async () => {
    const seen: (string | undefined)[] = []
    server.on('upgrade', ({ url, headers }: IncomingMessage, socket) => {
      seen.push(url, headers.authorization)
      socket.destroy()
    })
    expect(await dialled(open())).toEqual(['closed'])
    expect(seen).toEqual(['/api/sidecar?path=%2Fsrv%2Fmy+board&run=1', `Bearer ${TOKEN}`])
  })

  test('has the last token, also after a request that was refused, and never none', async () => {
    const seen: (string | undefined)[] = []
    server.on('upgrade', ({ headers }: IncomingMessage, socket) => {
      seen.push(headers.authorization)
      socket.destroy()
    })
    const edge = open()
    handle = answer(403, { error: 'No.', code: 'forbidden' })
    expect(await edge.dueCommands()).toMatchObject({ ok: false, reason: 'unauthorized' })
    await new Promise<void>((closed) =>
      edge.attach?.(1, { open: () => undefined, text: () => undefined, closed }),
    )
    expect(seen).toEqual([`Bearer ${TOKEN}`])
  })
})
