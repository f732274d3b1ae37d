// Keyboard shortcuts, and the focus when the focused element disappears.

import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Calls `act` for a key press anywhere on the page, except in a field or below a dialog. `key` is
 * `KeyboardEvent.key`. Active from the render on that shows what the key is for.
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

/**
 * When a render removes the focused element within `of`, the browser moves the focus to the top of
 * the page. This moves it to the next item (`data-item`) instead, else to the previous one, else to
 * the heading. The whole item gets the focus, not its button: a second press of Enter would trigger
 * an action that the user did not choose. It runs before the browser paints, so the focus is never
 * lost, even for a moment.
 */
export function useFocusFallback(of: RefObject<HTMLElement>): void {
  const { activeElement } = document
  // Read before the render changes the document.
  const focused = of.current?.contains(activeElement) ? activeElement : null
  const items = focused ? [...(of.current?.querySelectorAll<HTMLElement>('[data-item]') ?? [])] : []
  useLayoutEffect(() => {
    if (!focused || focused.isConnected) return
    const at = items.findIndex((item) => item.contains(focused))
    const others = at < 0 ? [] : [...items.slice(at + 1), ...items.slice(0, at).reverse()]
    const neighbour = others.find((item) => item.isConnected)
    const heading = of.current?.querySelector<HTMLElement>('h1[tabindex], h2[tabindex]')
    const next = neighbour ?? heading
    next?.focus()
  })
}
