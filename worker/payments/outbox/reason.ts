// Why something of somebody else's failed, in a line that can be stored and logged. Pure.

import { hideTokens } from '../../shared/secrets.ts'

const MOST_CHARS = 500

/** Its cause says more than "fetch failed" does. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${error.cause}` : ''
  return hideTokens(`${error}${cause}`).slice(0, MOST_CHARS)
}
