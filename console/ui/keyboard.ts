// Keyboard shortcuts, and the focus when the focused element disappears.

import type { RefObject } from 'preact'
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

/**
 * Gives the focus on as soon as what had it within `of` is gone with a drawing: to the item
 * (`data-item`) after its own, else the one before, else the heading. To the whole item, not to its
 * button: a second press of Enter would do there what nobody meant. It happens before the browser
 * shows the drawing, so there is no moment in which a key leads nowhere.
 */
export function useKeptPlace(of: RefObject<HTMLElement>): void {
  const { activeElement } = document
  // Read while what stood before still stands.
  const focused = of.current?.contains(activeElement) ? activeElement : null
  const items = focused ? [...(of.current?.querySelectorAll<HTMLElement>('[data-item]') ?? [])] : []
  useLayoutEffect(() => {
    if (!focused || focused.isConnected) return
    const at = items.findIndex((item) => item.contains(focused))
    const others = at < 0 ? [] : [...items.slice(at + 1), ...items.slice(0, at).reverse()]
    const heir = others.find((item) => item.isConnected)
    const heading = of.current?.querySelector<HTMLElement>('h1[tabindex], h2[tabindex]')
    const next = heir ?? heading
    next?.focus()
  })
}
