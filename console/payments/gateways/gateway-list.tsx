// The health of each gateway: circuit breaker and abilities.

import type { Gateway } from '../../../api/types.ts'
import { now } from '../../data/clock.ts'
import type { Lamp } from '../../frame/lamp.ts'
import { timeOf } from '../../ui/time-text.ts'
import type { Feed } from '../feed/feed.ts'
import { paymentWords } from '../words.ts'

export function GatewayList({ feed }: { feed: Feed }) {
  const { gateways: texts } = paymentWords
  const gateways = feed.gateways.value
  return (
    <section class="gateways panel" aria-labelledby="gateways">
      <h2 id="gateways">{texts.title}</h2>
      {gateways?.length === 0 && <p class="hint">{texts.none}</p>}
      <ul>
        {gateways?.map((gateway) => (
          <GatewayItem key={gateway.key} gateway={gateway} />
        ))}
      </ul>
    </section>
  )
}

const KINDS: readonly (keyof Gateway['breaker'])[] = ['charge', 'refund', 'status']

function GatewayItem({ gateway }: { gateway: Gateway }) {
  const { gateways: texts } = paymentWords
  const { key, driver, breaker, supportsRefund, currencies, isLocal } = gateway
  const troubled = KINDS.filter((kind) => breaker[kind].failures > 0)
  const abilities = [
    ...(driver === key ? [] : [texts.driver(driver)]),
    ...(isLocal ? [texts.local] : []),
    currenciesOf(currencies),
    supportsRefund ? texts.refunds : texts.noRefunds,
  ]
  return (
    <li>
      <h3>{key}</h3>
      {troubled.length === 0 && <span class="lamp go">{texts.closed}</span>}
      {troubled.map((kind) => (
        <Circuit key={kind} name={texts.kinds[kind]} breaker={breaker[kind]} />
      ))}
      <p class="hint">{abilities.join(' · ')}</p>
    </li>
  )
}

type Breaker = Gateway['breaker']['charge']

function Circuit({ name, breaker }: { name: string; breaker: Breaker }) {
  const { gateways: texts } = paymentWords
  const { lamp, text } = breakerOf(breaker, now.peek())
  const hint = breaker.state === 'open' ? texts.openHint(breaker.failures) : undefined
  return (
    <span class={`lamp ${lamp}`} title={hint}>
      {name}: {text}
    </span>
  )
}

/** A longer list of currencies would be hard to read, so it is counted. */
const MAX_LISTED = 4

function currenciesOf(currencies: readonly string[] | undefined): string {
  const { gateways: texts } = paymentWords
  if (!currencies) return texts.anyCurrency
  return currencies.length <= MAX_LISTED
    ? currencies.join(', ')
    : texts.currencies(currencies.length)
}

function breakerOf(breaker: Breaker, at: number): { lamp: Exclude<Lamp, 'go'>; text: string } {
  const { gateways: texts } = paymentWords
  const { state, failures, openUntil } = breaker
  switch (state) {
    case 'open':
      return { lamp: 'stop', text: texts.open(timeOf(Date.parse(openUntil ?? ''), at)) }
    case 'probing':
      return { lamp: 'caution', text: texts.probing }
    case 'closed':
      return { lamp: 'caution', text: texts.failing(failures) }
  }
}
