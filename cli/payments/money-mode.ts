// Whether a gateway moves real money: by its address and its keys. A guess, so it never says more
// than "look at this". Pure.

import { isLoopback } from '../../worker/shared/loopback.ts'
import type { ConfiguredGateway } from './configured.ts'

/** `local`: a simulator. */
type Mode = 'test' | 'live' | 'local' | 'unknown'

const TEST_WORD = /(^|[^a-z])(test|uat|stage|staging|sandbox|dev)([^a-z]|$)/i
const LIVE_WORD = /(^|[^a-z])(live|prod|production)([^a-z]|$)/i

function modeOfUrl(base: string): Mode {
  if (!URL.canParse(base)) return 'unknown'
  const { hostname } = new URL(base)
  if (isLoopback(hostname)) return 'local'
  return TEST_WORD.test(hostname) ? 'test' : 'live'
}

function modeOfKey({ driver, settings }: ConfiguredGateway): Mode {
  const { secret_key = '', client_id = '' } = settings
  if (driver === 'stripe') {
    if (/^(sk|rk)_test_/.test(secret_key)) return 'test'
    return /^(sk|rk)_live_/.test(secret_key) ? 'live' : 'unknown'
  }
  if (TEST_WORD.test(client_id)) return 'test'
  return LIVE_WORD.test(client_id) ? 'live' : 'unknown'
}

function modeOf(gateway: ConfiguredGateway): Mode {
  const url = modeOfUrl(gateway.settings.base_url ?? '')
  // Stripe has one address for both.
  return gateway.driver === 'stripe' && url === 'live' ? modeOfKey(gateway) : url
}

/** What does not go together in one gateway, a sentence each. */
export function mismatchOf(gateway: ConfiguredGateway): string[] {
  const url = modeOfUrl(gateway.settings.base_url ?? '')
  const key = modeOfKey(gateway)
  const { variables, driver } = gateway
  const name = (driver === 'stripe' ? variables.secret_key : variables.client_id) ?? 'Its key'
  const where = variables.base_url ?? 'base_url'
  if (key === 'test' && url === 'live') {
    if (driver === 'stripe') return [`${name} is a test key: no real money moves.`]
    return [`${name} looks like one for tests, and ${where} is the live gateway.`]
  }
  if (key !== 'live' || url === 'live' || url === 'unknown') return []
  const place = url === 'local' ? 'this machine' : 'a test gateway'
  return [`${name} looks like a live one, and ${where} is ${place}.`]
}

/** Gateways of which some take real money and some do not; undefined when all are alike. */
export function mixtureOf(gateways: readonly ConfiguredGateway[]): string | undefined {
  const usable = gateways.filter(({ missing }) => missing.length === 0)
  const keys = (mode: Mode) =>
    usable.filter((gateway) => modeOf(gateway) === mode).map(({ key }) => key)
  const live = keys('live')
  const test = [...keys('test'), ...keys('local')]
  if (live.length === 0 || test.length === 0) return undefined
  return `Real money moves through ${live.join(', ')}, and none through ${test.join(', ')}.`
}
