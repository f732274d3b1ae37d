// Opens a task in front of the view that is shown, and closes it. The open task is in the URL.

import { useEffect, useRef } from 'preact/hooks'
import { go, replace, route } from '../router.ts'

export function useOpening() {
  /** Steps in the history since the view without an open task. */
  const depth = useRef(0)
  const { id, view } = route.value
  useEffect(() => {
    if (id === undefined) depth.current = 0
  }, [id])
  return {
    /** Handles clicks on links with `data-open` anywhere in the view. */
    open(event: MouseEvent): void {
      const taskId = linkedTask(event)
      if (taskId === undefined) return
      event.preventDefault()
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
function linkedTask(event: MouseEvent): string | undefined {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey)
  if (!isPlain || !(event.target instanceof Element)) return undefined
  return event.target.closest<HTMLElement>('a[data-open]')?.dataset.open
}
