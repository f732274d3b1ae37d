// The end of a running system: how it is requested, by signals or the end of npm, and the order in
// which its parts are closed.

/**
 * npm passes on a Ctrl-C that the terminal gave us already, so a second signal that follows this
 * closely is the first one again.
 */
const SAME_SIGNAL_MS = 500
const LOOK_FOR_NPM_MS = 1_000

export interface EndRequests {
  /** The first request. */
  ask(): void
  /** A further one: the user does not want to wait. */
  insist(): void
  /** SIGHUP. Absent: it asks, as a terminal does that closes. */
  reload?(): void
}

/** `script`: the name under which npm runs us, if any. */
export function listenForEnd({ ask, insist, reload }: EndRequests, script?: string): void {
  let first: number | undefined
  const onRequest = () => {
    first ??= performance.now()
    if (performance.now() - first > SAME_SIGNAL_MS) insist()
    else ask()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onRequest)
  process.on('SIGHUP', reload ?? onRequest)

  if (!script?.startsWith('start')) return
  // If npm is killed with SIGKILL, it passes nothing on, and nothing would end us. Only under npm:
  // a start in the background may outlive its shell.
  const npm = process.ppid
  const look = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(look)
    onRequest()
  }, LOOK_FOR_NPM_MS)
  look.unref()
}

/** What was opened, in that order. */
export type Closing = (() => Promise<void>)[]

/** In reverse, since a part may need those before it. */
export async function closeAll(parts: Closing): Promise<void> {
  for (const close of parts.splice(0).toReversed()) await close()
}

/** Resolves when the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
