// One request to somebody else, and what came of it, as data. Follows no redirect, since it may
// carry a token.

const TIMEOUT_MS = 10_000
/** More is no word of ours; it is read to its end, so that the connection is free again. */
const SHOWN_CHARS = 80

export type Answer =
  | {
      ok: true
      status: number
      text: string
      /** How far the other clock is ahead of ours; undefined: it does not tell. */
      skewMs: number | undefined
    }
  /** Nobody answered; `why` is short and without what was sent. */
  | { ok: false; why: string }

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const sentAt = Date.now()
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const skewMs = skewOf(response.headers, sentAt, Date.now())
    return { ok: true, status: response.status, text: await response.text(), skewMs }
  } catch (error) {
    return { ok: false, why: signal.aborted ? `not in ${TIMEOUT_MS / 1_000} s` : whyOf(error) }
  }
}

/** The first line of an answer, as far as it is worth showing. */
export const wordOf = (text: string): string => {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}

/** The Date header counts whole seconds, and was written some time between the two. */
function skewOf(headers: Headers, sentAt: number, receivedAt: number): number | undefined {
  // A cache answers with the date of what it keeps.
  const ageMs = Number(headers.get('age') ?? 0) * 1_000
  const theirs = Date.parse(headers.get('date') ?? '') + ageMs + 500
  return Number.isNaN(theirs) ? undefined : theirs - (sentAt + receivedAt) / 2
}

/** fetch says only that it failed; the reason is its cause, and may be several. */
function whyOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  if (first instanceof Error && 'code' in first) return String(first.code)
  return first instanceof Error ? first.message : String(first)
}
