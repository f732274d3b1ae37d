// Each gateway's health: its circuit, and what it can do.

import type { GatewayHealth } from '../../../worker/payments/gateways/guard/guard.ts'
import { now } from '../../data/clock.ts'
import type { Lamp } from '../../frame/lamp.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import type { Feed } from '../feed/feed.ts'

export function GatewayList({ feed }: { feed: Feed }) {
  const { gateways: say } = words.payments
  const gateways = feed.gateways.value
  return (
    <section class="gateways panel" aria-labelledby="gateways">
      <h2 id="gateways">{say.title}</h2>
      {gateways?.length === 0 && <p class="hint">{say.none}</p>}
      <ul>
        {gateways?.map((gateway) => (
          <GatewayItem key={gateway.key} gateway={gateway} />
        ))}
      </ul>
    </section>
  )
}

function GatewayItem({ gateway }: { gateway: GatewayHealth }) {
  const { gateways: say } = words.payments
  const { key, driver, breaker, supportsRefund, currencies, isLocal } = gateway
  const { lamp, text } = breakerOf(breaker, now.peek())
  const abilities = [
    ...(driver === key ? [] : [say.driver(driver)]),
    ...(isLocal ? [say.local] : []),
    currenciesOf(currencies),
    supportsRefund ? say.refunds : say.noRefunds,
  ]
  return (
    <li>
      <h3>{key}</h3>
      <span
        class={`lamp ${lamp}`}
        title={breaker.state === 'open' ? say.openHint(breaker.failures) : undefined}
      >
        {text}
      </span>
      <p class="hint">{abilities.join(' · ')}</p>
    </li>
  )
}

/** More than these say nothing when they stand in a line. */
const FEW = 4

function currenciesOf(currencies: readonly string[] | undefined): string {
  const { gateways: say } = words.payments
  if (!currencies) return say.anyCurrency
  return currencies.length <= FEW ? currencies.join(', ') : say.currencies(currencies.length)
}

function breakerOf(breaker: GatewayHealth['breaker'], at: number): { lamp: Lamp; text: string } {
  const { gateways: say } = words.payments
  const { state, failures, openUntil } = breaker
  switch (state) {
    case 'open':
      return { lamp: 'stop', text: say.open(timeOf(Date.parse(openUntil ?? ''), at)) }
    case 'probing':
      return { lamp: 'caution', text: say.probing }
    case 'closed':
      return failures === 0
        ? { lamp: 'go', text: say.closed }
        : { lamp: 'caution', text: say.failing(failures) }
  }
}
