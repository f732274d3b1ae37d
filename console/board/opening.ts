// Opens a task by its link and closes it again. The address bar says which is open, so that a link
// and the back button work.

import { useEffect, useRef } from 'preact/hooks'
import { go, replace, route } from '../router.ts'

export interface Opening {
  /** For the clicks of everything within: those on a link with `data-open` are taken. */
  open(event: MouseEvent): void
  close(): void
}

export function useOpening(): Opening {
  /** How many steps of the history lead back to the bare board. */
  const depth = useRef(0)
  const { id } = route.value
  useEffect(() => {
    if (id === undefined) depth.current = 0
  }, [id])
  return {
    open(event) {
      const wished = linkedTask(event)
      if (wished === undefined) return
      event.preventDefault()
      depth.current++
      go({ view: 'board', id: wished, query: route.peek().query })
    },
    close() {
      // Else the back button would open again what was just closed.
      if (depth.current === 1) history.back()
      else replace({ view: 'board', query: route.peek().query })
    },
  }
}

/** Undefined where the browser should do what it always does, such as open another tab. */
function linkedTask(event: MouseEvent): string | undefined {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey)
  if (!isPlain || !(event.target instanceof Element)) return undefined
  return event.target.closest<HTMLElement>('a[data-open]')?.dataset.open
}
