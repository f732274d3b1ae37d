// Ids that somebody will paste elsewhere.

import { useState } from 'preact/hooks'
import { Fact } from '../ui/fact.tsx'
import { words } from '../words.ts'

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
