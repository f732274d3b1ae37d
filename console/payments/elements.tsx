// Small elements that all views of payments use: amounts, statuses, errors, ids, freshness.

import { useState } from 'preact/hooks'
import type { PaymentError } from '../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../worker/payments/domain/status.ts'
import type { Transaction } from '../../worker/payments/domain/transaction.ts'
import { now } from '../data/clock.ts'
import { Fact } from '../ui/fact.tsx'
import { words } from '../words.ts'
import { type Freshness, readFreshness } from './feed/freshness.ts'
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

/** Why something failed, with the code that its gateway's manual explains. */
export function Fault({ error }: { error: PaymentError }) {
  const { code, rawCode, message } = error
  return (
    <p class="problem-line">
      {message} <code>{rawCode === undefined ? code : `${code} · ${rawCode}`}</code>
    </p>
  )
}

/** `what`: its name, for whoever does not see it. */
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

interface IdsProps {
  /** Names and ids; those that are missing are left out. */
  of: readonly (readonly [name: string, id: string | undefined])[]
}

/** Ids in a line, each with its name. */
export const Ids = ({ of }: IdsProps) => (
  <dl class="ids">
    {of.map(([name, id]) => (
      <Fact key={name} name={name}>
        {id !== undefined && <Copyable text={id} what={name} />}
      </Fact>
    ))}
  </dl>
)

export function FreshnessLamp({ freshness }: { freshness: Freshness }) {
  const { lamp, text, hint } = readFreshness(freshness, now.value)
  return (
    <div class={`lamp freshness ${lamp}`} title={hint}>
      <span>
        {text} {freshness.name === 'unreached' && <span class="why">{hint}</span>}
      </span>
      {/* A time every five seconds would be a nuisance to hear; that it is lost is not. */}
      <span role="status" class="visually-hidden">
        {freshness.name === 'unreached' && `${text}. ${hint ?? ''}`}
      </span>
    </div>
  )
}

/** The class for it. Two names of one flash: an animation starts again only under another name. */
export const flashOf = (changes: number): string =>
  changes === 0 ? '' : changes % 2 === 0 ? 'flash-even' : 'flash-odd'

/** Whether a link of it leads to a page, and does nothing else. */
export const isWeb = (url: string | undefined): url is string => /^https?:\/\//i.test(url ?? '')

/** Paid, and with another amount or currency than was asked for. */
export const isOther = ({ amount, currency, paid }: Transaction): boolean =>
  paid !== undefined && (paid.amount !== amount || paid.currency !== currency)
