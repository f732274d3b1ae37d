// Keys that do something wherever the focus is, unless they are being typed.

import { useLayoutEffect } from 'preact/hooks'

/**
 * `key` as KeyboardEvent names it. Not while a field has the focus, nor under a dialog. It works
 * from the drawing on that shows what it is for.
 */
export function useKey(key: string, act: () => void): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey) return
      const isTyping = document.activeElement?.matches('input, select, textarea')
      if (isTyping || document.querySelector('dialog[open]')) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [key, act])
}
