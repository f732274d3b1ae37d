// What a gateway answered where it did not do what it was asked for.

import type { PaymentError } from '../../worker/payments/domain/exceptions.ts'

/** Why something failed, with the code that its gateway's manual explains. */
export function Fault({ error }: { error: PaymentError }) {
  const { code, rawCode, message } = error
  return (
    <p class="problem-line">
      {message} <code>{rawCode === undefined ? code : `${code} · ${rawCode}`}</code>
    </p>
  )
}
