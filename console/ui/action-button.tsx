// A button that acts at the edge, with the result beside it.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { problemText } from '../data/http.ts'
import { useOnce } from './elements.tsx'

interface ActionButtonProps {
  /** The full label for screen readers. */
  label: string
  children: ComponentChildren
  /** Shown after success, for as long as it is given: while nothing else shows the success. */
  done?: string | undefined
  act(): Promise<unknown>
}

export function ActionButton({ label, children, done, act }: ActionButtonProps) {
  const [result, setResult] = useState<{ problem?: string }>()
  const { isWorking, run } = useOnce(async () => {
    setResult(undefined)
    await act().then(
      () => setResult({}),
      (problem: unknown) => setResult({ problem: problemText(problem) }),
    )
  })
  const hasFailed = result?.problem !== undefined
  return (
    <span class="action">
      <button
        type="button"
        class="quiet small"
        aria-label={label}
        // Not `disabled`: a disabled button loses the focus.
        aria-disabled={isWorking}
        onClick={run}
      >
        {children}
      </button>
      <span role="status" class={hasFailed ? 'problem-line' : 'hint'}>
        {hasFailed ? result.problem : result && done}
      </span>
    </span>
  )
}
