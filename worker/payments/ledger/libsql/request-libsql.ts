// A request to libSQL's server, and which failures are worth another try.

import { LibsqlError } from '@libsql/client/web'
import { LedgerUnavailable } from '../ledger.ts'

/** There was no answer, or none of a database: whether anything was written is unknown. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable'
  readonly code = 'database_unreachable'
}

/**
 * Errors that the same statements need not meet again. Over HTTP there is no extended code, and an
 * error of the disk is the server's, not the payload's.
 */
export function isTransient(error: unknown): boolean {
  // No JSON comes from something in between, which answers while the server does not.
  if (error instanceof DatabaseUnreachable || error instanceof SyntaxError) return true
  if (!(error instanceof LibsqlError)) return false
  return (
    /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL)|TRANSACTION_|STREAM_|HRANA_)/.test(
      error.code,
    ) || /database (table )?is locked/.test(error.message)
  )
}

/** Rejects with LedgerUnavailable where the database was out of reach. */
export async function reachable<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work
  } catch (cause) {
    if (!isTransient(cause)) throw cause
    throw new LedgerUnavailable('the database did not answer', { cause })
  }
}

/** Reads the body as well, so that all that the network can do to a call happens in here. */
export function fetchUntil(signal: AbortSignal): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const response = await fetch(request, { signal })
      const body = await response.text()
      const { status, headers } = response
      if (status >= 500 || status === 408 || status === 429) {
        throw new DatabaseUnreachable(`it answered ${status}`)
      }
      return new Response(body, {
        status,
        headers: { 'content-type': headers.get('content-type') ?? '' },
      })
    } catch (cause) {
      if (cause instanceof DatabaseUnreachable) throw cause
      throw new DatabaseUnreachable('the database did not answer', { cause })
    }
  }
}
