// The small things that payments are shown with: an amount, a status, an age, an id.

import { useComputed } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { PaymentError } from '../../../payments/exceptions.ts'
import type { PaymentStatus } from '../../../payments/status.ts'
import { now } from '../clock.ts'
import { ago, dateOf, timeOf } from '../times.ts'
import { words } from '../words.ts'
import { moneyParts } from './money-text.ts'

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
  <span class={`badge ${status}`}>{words.payments.status[status]}</span>
)

/** `at` in ISO 8601. Its text alone moves with the clock; nothing around it is drawn again. */
export function Age({ at }: { at: string }) {
  const ms = Date.parse(at)
  const text = useComputed(() => ago(ms, now.value))
  return (
    <time dateTime={at} title={dateOf(ms)}>
      {text}
    </time>
  )
}

/** A time of day, with its date unless it is today's. */
export function Time({ at }: { at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={dateOf(ms)}>
      {timeOf(ms, now.peek())}
    </time>
  )
}

/** An id that somebody will paste elsewhere. `what`: its name, for whoever does not see it. */
export function Copyable({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    // Missing where the page came over plain HTTP from elsewhere; a person may also forbid it.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setSaid(done ? words.payments.story.copied : words.payments.story.notCopied)
    setTimeout(() => setSaid(undefined), SHOWN_MS)
  }
  return (
    <span class="copyable">
      <code>{text}</code>
      <button
        type="button"
        class="icon"
        aria-label={words.payments.story.copy(what)}
        onClick={() => void copy()}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z" />
        </svg>
      </button>
      <span role="status" class="hint">
        {said}
      </span>
    </span>
  )
}

const SHOWN_MS = 2_000

/** Why something failed, with the code that its gateway's manual explains. */
export function Fault({ error }: { error: PaymentError }) {
  const { code, rawCode, message } = error
  return (
    <p class="problem-line">
      {message} <code>{rawCode === undefined ? code : `${code} · ${rawCode}`}</code>
    </p>
  )
}

interface IdsProps {
  /** Names and ids; those that are missing are left out. */
  of: readonly (readonly [name: string, id: string | undefined])[]
}

/** Ids in a line, each with its name. */
export const Ids = ({ of }: IdsProps) => (
  <dl class="ids">
    {of.map(
      ([name, id]) =>
        id !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Copyable text={id} what={name} />
            </dd>
          </div>
        ),
    )}
  </dl>
)
