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

/** Calls back when the page comes back from wherever it was. The result stops it. */
export function onWake(call: () => void): () => void {
  const { document } = host
  if (!document) return () => undefined
  const seen = () => {
    if (document.visibilityState === 'visible') call()
  }
  document.addEventListener('visibilitychange', seen)
  for (const type of ['online', 'pageshow']) host.addEventListener?.(type, call)
  return () => {
    document.removeEventListener('visibilitychange', seen)
    for (const type of ['online', 'pageshow']) host.removeEventListener?.(type, call)
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
