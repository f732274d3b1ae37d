import { afterEach, describe, expect, it } from 'vitest'
import { checkClocks, checkEdgeClock } from '../../cli/doctor/clock.ts'
import type { TestServer } from '../support/http.ts'
import {
  diagnose,
  fakeEdge,
  fakeGateway,
  grants,
  lineOf,
  REDIRECT,
} from './payments/fake-system.ts'

const TOLERANCE_MS = 300_000
const gateway = (skewMs: number, edge?: number, toleranceMs = TOLERANCE_MS): string | undefined =>
  checkClocks({ edge, gateways: new Map([['redirect', skewMs]]) }, toleranceMs).map(lineOf)[0]

describe('clocks', () => {
  it.each([
    [0, 'ok'],
    [4_900, 'ok'],
    [5_000, 'warn'],
    [-5_000, 'warn'],
    [150_000, 'warn'],
    [150_001, 'error'],
    [-150_001, 'error'],
  ])('that are %i ms apart are %s at a tolerance of 300 s', (skewMs, level) => {
    expect(gateway(skewMs)).toMatch(new RegExp(`^${level} clock: `))
  })

  it('must be closer with a small tolerance', () => {
    expect(gateway(3_000, undefined, 4_000)).toMatch(/^error /)
  })

  it('that differ are reported with direction and effect', () => {
    expect(gateway(-10_000)).toBe(
      "warn clock: The clock of redirect's gateway is 10 s behind that of this machine: callbacks " +
        'look older than they are, and the tolerance is 300 s.',
    )
    expect(gateway(10_000)).toContain('10 s ahead of')
  })

  it('of gateways are compared with the edge, whose clock decides, not with this machine', () => {
    expect(gateway(60_000, 60_000)).toBe(
      "ok clock: The clocks of redirect's gateway and of the edge agree.",
    )
    expect(gateway(0, 60_000)).toContain('60 s behind that of the edge')
  })
})

describe('the clock of the edge, for a sidecar', () => {
  it.each([
    [0, 'ok'],
    [-5_000, 'warn'],
    [300_000, 'warn'],
    [-300_001, 'error'],
  ])('that is %i ms ahead is %s', (skewMs, level) => {
    expect(lineOf(checkEdgeClock(skewMs))).toMatch(new RegExp(`^${level} clock: `))
  })
})

describe('Date headers', () => {
  const open: TestServer[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close()
  })

  async function clocks(aheadMs: number): Promise<string[]> {
    const { REDIRECT_GATEWAY_CLIENT_ID: id, REDIRECT_GATEWAY_CLIENT_SECRET: secret } = REDIRECT
    const date = () => ({ date: new Date(Date.now() + aheadMs).toUTCString() })
    const server = await fakeGateway({ '/oauth2/token': grants(id, secret) }, date)
    const env = { ...REDIRECT, REDIRECT_GATEWAY_BASE_URL: server.url, LIBSQL_URL: server.url }
    const edge = await fakeEdge(env)
    open.push(server, edge)
    const { findings } = await diagnose(`--edge ${edge.url}`, env)
    return findings.filter((finding) => finding.includes(' clock: '))
  }

  it('of a gateway and the edge show the difference', async () => {
    const [ofGateway, ofEdge] = await clocks(200_000)
    expect(ofGateway).toMatch(/^error clock: .* (19\d|20\d) s ahead of that of the edge/)
    expect(ofEdge).toBe('ok clock: The clocks of the edge and of this machine agree.')
  })

  it('that agree are fine', async () => {
    expect(await clocks(0)).toEqual([
      "ok clock: The clocks of redirect's gateway and of the edge agree.",
      'ok clock: The clocks of the edge and of this machine agree.',
    ])
  })
})
