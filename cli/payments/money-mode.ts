// Guesses from a gateway's address and keys whether it moves real money. It is only a guess, so it
// leads to warnings, never to errors. Pure.

import { isLoopback } from '../../worker/shared/loopback.ts'
import type { ConfiguredGateway } from './configured.ts'
import type { MoneyMode } from './drivers/driver-tools.ts'
import { DRIVER_TOOLS } from './drivers/registry.ts'

/** `local`: a simulator. */
type Mode = MoneyMode | 'local'

const TEST_WORD = /(^|[^a-z])(test|uat|stage|staging|sandbox|dev)([^a-z]|$)/i
const LIVE_WORD = /(^|[^a-z])(live|prod|production)([^a-z]|$)/i

function modeOfUrl(base: string): Mode {
  if (!URL.canParse(base)) return 'unknown'
  const { hostname } = new URL(base)
  if (isLoopback(hostname)) return 'local'
  return TEST_WORD.test(hostname) ? 'test' : 'live'
}

const moneyKeyOf = ({ driver }: ConfiguredGateway) => DRIVER_TOOLS[driver]?.moneyKey

function modeOfKey(gateway: ConfiguredGateway): Mode {
  const { settings } = gateway
  const moneyKey = moneyKeyOf(gateway)
  if (moneyKey) return moneyKey.modeOf(settings[moneyKey.setting] ?? '')
  const { client_id = '' } = settings
  if (TEST_WORD.test(client_id)) return 'test'
  return LIVE_WORD.test(client_id) ? 'live' : 'unknown'
}

function modeOf(gateway: ConfiguredGateway): Mode {
  const url = modeOfUrl(gateway.settings.base_url ?? '')
  return moneyKeyOf(gateway) && url === 'live' ? modeOfKey(gateway) : url
}

/** Contradictions in the settings of one gateway, one sentence each. */
export function mismatchOf(gateway: ConfiguredGateway): string[] {
  const url = modeOfUrl(gateway.settings.base_url ?? '')
  const key = modeOfKey(gateway)
  const { variables } = gateway
  const moneyKey = moneyKeyOf(gateway)
  const name = variables[moneyKey?.setting ?? 'client_id'] ?? 'Its key'
  const where = variables.base_url ?? 'base_url'
  if (key === 'test' && url === 'live') {
    if (moneyKey) return [`${name} is a test key: no real money moves.`]
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
