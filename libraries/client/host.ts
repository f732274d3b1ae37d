// Optional features of the host beyond fetch and timers: a page has all of them, a program none.
// The types are our own, since no host's types fit all the others.

interface EventHost {
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

interface Host extends Partial<EventHost> {
  location?: { origin: string }
  document?: EventHost & { visibilityState: string }
  reportError?(error: unknown): void
}

const host = globalThis as unknown as Host

/** Undefined outside of a page, and for a page opened from a file. */
export function pageOrigin(): string | undefined {
  const origin = host.location?.origin
  return origin === 'null' ? undefined : origin
}

/** A page follows a redirect: its browser shows no other answer of one. */
export const isPage = (): boolean => host.document !== undefined

/** A program is always visible. */
export const isVisible = (): boolean => host.document?.visibilityState !== 'hidden'

/** When a page becomes active or inactive. */
export interface Lifecycle {
  /** The page is visible again, is online again, or came back from the history. */
  wake(): void
  /** The page is hidden: another tab is in front of it, or its window is minimized. */
  hide(): void
  /** The user leaves the page. It may stay in the history, where it must hold no connection. */
  sleep(): void
}

/** The returned function stops it. */
export function followLifecycle({ wake, hide, sleep }: Lifecycle): () => void {
  const { document } = host
  if (!document) return () => undefined
  const onVisibility = () => {
    if (document.visibilityState === 'visible') wake()
    else hide()
  }
  document.addEventListener('visibilitychange', onVisibility)
  for (const type of ['online', 'pageshow']) host.addEventListener?.(type, wake)
  host.addEventListener?.('pagehide', sleep)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    for (const type of ['online', 'pageshow']) host.removeEventListener?.(type, wake)
    host.removeEventListener?.('pagehide', sleep)
  }
}

/** Reports an error that a callback of the caller threw. It must be visible, but not stop us. */
export function report(error: unknown): void {
  if (host.reportError) host.reportError(error)
  else {
    queueMicrotask(() => {
      throw error
    })
  }
}
