// What several views use: lists of facts, forms, and the modal dialog.

import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

/** One without a value is omitted. */
export type Fact = readonly [name: string, value: ComponentChildren]

export function Facts({ class: className, of }: { class: string; of: readonly Fact[] }) {
  return (
    <dl class={className}>
      {/* Two facts may have one name: a payment's metadata are any. */}
      {of.map(
        ([name, value], at) =>
          !EMPTY.includes(value) && (
            <div key={at}>
              <dt class="hint">{name}</dt> <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

const EMPTY: readonly unknown[] = [undefined, null, false, '']

/** What stands in its head, and a class: `number` for figures, which stand to the right. */
export type Column = readonly [name: ComponentChildren, className?: string]

export const TableHead = ({ class: ofHead, of }: { class?: string; of: readonly Column[] }) => (
  <thead class={ofHead}>
    <tr>
      {of.map(([name, ofColumn], at) => (
        <th key={at} scope="col" class={ofColumn}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
)

interface FormProps {
  class?: string
  onSubmit(): unknown
  children: ComponentChildren
}

/** The page itself sends: the browser would load another one. */
export const Form = ({ class: className, onSubmit, children }: FormProps) => (
  <form
    class={className}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    {children}
  </form>
)

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string
  hint?: string
  onText(text: string): void
}

export function Field({ label, hint, onText, ...input }: FieldProps) {
  const id = useId()
  const hintId = useId()
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        aria-describedby={hint && hintId}
        onInput={(event) => onText(event.currentTarget.value)}
        {...input}
      />
      {hint && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </>
  )
}

interface SelectProps {
  label: string
  /** Otherwise only screen readers get the label. */
  isLabelled?: boolean
  class?: string | undefined
  value: string
  options: readonly (readonly [value: string, text: string])[]
  onText(value: string): void
}

export function Select({ label, isLabelled, options, onText, ...select }: SelectProps) {
  const id = useId()
  return (
    <>
      <label for={id} class={isLabelled ? undefined : 'visually-hidden'}>
        {label}
      </label>
      <select id={id} onChange={(event) => onText(event.currentTarget.value)} {...select}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </>
  )
}

/** `run` does nothing while the action runs: a double click is faster than the next render. */
export function useOnce(act: () => Promise<void>): { isWorking: boolean; run(): void } {
  const [isWorking, setWorking] = useState(false)
  const isRunning = useRef(false)
  const run = async () => {
    if (isRunning.current) return
    isRunning.current = true
    setWorking(true)
    try {
      await act()
    } finally {
      isRunning.current = false
      setWorking(false)
    }
  }
  return { isWorking, run: () => void run() }
}

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose(): void
}

/** The browser keeps the focus inside, restores it, and closes on Esc. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={heading} onClose={onClose}>
      <header>
        <h2 id={heading}>{title}</h2>
        <CloseButton onClose={() => dialog.current?.close()} />
      </header>
      {children}
    </dialog>
  )
}

export function CloseButton({ onClose }: { onClose(): void }) {
  return (
    <button type="button" class="close" aria-label="Close" onClick={onClose}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M3 3l10 10M13 3L3 13" />
      </svg>
    </button>
  )
}
