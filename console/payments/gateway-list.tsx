// The health of each gateway: circuit breaker and abilities.

import type { Gateway } from '../../api/types.ts'
import type { LampStatus } from '../frame/lamp.ts'
import { count, timeOf } from '../ui/text.ts'
import { now } from '../ui/time.tsx'
import type { Feed } from './feed.ts'

export function GatewayList({ feed }: { feed: Feed }) {
  const gateways = feed.gateways.value?.gateways
  return (
    <section class="gateways panel" aria-labelledby="gateways">
      <h2 id="gateways">Gateways</h2>
      {gateways?.length === 0 && <p class="hint">No gateway is configured.</p>}
      <ul>
        {gateways?.map((gateway) => (
          <GatewayItem key={gateway.key} gateway={gateway} />
        ))}
      </ul>
    </section>
  )
}

type Kind = keyof Gateway['breaker']

const KINDS: Readonly<Record<Kind, string>> = {
  charge: 'Charges',
  refund: 'Refunds',
  status: 'Checks',
}

/** A longer list of currencies would be hard to read, so it is counted. */
const MAX_LISTED = 4

function GatewayItem({ gateway }: { gateway: Gateway }) {
  const { key, driver, breaker, supportsRefund, currencies, isLocal } = gateway
  const troubled = (Object.keys(KINDS) as Kind[]).filter((kind) => breaker[kind].failures > 0)
  const listed =
    currencies && currencies.length > MAX_LISTED
      ? count(currencies.length, 'currency', 'currencies')
      : currencies?.join(', ')
  const abilities = [
    driver !== key && `driver ${driver}`,
    isLocal && 'simulated',
    listed ?? 'any currency',
    supportsRefund ? 'refunds' : 'no refunds',
  ]
  return (
    <li>
      <h3>{key}</h3>
      {troubled.length === 0 && <span class="lamp go">Circuits closed</span>}
      {troubled.map((kind) => {
        const { lamp, text, hint } = circuitLamp(breaker[kind], now.peek())
        return (
          <span key={kind} class={`lamp ${lamp}`} title={hint}>
            {KINDS[kind]}: {text}
          </span>
        )
      })}
      <p class="hint">{abilities.filter(Boolean).join(' · ')}</p>
    </li>
  )
}

function circuitLamp(circuit: Gateway['breaker'][Kind], at: number): LampStatus {
  const { state, failures, openUntil = '' } = circuit
  switch (state) {
    case 'open':
      return {
        lamp: 'stop',
        text: `circuit open until ${timeOf(Date.parse(openUntil), at)}`,
        hint: `After ${count(failures, 'failed call')} the gateway is not called for these.`,
      }
    case 'probing':
      return { lamp: 'caution', text: 'circuit half open, the next call is a test' }
    case 'closed':
      return { lamp: 'caution', text: `${count(failures, 'call')} in a row failed` }
  }
}
