// Deliveries over real HTTP, to a receiver that verifies with the standard's own library.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { keptLog, pendingEvent, transaction } from '../../../support/payments.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

interface Receiver {
  url: string
  requests: { path: string; headers: Record<string, string>; body: string }[]
}

/** Answers with `status(path)`, and keeps what came. */
async function receiver(
  status: (path: string) => number,
  body: string | undefined = undefined,
): Promise<Receiver> {
  const requests: Receiver['requests'] = []
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      const path = request.url ?? ''
      requests.push({ path, headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status(path), { Location: '/elsewhere' })
      if (body === undefined) response.end()
      else response.write(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, requests }
}

const dispatcherTo = (url: string, secrets: string[]) =>
  createDispatcher({
    listeners: {},
    endpoint: { url, secrets },
    clock: hostClock,
    log: keptLog().log,
    fetch,
  })

const due = (url: string) =>
  pendingEvent({ createdAt: Date.now(), delivery: { id: '01DEL', endpoint: url, attempts: 0 } })

it('arrives signed, and reads as the standard has it', async () => {
  const secret = newSecret()
  const { url, requests } = await receiver(() => 204)
  const event = due(url)
  const told = await dispatcherTo(url, [secret]).dispatch([event])
  expect(told).toEqual([{ outboxId: '01OUT', delivery: { id: '01DEL', ok: true, status: 204 } }])
  const [request] = requests
  expect(requests).toHaveLength(1)
  expect(request?.headers['content-type']).toBe('application/json')
  expect(request?.headers['webhook-id']).toBe('01OUT')
  expect(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {})).toEqual({
    type: 'PaymentSucceeded',
    timestamp: new Date(event.createdAt).toISOString(),
    data: { transaction: transaction({ status: 'Paid' }) },
  })
})

it('is verified by receivers of the old and of the new secret', async () => {
  const [old, next] = [newSecret(), newSecret()]
  const { url, requests } = await receiver(() => 200)
  await dispatcherTo(url, [next, old]).dispatch([due(url)])
  const { body = '', headers = {} } = requests[0] ?? {}
  expect(new Webhook(old).verify(body, headers)).toBeTruthy()
  expect(new Webhook(next).verify(body, headers)).toBeTruthy()
})

it('does not follow a redirect', async () => {
  const { url, requests } = await receiver((path) => (path === '/events' ? 307 : 200))
  const [told] = await dispatcherTo(url, [newSecret()]).dispatch([due(url)])
  expect(told?.delivery).toMatchObject({ ok: false, status: 307 })
  expect(requests.map(({ path }) => path)).toEqual(['/events'])
})

it('does not wait for an answer’s body that never ends', async () => {
  const { url } = await receiver(() => 200, 'and so on')
  const [told] = await dispatcherTo(url, [newSecret()]).dispatch([due(url)])
  expect(told?.delivery).toMatchObject({ ok: true, status: 200 })
})

it('is tried again when nobody is there', async () => {
  const { url } = await receiver(() => 200)
  const nobody = url.replace(/:\d+/, ':1')
  const [told] = await dispatcherTo(nobody, [newSecret()]).dispatch([due(nobody)])
  expect(told?.delivery).toMatchObject({ ok: false, nextAttemptAt: expect.any(Number) })
})
