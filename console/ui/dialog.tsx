// A form on top of the view. The browser keeps the focus inside, gives it back, and closes by Esc.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { CloseButton } from './close-button.tsx'

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
