// Keys that do something wherever the focus is, unless they are being typed.

import { useEffect } from 'preact/hooks'

/** `key` as KeyboardEvent names it. Not while a field or a dialog has the focus. */
export function useKey(key: string, act: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey) return
      const { target } = event
      if (target instanceof Element && target.closest('input, select, textarea, dialog')) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [key, act])
}
