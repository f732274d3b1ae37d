// One HTTP request and its result, as data. It follows no redirect, since it may have a token.

const TIMEOUT_MS = 10_000
/** Our own answers are shorter. The rest is still read, so that the connection is free again. */
const MAX_SHOWN_CHARS = 80

export type Answer =
  | {
      ok: true
      status: number
      text: string
      /** How far the other clock is ahead of ours; undefined: there is no Date header. */
      skewMs: number | undefined
    }
  /** No answer. `why` is short, and contains no part of the request. */
  | { ok: false; why: string }

export async function ask(
  url: string,
  init: RequestInit = {},
  timeoutMs = TIMEOUT_MS,
): Promise<Answer> {
  const sentAt = Date.now()
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const skewMs = skewOf(response.headers, sentAt, Date.now())
    return { ok: true, status: response.status, text: await response.text(), skewMs }
  } catch (error) {
    return {
      ok: false,
      why: signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : whyOf(error),
    }
  }
}

/** The first line of an answer, cut if it is long. */
export const firstLineOf = (text: string): string => {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}…` : line
}

/** The Date header has whole seconds and a time between `sentAt` and `receivedAt`. */
function skewOf(headers: Headers, sentAt: number, receivedAt: number): number | undefined {
  // A cache sends the date of the cached answer, and its age.
  const ageMs = Number(headers.get('age') ?? 0) * 1_000
  const theirs = Date.parse(headers.get('date') ?? '') + ageMs + 500
  return Number.isNaN(theirs) ? undefined : theirs - (sentAt + receivedAt) / 2
}

/** fetch reports only that it failed; the reason is in its cause, which may have several errors. */
function whyOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  if (first instanceof Error && 'code' in first) return String(first.code)
  return first instanceof Error ? first.message : String(first)
}
