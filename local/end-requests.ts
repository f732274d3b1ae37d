// How a running start is asked to end: by signals, and by npm's death.

/**
 * npm passes on a Ctrl-C that the terminal gave us already, so a second signal that follows this
 * closely is the first one again.
 */
const SAME_SIGNAL_MS = 500
const LOOK_FOR_NPM_MS = 1_000

export interface EndRequests {
  /** The first request. */
  ask(): void
  /** A further one: whoever sends it does not want to wait. */
  insist(): void
}

/** A terminal that closes (SIGHUP) asks too. `script`: the name under which npm runs us, if any. */
export function listenForEnd({ ask, insist }: EndRequests, script: string | undefined): void {
  let first: number | undefined
  const onRequest = () => {
    first ??= performance.now()
    if (performance.now() - first > SAME_SIGNAL_MS) insist()
    else ask()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onRequest)

  if (!script?.startsWith('start')) return
  // Killed hard, npm passes nothing on, and nobody who knows our pid would be left. Only under npm:
  // a start that somebody put into the background may well outlive its shell.
  const npm = process.ppid
  const look = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(look)
    onRequest()
  }, LOOK_FOR_NPM_MS)
  look.unref()
}
