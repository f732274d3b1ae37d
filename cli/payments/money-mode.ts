// Guesses from a gateway's address and keys whether it moves real money. It is only a guess, so it
// leads to warnings, never to errors. Pure.

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
  // Stripe has one address for tests and real money.
  return gateway.driver === 'stripe' && url === 'live' ? modeOfKey(gateway) : url
}

/** Contradictions in the settings of one gateway, one sentence each. */
export function mismatchOf(gateway: ConfiguredGateway): string[] {
  const url = modeOfUrl(gateway.settings.base_url ?? '')
  const key = modeOfKey(gateway)
  const { variables, driver } = gateway
  const name = (driver === 'stripe' ? variables.secret_key : variables.client_id) ?? 'Its key'
  const where = variables.base_url ?? 'base_url'
  if (key === 'test' && url === 'live') {
    if (driver === 'stripe') return [`${name} is a test key: no real money moves.`]
    return [`${name} looks like a test value, but ${where} is the live gateway.`]
  }
  if (key !== 'live' || url === 'live' || url === 'unknown') return []
  const place = url === 'local' ? 'this machine' : 'a test gateway'
  return [`${name} looks like a live value, but ${where} is ${place}.`]
}

/** A sentence if some gateways use real money and others do not; else undefined. */
export function mixtureOf(gateways: readonly ConfiguredGateway[]): string | undefined {
  const usable = gateways.filter(({ missing }) => missing.length === 0)
  const keys = (mode: Mode) =>
    usable.filter((gateway) => modeOf(gateway) === mode).map(({ key }) => key)
  const live = keys('live')
  const test = [...keys('test'), ...keys('local')]
  if (live.length === 0 || test.length === 0) return undefined
  return `${live.join(', ')} uses real money, but ${test.join(', ')} does not.`
}
