// A text with a button to copy it.

import { useState } from 'preact/hooks'

/** `what`: the name of the text, for screen readers. */
export function Copyable({ text, what }: { text: string; what: string }) {
  const [message, setMessage] = useState<string>()
  const copy = async () => {
    // There is no clipboard over plain HTTP, and the user may forbid its use.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setMessage(done ? 'Copied' : 'Not copied: the browser does not allow it.')
    setTimeout(() => setMessage(undefined), SHOWN_MS)
  }
  return (
    <span class="copyable">
      <code>{text}</code>
      <button type="button" class="icon" aria-label={`Copy: ${what}`} onClick={() => void copy()}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z" />
        </svg>
      </button>
      <span role="status" class="hint">
        {message}
      </span>
    </span>
  )
}

const SHOWN_MS = 2_000
