// Small elements that all views of payments use: amounts, statuses, errors, ids, freshness.

import type { PaymentError, PaymentStatus, Transaction } from '../../libraries/api/types.ts'
import { freshnessLamp } from '../frame/lamp.ts'
import { Copyable } from '../ui/copyable.tsx'
import { Facts } from '../ui/elements.tsx'
import { now } from '../ui/time.tsx'
import { useFeed } from './feed.ts'
import { moneyParts, STATUSES, standingOf } from './format.ts'

export function Money({ amount, currency }: { amount: number; currency: string }) {
  const parts = moneyParts(amount, currency)
  return (
    <span class="money">
      {parts.map(({ isCurrency, text }) =>
        isCurrency ? (
          <span key="currency" class="currency">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </span>
  )
}

export const StatusBadge = ({ status }: { status: PaymentStatus }) => (
  <span class={`badge ${status}`}>{STATUSES[status]}</span>
)

/** Of a payment as a whole. */
export function StandingBadge({ of }: { of: Transaction }) {
  const { text, tone } = standingOf(of)
  return <span class={`badge ${tone}`}>{text}</span>
}

/** Why a gateway did not do what it should, with the code from the manual of the gateway. */
export function GatewayError({ error }: { error: PaymentError }) {
  const { code, rawCode, message } = error
  return (
    <p class="problem-line">
      {message} <code>{rawCode === undefined ? code : `${code} · ${rawCode}`}</code>
    </p>
  )
}

/** An id as a fact. Missing ids are omitted. */
export const idFact = (name: string, id: string | undefined) =>
  [name, id && <Copyable key={name} text={id} what={name} />] as const

interface IdsProps {
  of: readonly (readonly [name: string, id: string | undefined])[]
}

/** Several ids in one line, with their names. */
export const Ids = ({ of }: IdsProps) => (
  <Facts class="ids row hint" of={of.map(([name, id]) => idFact(name, id))} />
)

export function FreshnessLamp() {
  const freshness = useFeed().freshness.value
  const { lamp, text, hint } = freshnessLamp(freshness, now.value)
  return (
    <div class={`lamp freshness ${lamp}`} title={hint}>
      <span>
        {text} {freshness.name === 'unreachable' && <span class="why">{hint}</span>}
      </span>
      {/* Announcing a time every five seconds would disturb. A lost connection is announced. */}
      <span role="status" class="visually-hidden">
        {freshness.name === 'unreachable' && `${text}. ${hint ?? ''}`}
      </span>
    </div>
  )
}

/**
 * The CSS class that makes a row flash after a change. Two names alternate, since an animation
 * restarts only under another name.
 */
export const flashOf = (changes: number): string =>
  changes === 0 ? '' : changes % 2 === 0 ? 'flash-even' : 'flash-odd'

/** Paid with a different amount or currency than requested. */
export const isOtherAmount = ({ amount, currency, paid }: Transaction): boolean =>
  paid !== undefined && (paid.amount !== amount || paid.currency !== currency)
