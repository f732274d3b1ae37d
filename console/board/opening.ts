// Opens and closes a task. The open task is in the URL, so that links and the back button work.

import { useEffect, useRef } from 'preact/hooks'
import { go, replace, route } from '../router.ts'

export interface Opening {
  /** Handles clicks on links with `data-open` anywhere in the board. */
  open(event: MouseEvent): void
  close(): void
}

export function useOpening(): Opening {
  /** Steps in the history since the board without an open task. */
  const depth = useRef(0)
  const { id } = route.value
  useEffect(() => {
    if (id === undefined) depth.current = 0
  }, [id])
  return {
    open(event) {
      const taskId = linkedTask(event)
      if (taskId === undefined) return
      event.preventDefault()
      depth.current++
      go({ view: 'board', id: taskId, query: route.peek().query })
    },
    close() {
      // Without this, the back button would open the closed task again.
      if (depth.current === 1) history.back()
      else replace({ view: 'board', query: route.peek().query })
    },
  }
}

/** Undefined: leave the click to the browser, such as opening a new tab. */
function linkedTask(event: MouseEvent): string | undefined {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey)
  if (!isPlain || !(event.target instanceof Element)) return undefined
  return event.target.closest<HTMLElement>('a[data-open]')?.dataset.open
}
