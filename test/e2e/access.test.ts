// Access on the runtimes themselves: the keys of somebody else, over real connections.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { token } from '../support/edge.ts'
import { startEdge } from '../support/edge-process.ts'
import { issuerEnv, startIssuer } from '../support/issuer.ts'

/** Hands on what the issuer answers once it is let; counts what it is asked. */
async function startKeysDoor(jwksUrl: string) {
  const door = { asked: 0, isOpen: false, url: '' }
  const server = createServer(async (_, response) => {
    door.asked++
    if (!door.isOpen) return response.writeHead(502).end()
    response.end(await (await fetch(jwksUrl)).text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  door.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
  return door
}

describe.each(['workerd', 'deno'] as const)('access on %s', (host) => {
  it('asks an issuer that is away once for many tokens, and takes them when it is back', async () => {
    const issuer = await startIssuer()
    const door = await startKeysDoor(issuer.jwksUrl)
    const edge = await startEdge(host, { ...issuerEnv(issuer), AUTH_JWKS_URL: door.url })
    onTestFinished(() => edge.close())
    const signed = await issuer.sign({ scope: 'board:read', repos: ['r'] })
    const ask = async (bearer: string) => {
      const headers = { Authorization: `Bearer ${bearer}` }
      const response = await edge.fetch('/api/tasks?path=r', { headers })
      return [response.status, ((await response.json()) as { code: string }).code]
    }
    const bogus = await issuer.sign({ scope: 'payments:write', repos: ['*'] }, 'another-key')
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(bogus)))
    expect(new Set(answers.map(String))).toEqual(new Set(['503,keys_unavailable']))
    expect(door.asked).toBe(1)
    // Ours need no keys of theirs.
    expect(await ask(await token({ repos: ['r'] }))).toEqual([404, 'unknown_repository'])

    door.isOpen = true
    const isTaken = async () => expect(await ask(signed)).toEqual([404, 'unknown_repository'])
    await vi.waitFor(isTaken, { timeout: 15_000, interval: 250 })
    expect(door.asked).toBe(2)
    expect(await ask(bogus)).toEqual([401, 'unauthorized'])
    expect(door.asked).toBe(2)
  })
})
