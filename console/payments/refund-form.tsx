// The form for a refund: amount and reason, then a confirmation.

import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Paid, RefundRequest, RefundResult, Transaction } from '../../libraries/api/types.ts'
import { SessionEnd } from '../frame/session-end.tsx'
import { Dialog, Field, Form, useOnce } from '../ui/elements.tsx'
import { amountProblem, amountText, money, parseAmount } from './format.ts'
import { failureText, keyedPost } from './requests.ts'

interface RefundFormProps {
  transaction: Transaction
  /** The refundable amount. */
  left: Paid
  /** The gateway supports full refunds only. */
  isWhole: boolean
  onDone(): void
}

export function RefundForm({ onDone, ...about }: RefundFormProps) {
  const [state, setState] = useState<'closed' | 'open' | 'done'>('closed')
  // Elements behind the dialog can get the focus only after it has closed.
  useLayoutEffect(() => {
    if (state !== 'done') return
    setState('closed')
    onDone()
  }, [state, onDone])
  return (
    <>
      <button type="button" class="quiet small" onClick={() => setState('open')}>
        Refund…
      </button>
      {state === 'open' && (
        <Dialog title={`Refund ${about.transaction.reference}`} onClose={() => setState('closed')}>
          <SessionEnd />
          <Steps {...about} onDone={() => setState('done')} />
        </Dialog>
      )}
    </>
  )
}

function Steps({ transaction, left, isWhole, onDone }: RefundFormProps) {
  const { gateway, id: transactionId } = transaction
  const { currency } = left
  const [amount, setAmount] = useState(amountText(left.amount, currency))
  const [reason, setReason] = useState('')
  const [confirmed, setConfirmed] = useState<RefundRequest>()
  const [problem, setProblem] = useState<string>()
  const refund = useMemo(() => keyedPost<RefundResult>('/refunds', () => crypto.randomUUID()), [])
  const most = money(left.amount, currency)

  const next = () => {
    const minor = parseAmount(amount, currency)
    if (minor === undefined) setProblem(amountProblem(currency))
    else if (minor > left.amount) setProblem(`At most ${most} can be refunded.`)
    else if (reason.trim() === '') setProblem('Enter a reason.')
    else {
      setProblem(undefined)
      // A full refund names the charged amount, even if a different amount was paid.
      const asked = isWhole ? transaction.amount : minor
      setConfirmed({ gateway, transactionId, amount: asked, reason: reason.trim() })
    }
  }
  if (confirmed) {
    return (
      <Confirm
        amount={isWhole ? most : money(confirmed.amount, currency)}
        gateway={gateway}
        problem={problem}
        onBack={() => {
          setProblem(undefined)
          setConfirmed(undefined)
        }}
        submit={() =>
          refund(confirmed).then(onDone, (refusal: unknown) => setProblem(failureText(refusal)))
        }
      />
    )
  }
  return (
    <Form onSubmit={next}>
      {isWhole ? (
        <p>
          {gateway} supports full refunds only. The full amount of {most} is refunded.
        </p>
      ) : (
        <Field
          label={`Amount in ${currency}`}
          hint={`${most} can be refunded.`}
          inputMode="decimal"
          autocomplete="off"
          required
          value={amount}
          onText={setAmount}
        />
      )}
      <Field label="Reason" required maxLength={500} value={reason} onText={setReason} />
      <p role="alert" class="problem-line">
        {problem}
      </p>
      <button type="submit">Continue</button>
    </Form>
  )
}

interface ConfirmProps {
  amount: string
  gateway: string
  problem: string | undefined
  onBack(): void
  submit(): Promise<void>
}

function Confirm({ amount, gateway, problem, onBack, submit }: ConfirmProps) {
  const { isWorking, run } = useOnce(submit)
  return (
    <div class="confirm">
      <p>
        {gateway} will refund {amount} to the payer. This cannot be undone.
      </p>
      <p role="alert" class="problem-line">
        {problem}
      </p>
      <div class="row actions">
        <button type="button" class="quiet" onClick={onBack} aria-disabled={isWorking}>
          Back
        </button>
        <button
          type="button"
          class="danger"
          // The focused button of the previous step is gone, so this one gets the focus.
          ref={(button) => button?.focus()}
          aria-disabled={isWorking}
          onClick={run}
        >
          {isWorking ? 'Refunding…' : `Refund ${amount}`}
        </button>
      </div>
    </div>
  )
}
