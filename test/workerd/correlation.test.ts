import { expect, it } from 'vitest'
import { withCorrelationId } from '../../worker/payments/webhooks/middleware.ts'

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
