// Opens a task in front of the view that is shown, and closes it. The open task is in the URL.

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { go, replace, route } from '../router.ts'
import { focusCard } from './card-grid.tsx'

/** `behind`: what stays behind the open task, and has the focus again after it. */
export function useOpening(behind: RefObject<HTMLElement>) {
  /** Steps in the history since the view without an open task. */
  const depth = useRef(0)
  const opener = useRef<HTMLElement>()
  const opened = useRef<string>()
  const { id, view } = route.value
  useEffect(() => {
    const last = opened.current
    opened.current = id
    if (id !== undefined) return
    depth.current = 0
    if (opener.current?.isConnected) opener.current.focus({ preventScroll: true })
    else if (last !== undefined) focusCard(behind.current, last)
    opener.current = undefined
  }, [id])
  return {
    /** Handles clicks on links with `data-open` anywhere in the view. */
    open(event: MouseEvent): void {
      const link = openingLink(event)
      const taskId = link?.dataset.open
      if (!link || taskId === undefined) return
      event.preventDefault()
      // From one task to another, the first link is not what the last one is closed to.
      opener.current = depth.current === 0 ? link : undefined
      depth.current++
      go({ view, id: taskId, query: route.peek().query })
    },
    close(): void {
      // Without this, the back button would open the closed task again.
      if (depth.current === 1) history.back()
      else replace({ view, query: route.peek().query })
    },
  }
}

/** Undefined: leave the click to the browser, such as opening a new tab. */
function openingLink(event: MouseEvent): HTMLElement | undefined {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey)
  if (!isPlain || !(event.target instanceof Element)) return undefined
  return event.target.closest<HTMLElement>('a[data-open]') ?? undefined
}
