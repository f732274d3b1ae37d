import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { booksAtEdge } from '../../cli/payments/books-at-edge.ts'
import { askEdge, type EdgeAddress } from '../../cli/request.ts'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

/** What listens may be anything: it gets the head of each request, and answers bytes. */
async function edgeThat(answer: (socket: Socket, head: string) => unknown): Promise<EdgeAddress> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (head) => answer(socket, String(head)))
  })
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret' }
}

const JSON_ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}'
const BROKEN_LINES = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"a":1}\n\r\n'

it('does not follow a redirect, which would carry the token elsewhere', async () => {
  const seen: string[] = []
  const elsewhere = await edgeThat((socket, head) => {
    seen.push(head)
    socket.end(JSON_ANSWER)
  })
  const edge = await edgeThat((socket) =>
    socket.end(
      `HTTP/1.1 307 Over There\r\nLocation: ${elsewhere.url}/\r\nContent-Length: 0\r\n\r\n`,
    ),
  )
  await expect(askEdge(edge, '/claims', { body: {} })).rejects.toMatchObject({ status: 307 })
  expect(seen).toEqual([])
})

it('opens a connection of its own where the answer keeps that of before', async () => {
  const heads: string[] = []
  const connections = new Set<Socket>()
  const edge = await edgeThat((socket, head) => {
    connections.add(socket)
    heads.push(head)
    socket.write(JSON_ANSWER)
  })
  expect(await askEdge(edge, '/status')).toEqual({ a: 1 })
  expect(await askEdge(edge, '/status', { body: {} })).toEqual({ a: 1 })
  expect(connections.size).toBe(2)
  expect(heads[0]).toContain('\r\nConnection: close\r\n')
})

it('gives its name, which firewalls ask for', async () => {
  const edge = await edgeThat((socket, head) => {
    const body = JSON.stringify({ head })
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const { head } = await askEdge<{ head: string }>(edge, '/status')
  expect(head).toMatch(/^user-agent: signalbox\r$/im)
})

it('ends where another protocol is offered', async () => {
  const edge = await edgeThat((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  )
  await expect(askEdge(edge, '/status')).rejects.toMatchObject({ code: 'unreachable' })
})

it('does not call a Signalbox whose answer breaks off another program', async () => {
  for (const status of ['200 OK', '503 Service Unavailable']) {
    const edge = await edgeThat((socket) =>
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 200\r\n\r\n{"a":`),
    )
    await expect(askEdge(edge, '/status')).rejects.toMatchObject({
      code: 'unreachable',
      message: `The answer of ${edge.url} broke off.`,
    })
  }
})

async function movements(edge: EdgeAddress): Promise<unknown[]> {
  const found: unknown[] = []
  const books = booksAtEdge(edge, 'stripe')
  for await (const one of books.movements('2026-01-01', '2026-02-01')) found.push(one)
  return found
}

it('does not take the movements that came before the answer broke off for all', async () => {
  const edge = await edgeThat((socket) => socket.end(BROKEN_LINES))
  await expect(movements(edge)).rejects.toMatchObject({ code: 'unreachable' })
})

it('does not read movements from a page of a proxy', async () => {
  const edge = await edgeThat((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html>\n'),
  )
  await expect(movements(edge)).rejects.toMatchObject({ code: 'invalid_answer' })
})
