// A refund: how much and why, then once more whether it is meant.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Paid, RefundRequest } from '../../../worker/payments/domain/transaction.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { words } from '../../words.ts'
import { IdempotencyKey, isRefusal, refund, sayFailure } from '../api.ts'
import type { TransactionStory } from '../feed/reads.ts'
import { money, readTyped, typed } from '../money-text.ts'

interface RefundFormProps {
  story: TransactionStory
  /** What can still be given back. */
  left: Paid
  /** The gateway gives back all of it or nothing. */
  isWhole: boolean
  onDone(): void
}

export function RefundForm({ onDone, ...about }: RefundFormProps) {
  const { refund: say } = words.payments
  const [state, setState] = useState<'closed' | 'open' | 'done'>('closed')
  // Only when the dialog is gone can anything behind it have the focus.
  useLayoutEffect(() => {
    if (state !== 'done') return
    setState('closed')
    onDone()
  }, [state, onDone])
  return (
    <>
      <button type="button" class="quiet small" onClick={() => setState('open')}>
        {say.open}
      </button>
      {state === 'open' && (
        <Dialog title={say.title(about.story.reference)} onClose={() => setState('closed')}>
          <Steps {...about} onDone={() => setState('done')} />
        </Dialog>
      )}
    </>
  )
}

function Steps({ story, left, isWhole, onDone }: RefundFormProps) {
  const { gateway, id: transactionId } = story
  const { currency } = left
  const [given, setGiven] = useState({ amount: typed(left.amount, currency), reason: '' })
  const [meant, setMeant] = useState<RefundRequest>()
  const [problem, setProblem] = useState<string>()
  const key = useRef(new IdempotencyKey(() => crypto.randomUUID()))

  const goOn = () => {
    const amount = readTyped(given.amount, currency)
    const reason = given.reason.trim()
    const { refund: say } = words.payments
    if (amount === undefined || amount > left.amount) setProblem(say.badAmount)
    else if (reason === '') setProblem(say.noReason)
    else {
      setProblem(undefined)
      // All of it is asked for by what was charged, whatever came in.
      setMeant({ transactionId, amount: isWhole ? story.amount : amount, reason })
    }
  }
  const give = async (request: RefundRequest) => {
    const asked = { gateway, ...request }
    try {
      await refund(asked, key.current.of(asked))
      onDone()
    } catch (refusal) {
      if (isRefusal(refusal)) key.current.settle()
      setProblem(sayFailure(refusal))
    }
  }
  return meant ? (
    <Confirm
      amount={money(isWhole ? left.amount : meant.amount, currency)}
      gateway={gateway}
      problem={problem}
      onBack={() => {
        setProblem(undefined)
        setMeant(undefined)
      }}
      give={() => give(meant)}
    />
  ) : (
    <Fields {...{ given, gateway, problem, left, isWhole }} onChange={setGiven} onNext={goOn} />
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
  const { refund: say } = words.payments
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
        <p>{say.whole(most, gateway)}</p>
      ) : (
        <>
          <label for={ids.amount}>{say.amount(left.currency)}</label>
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
            {say.left(most)}
          </p>
        </>
      )}
      <label for={ids.reason}>{say.reason}</label>
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
      <button type="submit">{say.next}</button>
    </form>
  )
}

interface ConfirmProps {
  amount: string
  gateway: string
  problem: string | undefined
  onBack(): void
  give(): Promise<void>
}

function Confirm({ amount, gateway, problem, onBack, give }: ConfirmProps) {
  const { refund: say } = words.payments
  const [isWorking, setWorking] = useState(false)
  // State arrives with the next drawing; a double click is quicker.
  const isAsking = useRef(false)
  const press = async () => {
    if (isAsking.current) return
    isAsking.current = true
    setWorking(true)
    await give()
    isAsking.current = false
    setWorking(false)
  }
  return (
    <div class="confirm">
      <p>{say.confirm(amount, gateway)}</p>
      <p role="alert" class="problem-line">
        {problem}
      </p>
      <div class="actions">
        <button type="button" class="quiet" onClick={onBack} aria-disabled={isWorking}>
          {say.back}
        </button>
        <button
          type="button"
          class="danger"
          // The step before has had the focus, and its button is gone.
          ref={(button) => button?.focus()}
          aria-disabled={isWorking}
          onClick={() => void press()}
        >
          {isWorking ? say.working : say.submit(amount)}
        </button>
      </div>
    </div>
  )
}
