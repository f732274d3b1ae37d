// A button that does something at the edge, and says beside itself when that did not work.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { problemText } from '../problem-text.ts'

interface ActionButtonProps {
  /** For whoever does not see what it stands beside. */
  label: string
  children: ComponentChildren
  /** What is said when it worked, where it does not show by itself. */
  done?: string
  act(): Promise<void>
}

export function ActionButton({ label, children, done, act }: ActionButtonProps) {
  const [state, setState] = useState<{ name: 'idle' | 'working' | 'done' } | Failed>(IDLE)
  const press = async () => {
    if (state.name === 'working') return
    setState({ name: 'working' })
    try {
      await act()
      setState({ name: 'done' })
    } catch (problem) {
      setState({ name: 'failed', sentence: problemText(problem) })
    }
  }
  return (
    <span class="action">
      <button
        type="button"
        class="quiet small"
        aria-label={label}
        // Not `disabled`: it would lose the focus.
        aria-disabled={state.name === 'working'}
        onClick={() => void press()}
      >
        {children}
      </button>
      <span role="status" class={state.name === 'failed' ? 'problem-line' : 'hint'}>
        {state.name === 'failed' && state.sentence}
        {state.name === 'done' && done}
      </span>
    </span>
  )
}

interface Failed {
  name: 'failed'
  sentence: string
}

const IDLE = { name: 'idle' } as const
