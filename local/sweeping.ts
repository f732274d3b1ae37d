// The cron of a local system: it calls the edge as Cloudflare does every minute.

export interface Sweeping {
  /** Of the edge. */
  edge: string
  /** Of the scope payments:write. */
  token: string
  fetch: typeof fetch
  /** Calls back once after `ms`, and keeps no process alive for it. */
  after(ms: number, call: () => void): () => void
  /** Ends it. */
  signal: AbortSignal
}

/** Shorter than the minute of a deployment, since a user who tries things out is waiting. */
export const LOCAL_SWEEP_EVERY_MS = 10_000
/** Longer than a sweep takes; one that hangs must not end all that follow. */
const PATIENCE_MS = 60_000

/**
 * Asks again and again, never twice at once. Quiet: an edge that is away is the supervisor's to
 * tell, and what a sweep found stands in the edge's own log.
 */
export function startSweeping({ edge, token, fetch, after, signal }: Sweeping): void {
  const sweep = async () => {
    const answer = await fetch(`${edge}/api/payments/sweep`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    await answer.body?.cancel()
  }
  const next = () => {
    if (signal.aborted) return
    const cancel = after(LOCAL_SWEEP_EVERY_MS, () => {
      signal.removeEventListener('abort', cancel)
      void sweep().then(next, next)
    })
    signal.addEventListener('abort', cancel, { once: true })
  }
  next()
}

/** A timer of the host that does not keep its process alive. */
export function unrefAfter(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
