// Deliveries over real HTTP to a receiver that verifies them with the library of Standard Webhooks.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { createDeliverer } from '../../../../worker/payments/outbox/deliver.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { keptLog, pendingEvent, transaction } from '../../../support/payments.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

interface Receiver {
  url: string
  requests: { path: string; headers: Record<string, string>; body: string }[]
}

/** Answers with `status(path)`, and records the requests. */
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
  createDeliverer({
    listeners: {},
    endpoint: { url, secrets },
    clock: hostClock,
    log: keptLog().log,
    fetch,
  })

const due = (url: string) =>
  pendingEvent({ createdAt: Date.now(), delivery: { id: '01DEL', endpoint: url, attempts: 0 } })

it('a delivery is signed, and its body follows the standard', async () => {
  const secret = newSecret()
  const { url, requests } = await receiver(() => 204)
  const event = due(url)
  const dispatched = await dispatcherTo(url, [secret]).deliver([event])
  expect(dispatched).toEqual([
    { outboxId: '01OUT', delivery: { id: '01DEL', ok: true, status: 204 } },
  ])
  const [request] = requests
  expect(requests).toHaveLength(1)
  expect(request?.headers['content-type']).toBe('application/json')
  expect(request?.headers['webhook-id']).toBe('01OUT')
  expect(request?.headers['user-agent']).toBe('Signalbox')
  expect(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {})).toEqual({
    type: 'PaymentSucceeded',
    timestamp: new Date(event.createdAt).toISOString(),
    data: { transaction: transaction({ status: 'Paid' }) },
  })
})

it('a delivery is valid with the old and the new secret', async () => {
  const [old, next] = [newSecret(), newSecret()]
  const { url, requests } = await receiver(() => 200)
  await dispatcherTo(url, [next, old]).deliver([due(url)])
  const { body = '', headers = {} } = requests[0] ?? {}
  expect(new Webhook(old).verify(body, headers)).toBeTruthy()
  expect(new Webhook(next).verify(body, headers)).toBeTruthy()
})

it('a delivery does not follow a redirect', async () => {
  const { url, requests } = await receiver((path) => (path === '/events' ? 307 : 200))
  const [dispatched] = await dispatcherTo(url, [newSecret()]).deliver([due(url)])
  expect(dispatched?.delivery).toMatchObject({ ok: false, status: 307 })
  expect(requests.map(({ path }) => path)).toEqual(['/events'])
})

it('a delivery does not wait for the end of the answer’s body', async () => {
  const { url } = await receiver(() => 200, 'endless')
  const [dispatched] = await dispatcherTo(url, [newSecret()]).deliver([due(url)])
  expect(dispatched?.delivery).toMatchObject({ ok: true, status: 200 })
})

it('a delivery is tried again when the endpoint does not exist', async () => {
  const { url } = await receiver(() => 200)
  const nowhere = url.replace(/:\d+/, ':1')
  const [dispatched] = await dispatcherTo(nowhere, [newSecret()]).deliver([due(nowhere)])
  expect(dispatched?.delivery).toMatchObject({ ok: false, nextAttemptAt: expect.any(Number) })
})
