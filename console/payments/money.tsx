// An amount, its currency drawn softer.

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
