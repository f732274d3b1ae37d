// Contracts that other hosts fulfil too, on the runtime itself.

import { env, runInDurableObject, SELF } from 'cloudflare:test'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  type DirectoryObject,
  objectDirectory,
} from '../../worker/board/directory/directory-object.ts'
import type { RepositoryObject } from '../../worker/board/repository/repository-object.ts'
import { signalbox } from '../../worker/cloudflare.ts'
import { withCorrelationId } from '../../worker/payments/webhooks/routes.ts'
import {
  objectEndedSessions,
  type SessionsObject,
} from '../../worker/session/ended-sessions-object.ts'
import { objectSql } from '../../worker/shared/durable-object.ts'
import { accessContract } from '../contract/access.ts'
import { boardStoreContract } from '../contract/board-store.ts'
import { consoleSessionContract } from '../contract/console-session.ts'
import { boundContract, directoryContract } from '../contract/directory.ts'
import { endedSessionsContract } from '../contract/ended-sessions.ts'
import { mcpContract } from '../contract/mcp.ts'
import type { Edge } from '../support/edge.ts'
import { codesOf, documentedFetch, OPERATIONS, openapi } from '../support/openapi-operations.ts'

const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }
accessContract('workerd', { edge: () => edge })
consoleSessionContract('workerd', { edge: () => edge })
mcpContract('workerd', { edge: () => edge })

const { REPOSITORY, SESSIONS, DIRECTORY } = env as unknown as {
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
  SESSIONS: DurableObjectNamespace<SessionsObject>
  DIRECTORY: DurableObjectNamespace<DirectoryObject>
}
boardStoreContract('the storage of an object', async (use) => {
  const stub = REPOSITORY.getByName(crypto.randomUUID())
  await runInDurableObject(stub, async (_, state) => {
    await state.storage.deleteAll()
    use(objectSql(state.storage))
  })
})

endedSessionsContract('a Durable Object', async () => objectEndedSessions(SESSIONS))
directoryContract('a Durable Object', async () => objectDirectory(DIRECTORY))
boundContract('the storage of an object', async (test) => {
  const stub = DIRECTORY.getByName(crypto.randomUUID())
  await runInDurableObject(stub, (_, state) => test(objectSql(state.storage)))
})

it('a request with the header added keeps its body and its URL', async () => {
  const headers = { 'X-Correlation-Id': 'bad id', 'Content-Type': 'application/json' }
  const url = 'https://edge.test/payments/webhooks/redirect?token=a%20b'
  const given = new Request(url, { method: 'POST', headers, body: '{"a":1}' })
  const carried = withCorrelationId(given, 'mine-1234')
  expect([carried.method, carried.url]).toEqual(['POST', url])
  expect(Object.fromEntries(carried.headers)).toMatchObject({
    'x-correlation-id': 'mine-1234',
    'content-type': 'application/json',
  })
  expect(await carried.clone().text()).toBe('{"a":1}')
  expect(await carried.text()).toBe('{"a":1}')
})

// With a variable that is wrong the edge can open no app, and answers all the same.
const { handler } = signalbox({})
const wrong = { MAX_STREAMS: 'many' } as unknown as Parameters<typeof handler.fetch>[1]

const isRequired = ($ref: string) =>
  openapi.components.headers[$ref.split('/').at(-1) ?? '']?.required

it('answers each operation with misconfigured, as the document lists', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => logged.mockRestore())
  for (const [route, { responses }] of OPERATIONS) {
    const [method = '', path = ''] = route.split(' ')
    const headers = { 'X-Request-Id': 'request-1' }
    const request = new Request(`https://edge.test${path}`, { method, headers })
    const answer = await handler.fetch(request, wrong)
    const { code } = await answer.json<{ code: string }>()
    expect([route, answer.status, code]).toEqual([route, 503, 'misconfigured'])
    const documented = responses[503] ?? {}
    expect([route, codesOf(documented)]).toEqual([route, expect.arrayContaining([code])])
    const missing = Object.entries(documented.headers ?? {})
      .filter(([name, { $ref }]) => isRequired($ref) && !answer.headers.has(name))
      .map(([name]) => name)
    expect([route, missing]).toEqual([route, []])
    expect(answer.headers.get('X-Request-Id')).toBe('request-1')
  }
  expect(logged.mock.lastCall?.[0]).toContain('MAX_STREAMS must be')
  expect(logged.mock.lastCall?.[0]).toContain('request-1')
})
