import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../worker/config.ts'
import { cookieName, createAccess } from '../../../worker/shared/access.ts'
import { SECRET, token } from '../../support/edge.ts'
import { startIssuer } from '../../support/issuer.ts'
import { processEdge } from '../../support/process-edge.ts'

const request = (value: string) =>
  new Request('https://edge.test/api/tasks', { headers: { Authorization: `Bearer ${value}` } })

describe('access', () => {
  it('never runs open: with nothing configured every protected route says what to set', async () => {
    const edge = processEdge({ env: {} })
    const response = await edge.fetch('/api/tasks', {
      headers: { Authorization: `Bearer ${await token({})}` },
    })
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({
      error: 'No way to verify tokens is configured: set AUTH_SECRETS or AUTH_JWKS_URL.',
      code: 'not_configured',
    })
  })

  it('verifies by every secret while they are rotated, and signs by the first', async () => {
    const old = 'the old secret, still 32 bytes long!'.replaceAll(' ', '-')
    const config = readConfig({ AUTH_SECRETS: `${SECRET} ${old}` })
    const access = createAccess(config, Date.now)
    const grant = await access.authenticate(request(await token({ repos: ['r'] }, old)))
    expect(grant.repos).toEqual(['r'])
    const ticket = await access.issueTicket(grant, 'r')
    const onlyNew = createAccess(readConfig({ AUTH_SECRETS: SECRET }), Date.now)
    const url = `https://edge.test/api/events?path=r&ticket=${ticket}`
    const byTicket = await onlyNew.authenticate(new Request(url))
    expect(byTicket).toMatchObject({ repos: ['r'], via: 'ticket', expiresAt: grant.expiresAt })
  })

  it('verifies keys of a JWKS, and takes no HS256 token signed with a public key', async () => {
    const issuer = await startIssuer()
    const env = { AUTH_SECRETS: SECRET, AUTH_JWKS_URL: issuer.jwksUrl }
    const access = createAccess(readConfig(env), Date.now)
    const signed = await issuer.sign({ scope: 'board:read', repos: ['r'] })
    expect((await access.authenticate(request(signed))).repos).toEqual(['r'])
    const confused = await token({}, JSON.stringify(issuer.jwk))
    await expect(access.authenticate(request(confused))).rejects.toMatchObject({
      reason: 'unauthorized',
    })
    const own = await access.authenticate(request(await token({ repos: ['s'] })))
    expect(own.repos).toEqual(['s'])
  })

  it('does not blame the token when the keys are out of reach', async () => {
    const issuer = await startIssuer()
    const signed = await issuer.sign({ scope: 'board:read', repos: ['r'] })
    const failing = createServer((_, response) => response.writeHead(500).end())
    await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve))
    const { port } = failing.address() as AddressInfo
    const env = { AUTH_JWKS_URL: `http://127.0.0.1:${port}/keys` }
    const refused = { reason: 'keys_unavailable' }
    await expect(
      createAccess(readConfig(env), Date.now).authenticate(request(signed)),
    ).rejects.toMatchObject(refused)
    await new Promise((resolve) => failing.close(resolve))
    await expect(
      createAccess(readConfig(env), Date.now).authenticate(request(signed)),
    ).rejects.toMatchObject(refused)
  })

  it('takes of two cookies of its name the last, which no other page can have set', async () => {
    const access = createAccess(readConfig({ AUTH_SECRETS: SECRET }), Date.now)
    const [theirs, ours] = [await token({ repos: ['theirs'] }), await token({ repos: ['ours'] })]
    const Cookie = `signalbox-8787=${theirs}; signalbox-8788=x; signalbox-8787=${ours}; other=y`
    const asked = new Request('http://127.0.0.1:8787/api/tasks', { headers: { Cookie } })
    expect(await access.authenticate(asked)).toMatchObject({ repos: ['ours'], via: 'cookie' })
  })

  it('names the cookie after the port on plain loopback, and __Host- elsewhere', () => {
    expect(cookieName(new URL('http://127.0.0.1:8787/'))).toBe('signalbox-8787')
    expect(cookieName(new URL('http://localhost/'))).toBe('signalbox-80')
    expect(cookieName(new URL('https://localhost:8443/'))).toBe('__Host-signalbox')
    expect(cookieName(new URL('https://board.example/'))).toBe('__Host-signalbox')
  })
})
