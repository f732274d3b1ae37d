// The form for a refund: amount and reason, then a confirmation.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Paid, RefundRequest, Transaction } from '../../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { failureText, IdempotencyKey, isRefusal, refund } from '../api.ts'
import { amountText, money, parseAmount } from '../money-text.ts'
import { paymentWords } from '../words.ts'

interface RefundFormProps {
  transaction: Transaction
  /** The refundable amount. */
  left: Paid
  /** The gateway supports full refunds only. */
  isWhole: boolean
  onDone(): void
}

export function RefundForm({ onDone, ...about }: RefundFormProps) {
  const { refund: texts } = paymentWords
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
        {texts.open}
      </button>
      {state === 'open' && (
        <Dialog title={texts.title(about.transaction.reference)} onClose={() => setState('closed')}>
          <Steps {...about} onDone={() => setState('done')} />
        </Dialog>
      )}
    </>
  )
}

function Steps({ transaction, left, isWhole, onDone }: RefundFormProps) {
  const { gateway, id: transactionId } = transaction
  const { currency } = left
  const [given, setGiven] = useState({ amount: amountText(left.amount, currency), reason: '' })
  const [confirmed, setConfirmed] = useState<RefundRequest>()
  const [problem, setProblem] = useState<string>()
  const key = useRef(new IdempotencyKey(() => crypto.randomUUID()))

  const next = () => {
    const amount = parseAmount(given.amount, currency)
    const reason = given.reason.trim()
    const { refund: texts } = paymentWords
    if (amount === undefined || amount > left.amount) setProblem(texts.badAmount)
    else if (reason === '') setProblem(texts.noReason)
    else {
      setProblem(undefined)
      // A full refund names the charged amount, even if a different amount was paid.
      setConfirmed({
        gateway,
        transactionId,
        amount: isWhole ? transaction.amount : amount,
        reason,
      })
    }
  }
  const submit = async (request: RefundRequest) => {
    try {
      await refund(request, key.current.of(request))
      onDone()
    } catch (refusal) {
      if (isRefusal(refusal)) key.current.settle()
      setProblem(failureText(refusal))
    }
  }
  return confirmed ? (
    <Confirm
      amount={money(isWhole ? left.amount : confirmed.amount, currency)}
      gateway={gateway}
      problem={problem}
      onBack={() => {
        setProblem(undefined)
        setConfirmed(undefined)
      }}
      submit={() => submit(confirmed)}
    />
  ) : (
    <Fields {...{ given, gateway, problem, left, isWhole }} onChange={setGiven} onNext={next} />
  )
}

interface Given {
  amount: string
  reason: string
}

interface FieldsProps extends Pick<RefundFormProps, 'left' | 'isWhole'> {
  given: Given
  gateway: string
  problem: string | undefined
  onChange(given: Given): void
  onNext(): void
}

function Fields({ given, gateway, left, isWhole, problem, onChange, onNext }: FieldsProps) {
  const { refund: texts } = paymentWords
  const ids = { amount: useId(), left: useId(), reason: useId() }
  const most = money(left.amount, left.currency)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onNext()
      }}
    >
      {isWhole ? (
        <p>{texts.whole(most, gateway)}</p>
      ) : (
        <>
          <label for={ids.amount}>{texts.amount(left.currency)}</label>
          <input
            id={ids.amount}
            inputMode="decimal"
            autocomplete="off"
            required
            aria-describedby={ids.left}
            value={given.amount}
            onInput={(event) => onChange({ ...given, amount: event.currentTarget.value })}
          />
          <p class="hint" id={ids.left}>
            {texts.left(most)}
          </p>
        </>
      )}
      <label for={ids.reason}>{texts.reason}</label>
      <input
        id={ids.reason}
        required
        maxLength={500}
        value={given.reason}
        onInput={(event) => onChange({ ...given, reason: event.currentTarget.value })}
      />
      <p role="alert" class="problem-line">
        {problem}
      </p>
      <button type="submit">{texts.next}</button>
    </form>
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
  const { refund: texts } = paymentWords
  const [isWorking, setWorking] = useState(false)
  // The state changes with the next render, and a double click is faster.
  const isAsking = useRef(false)
  const press = async () => {
    if (isAsking.current) return
    isAsking.current = true
    setWorking(true)
    await submit()
    isAsking.current = false
    setWorking(false)
  }
  return (
    <div class="confirm">
      <p>{texts.confirm(amount, gateway)}</p>
      <p role="alert" class="problem-line">
        {problem}
      </p>
      <div class="actions">
        <button type="button" class="quiet" onClick={onBack} aria-disabled={isWorking}>
          {texts.back}
        </button>
        <button
          type="button"
          class="danger"
          // The focused button of the previous step is gone, so this one gets the focus.
          ref={(button) => button?.focus()}
          aria-disabled={isWorking}
          onClick={() => void press()}
        >
          {isWorking ? texts.working : texts.submit(amount)}
        </button>
      </div>
    </div>
  )
}
