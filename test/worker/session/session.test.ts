// Cases of signing in that the running hosts do not cover: an external issuer, TLS in front, no
// keys.

import { describe, expect, it } from 'vitest'
import { codeFor, consoleSessionContract, signIn } from '../../contract/console-session.ts'
import { freshPath, SECRET, token } from '../../support/edge.ts'
import { issuerEnv, startIssuer } from '../../support/issuer.ts'
import { processEdge } from '../../support/process-edge.ts'

// Its origin is https, so the name of the cookie begins with `__Host-`.
const edge = processEdge()
consoleSessionContract('the app in this process', { edge: () => edge })

describe('a session', () => {
  it('is a Secure cookie for this host alone', async () => {
    const { cookies } = await signIn(edge, { token: await token({}) })
    expect(cookies).toHaveLength(1)
    expect(cookies[0]).toMatch(/^__Host-signalbox=\S+; Max-Age=\d+; Path=\/; HttpOnly; Secure; /)
    expect(cookies[0]).not.toContain('Domain')
  })

  it('can be opened through a proxy that terminates TLS', async () => {
    const behind = {
      origin: 'https://signalbox.example',
      fetch: (path: string, init: RequestInit = {}) =>
        edge.fetch(path, init, 'http://signalbox.example'),
    }
    const answered = await signIn(behind, { token: await token({}) })
    expect(answered.status).toBe(201)
    expect(answered.cookies[0]).toMatch(/^__Host-signalbox=.*; Secure/)
    const elsewhere = { Origin: 'https://signalbox.example:8443' }
    const refused = await signIn(behind, { token: await token({}) }, elsewhere)
    expect(refused.status).toBe(403)
  })

  it('lasts 30 days at most, even if the token is valid for years', async () => {
    const years = await token({ exp: '10y' })
    const { status, cookies, json } = await signIn(edge, { token: years })
    expect(status).toBe(201)
    expect(cookies[0]).toContain(`Max-Age=${30 * 24 * 60 * 60};`)
    const { expiresAt } = json as { expiresAt: string }
    const days = Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)
    expect(days).toBe(30)
  })

  it('ends at the last possible date, if the token expires after it', async () => {
    const headers = { Authorization: `Bearer ${await token({ exp: 1e15 })}` }
    const answered = await edge.fetch('/api/session', { headers })
    expect(await answered.json()).toMatchObject({ expiresAt: '+275760-09-13T00:00:00.000Z' })
  })

  it('can be opened with a token of an external issuer', async () => {
    const issuer = await startIssuer()
    const env = issuerEnv(issuer)
    const theirs = processEdge({ env })
    const claims = { scope: 'board:read', repos: ['r'], sub: 'ann@example.org' }
    const signed = await issuer.sign(claims)
    const answered = await signIn(theirs, { token: signed })
    expect(answered).toMatchObject({ status: 201, json: { subject: 'ann@example.org' } })
    // An external issuer cannot sign links.
    const code = await codeFor([freshPath()])
    expect(await signIn(theirs, { code })).toMatchObject({ json: { code: 'unauthorized' } })
    const both = processEdge({ env: { ...env, AUTH_SECRETS: SECRET } })
    expect(await signIn(both, { code })).toMatchObject({ status: 201 })
  })

  it('answers 503 not_configured, if no key is configured', async () => {
    const bare = processEdge({ env: {} })
    for (const body of [{ token: await token({}) }, { code: await codeFor([freshPath()]) }]) {
      const answered = await signIn(bare, body)
      expect(answered).toMatchObject({ status: 503, cookies: [], json: { code: 'not_configured' } })
    }
  })
})
