// What becomes of a request whose caller gives up, at a server that does not answer.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FaultyProxy } from '../../../tools/prove/recorder/proxy.ts'

let asked: { request: IncomingMessage; response: ServerResponse }[]
let proxy: FaultyProxy
const server = createServer((request, response) => asked.push({ request, response }))

beforeEach(async () => {
  asked = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy = await FaultyProxy.before((server.address() as AddressInfo).port)
})
afterEach(async () => {
  await proxy.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** The next one through the proxy. */
const answerOf = (by: FaultyProxy) =>
  new Promise((resolve) => {
    by.onAnswer = ({ status, answer }) => resolve({ status, answer })
  })

/** Asks through the proxy, and gives up once `isThere`. */
async function giveUp(isThere: () => boolean): Promise<void> {
  const caller = new AbortController()
  const asking = fetch(proxy.url, { method: 'POST', body: 'a', signal: caller.signal })
  await expect.poll(isThere).toBe(true)
  caller.abort()
  await expect(asking).rejects.toThrow('aborted')
}

it('a request ends some time after its caller has given up, and is not in flight any more', async () => {
  const answers: number[] = []
  proxy.lateMs = 1
  proxy.onAnswer = ({ status }) => answers.push(status)
  await giveUp(() => asked.length === 1)
  await expect.poll(() => [proxy.inFlight, asked[0]?.request.destroyed]).toEqual([0, true])
  expect(answers).toEqual([0])
})

it('a server that was stopped reads it until then', async () => {
  const answered = answerOf(proxy)
  await giveUp(() => asked.length === 1)
  asked[0]?.response.end('late')
  expect(await answered).toEqual({ status: 200, answer: 'late' })
})

it('a request that is held arrives although its caller has given up', async () => {
  const held = Promise.withResolvers<string>()
  let isHeld = false
  proxy.lateMs = 0
  proxy.hold = () => {
    isHeld = true
    return held.promise
  }
  const answered = answerOf(proxy)
  await giveUp(() => isHeld)
  held.resolve('late')
  await expect.poll(() => asked.length).toBe(1)
  asked[0]?.response.end('taken')
  expect(await answered).toEqual({ status: 200, answer: 'taken' })
  await expect.poll(() => proxy.inFlight).toBe(0)
})
