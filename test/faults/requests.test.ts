// Hostile requests and hostile publishers, over real HTTP to workerd: each has a clear answer, and
// the edge goes on.

import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WIRE } from '../../worker/board/wire.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterAll(() => edge.close())

/** Sends a path unchanged: `fetch` would normalise it first. */
async function raw(path: string): Promise<{ status: number; body: string }> {
  const headers = { authorization: `Bearer ${await token({})}` }
  const sent = request(`${edge.origin}/`, { path, headers }).end()
  const [response] = await once(sent, 'response')
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += chunk
  return { status: response.statusCode, body }
}

describe('a request', () => {
  it('with an impossible path of a repository is 400 with a sentence, and never 500', async () => {
    const long = 'x'.repeat(10_000)
    for (const path of ['', '%00', 'a%00b', '%0a', long, '%F0%9F%98%80'.repeat(200)]) {
      for (const route of ['tasks', 'events', 'status', 'sessions/x']) {
        const { status, body } = await raw(`/api/${route}?path=${path}`)
        expect(status, `${route} ${path.slice(0, 20)}`).toBe(400)
        expect(JSON.parse(body)).toMatchObject({ code: 'invalid_path' })
      }
    }
  })

  it('for an unusual path or id finds nothing, and is never answered with 500', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A')])
    const path = encodeURIComponent(repo.path)
    const names = ['..', '%2e%2e%2f%2e%2e', '%00', '%', '%E0%A4%A', '__proto__', 'x'.repeat(10_000)]
    for (const name of names) {
      const routes = [`tasks/${name}`, `tasks/${name}/runs`, `sessions/${name}`, `${name}/tasks`]
      for (const route of routes) {
        const { status, body } = await raw(`/api/${route}?path=${path}`)
        expect([404, 400], `${route.slice(0, 40)}: ${body}`).toContain(status)
        expect(typeof JSON.parse(body).code).toBe('string')
      }
      if (name.includes('%0') || name.length > 512) continue
      expect((await raw(`/api/tasks?path=${name}`)).status, name).toBe(404)
    }
    for (const path of ['/../../etc/passwd', '//etc/passwd', '/api/../../x', '/%2e%2e/etc/passwd'])
      expect((await raw(path)).status, path).toBeGreaterThanOrEqual(400)
  })

  it('with an invalid Last-Event-ID starts over, and writes no line into the stream', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A')])
    for (const id of [
      'x',
      'a-1'.repeat(3_000),
      '-1',
      "1' OR 1=1",
      '😀',
      'e-99999999999999999999',
    ]) {
      const query = `/events?last_event_id=${encodeURIComponent(id)}`
      const stream = await repo.request(query)
      const reader = stream.body?.getReader()
      let text = ''
      while (!text.includes('data:')) {
        text += new TextDecoder().decode((await reader?.read())?.value)
      }
      await reader?.cancel()
      expect(text).toMatch(/\nid: [0-9a-f]{12}-1\ndata: \{"type":"tasks-changed"\}\n\n$/)
    }
  })
})

describe('a publisher', () => {
  const post = async (repo: Repo, route: 'sync' | 'changes', body: string) => {
    const response = await repo.request(`/${route}`, { method: 'POST', body })
    return { status: response.status, ...((await response.json()) as { code?: string }) }
  }

  it('can publish ids with NUL, line breaks, slashes or 1,024 characters, and read them', async () => {
    const repo = await publishedRepo(edge)
    const stream = await (await repo.stream()).joined()
    const ids = ['a\0b', 'a\r\nb', 'data: x\n\n', '../x', '/', 'a/b', '%', '__proto__', '😀', "'"]
    for (const [n, id] of [...ids, 'x'.repeat(1_024)].entries()) {
      await repo.changes({ upserts: [taskRecord(id)] })
      expect(await repo.json(`/tasks/${encodeURIComponent(id)}`)).toMatchObject({ id })
      await stream.until((s) => s.messages.length === n + 1)
      expect(stream.messages[n]).toEqual({ type: 'task-changed', id })
    }
    await stream.close()
  })

  it('that sends invalid data gets 400, and nothing of it is applied', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A')])
    const part = (more: object) => JSON.stringify({ ...repo.part({}), ...more })
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const bodies = [
      ['', 'nothing'],
      ['{', 'half'],
      ['null', 'null'],
      [deep, 'a deep list'],
      [part({ upserts: [taskRecord('x'.repeat(1_025))] }), 'a long id'],
      [part({ upserts: [taskRecord('\ud800')] }), 'half a character'],
      [part({ deletes: [`task:${'x'.repeat(1_025)}`] }), 'a long key'],
      [part({ deletes: ['other:A', 'A', 'task:'] }), 'no keys'],
      [part({ upserts: [{ ...taskRecord('B'), hash: 'zz' }] }), 'no hash'],
      [part({ batch: -1 }), 'a negative batch'],
      [part({ batch: 1e300 }), 'a huge batch'],
      [JSON.stringify({ wire: WIRE, step: 'guess' }), 'no step'],
    ] as const
    for (const [body, what] of bodies) {
      const codes = [await post(repo, 'changes', body), await post(repo, 'sync', body)]
      for (const code of codes)
        expect(code, what).toMatchObject({ status: 400, code: 'invalid_request' })
    }
    expect(await repo.json('/tasks')).toMatchObject({ tasks: [{ id: 'A' }] })
    await repo.changes({ upserts: [taskRecord('A')] })
  })

  it('that announces 9 MiB gets 413 before it has sent a byte of them', async () => {
    const repo = await publishedRepo(edge)
    const sent = request(`${edge.origin}/api/changes?path=${encodeURIComponent(repo.path)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await token({})}`, 'content-length': 9 << 20 },
    })
    sent.flushHeaders()
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(413)
    sent.on('error', () => undefined).destroy()
  })
})

/** A client that opens the stream and never reads a byte of it. */
async function deafClient(repo: Repo): Promise<Socket> {
  const { hostname, port } = new URL(edge.origin)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => socket.destroy())
  await once(socket, 'connect')
  const bearer = await token({ repos: [repo.path] })
  socket.pause()
  socket.write(
    `GET /api/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${bearer}\r\n\r\n`,
  )
  return socket
}

// Each change waits for the one before.
it('ten clients that read nothing delay no other, and are disconnected', {
  timeout: 400_000,
}, async () => {
  const repo = await publishedRepo(edge, [taskRecord('A')])
  const deaf = await Promise.all(Array.from({ length: 10 }, () => deafClient(repo)))
  const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
  await expect.poll(streams, PATIENT).toBe(10)
  const stream = await (await repo.stream()).joined()
  // Each of these makes a message of 6 KB, until there are more than the system's own buffers between
  // two sockets take: with 9 MB there are.
  const ids = Array.from({ length: 50 }, (_, n) => `${n}-`.padEnd(1_000, '\x01'))
  let sent = 0
  while (sent < 1_500 && (await streams()) > 1) {
    for (const id of ids) await repo.changes({ upserts: [taskRecord(id)] })
    sent += ids.length
  }
  await stream.until((s) => s.messages.length === sent)
  await expect.poll(streams, PATIENT).toBe(1)
  await stream.close()
  for (const socket of deaf) socket.destroy()
  await expect.poll(streams, PATIENT).toBe(0)
})
