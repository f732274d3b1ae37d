import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startCountingProxy } from '../../../bench/payments/counting-proxy.ts'

it('passes on what is asked and answered, and counts what is posted', async () => {
  const server = createServer((request, response) => {
    response.writeHead(207, { 'x-path': request.url })
    request.pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy = await startCountingProxy((server.address() as AddressInfo).port)
  try {
    await fetch(`${proxy.url}/health`)
    expect(proxy.roundTrips()).toBe(0)
    const answer = await fetch(`${proxy.url}/v2/pipeline`, { method: 'POST', body: 'a batch' })
    expect(answer.status).toBe(207)
    expect(answer.headers.get('x-path')).toBe('/v2/pipeline')
    expect(await answer.text()).toBe('a batch')
    expect(proxy.roundTrips()).toBe(1)
  } finally {
    await proxy.close()
    server.close()
    server.closeAllConnections()
  }
})
