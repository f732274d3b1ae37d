// A form in a modal dialog. The browser keeps the focus inside, restores it, and closes on Esc.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { words } from '../words.ts'

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose(): void
}

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
    <button type="button" class="close" aria-label={words.close} onClick={onClose}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M3 3l10 10M13 3L3 13" />
      </svg>
    </button>
  )
}
