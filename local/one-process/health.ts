// GET /healthz: whether this process can do its work, for load balancers and supervisors.

import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import type { Database } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
  SCHEMA_VERSION,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'

export type Readable = Pick<Database, 'read'>

/** What is wrong, as a sentence that everybody may read; undefined: nothing. */
export async function healthOf({ read }: Readable, end: AbortSignal): Promise<string | undefined> {
  if (end.aborted) return 'This process is ending.'
  try {
    // A remote database has another version until it is migrated.
    return mismatchOf(await readSchemaState(read), SCHEMA_VERSION)
  } catch {
    return 'The database of payments cannot be read.'
  }
}

/** The file with one route more, which needs no token. */
export function withHealth(
  file: SignalboxFile,
  check: () => Promise<string | undefined>,
): SignalboxFile {
  return {
    ...file,
    async fetch(request, signalbox) {
      const isHere = new URL(request.url).pathname === '/healthz'
      if (!isHere) return await file.fetch?.(request, signalbox)
      const headers = { 'Cache-Control': 'no-store' }
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return new Response(null, { status: 405, headers })
      }
      const error = await check()
      if (error === undefined) return Response.json({ status: 'ok' }, { headers })
      return Response.json({ status: 'unavailable', error }, { status: 503, headers })
    },
  }
}
