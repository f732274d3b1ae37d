// What is used of the host beyond fetch and timers, where it is there: a page has all of it, a
// program none. Spelled out here, since no host's types fit all the others.

interface EventHost {
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

interface Host extends Partial<EventHost> {
  location?: { origin: string }
  document?: EventHost & { visibilityState: string }
  reportError?(error: unknown): void
}

export const host = globalThis as unknown as Host

/** Of the page; undefined outside of one, and for a page from a file. */
export function pageOrigin(): string | undefined {
  const origin = host.location?.origin
  return origin === 'null' ? undefined : origin
}

/** Comings and goings of a page. */
export interface Lifecycle {
  /** It is looked at again, or has a network again, or was brought back from the history. */
  wake(): void
  /** It is left, for good or for the history, where nothing may be held. */
  sleep(): void
}

/** The result stops it. */
export function followLifecycle({ wake, sleep }: Lifecycle): () => void {
  const { document } = host
  if (!document) return () => undefined
  const seen = () => {
    if (document.visibilityState === 'visible') wake()
  }
  document.addEventListener('visibilitychange', seen)
  for (const type of ['online', 'pageshow']) host.addEventListener?.(type, wake)
  host.addEventListener?.('pagehide', sleep)
  return () => {
    document.removeEventListener('visibilitychange', seen)
    for (const type of ['online', 'pageshow']) host.removeEventListener?.(type, wake)
    host.removeEventListener?.('pagehide', sleep)
  }
}

/** For what a caller's own callback threw: loud, and none of our business. */
export function report(error: unknown): void {
  if (host.reportError) host.reportError(error)
  else {
    queueMicrotask(() => {
      throw error
    })
  }
}
