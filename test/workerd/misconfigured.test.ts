// The edge on Cloudflare with a variable that is wrong: it can open no app, and answers all the same.

import { expect, it, onTestFinished, vi } from 'vitest'
import { signalbox } from '../../worker/cloudflare.ts'
import { codesOf, OPERATIONS, openapi } from '../support/openapi-operations.ts'

const { handler } = signalbox({})
const env = { MAX_STREAMS: 'many' } as unknown as Parameters<typeof handler.fetch>[1]

const isRequired = ($ref: string) =>
  openapi.components.headers[$ref.split('/').at(-1) ?? '']?.required

it('answers each operation with misconfigured, as the document lists', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => logged.mockRestore())
  for (const [route, { responses }] of OPERATIONS) {
    const [method = '', path = ''] = route.split(' ')
    const headers = { 'X-Request-Id': 'request-1' }
    const request = new Request(`https://edge.test${path}`, { method, headers })
    const answer = await handler.fetch(request, env)
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
