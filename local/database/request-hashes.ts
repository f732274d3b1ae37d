// What SQL cannot compute for the migration to schema 2.

import {
  type Row,
  type Statement,
  statement,
} from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { requestHash } from '../../worker/shared/sha256.ts'

/** The hashes that differ from the stored ones, by the transactions' ids, as JSON. */
export async function requestHashes(
  run: (statements: readonly Statement[]) => Promise<Row[][]>,
  part: { after: string; upto: string },
): Promise<string> {
  const [rows = []] = await run([
    statement(
      `SELECT id, request, request_hash FROM payment_transactions
        WHERE id > :after AND id <= :upto AND request IS NOT NULL`,
      part,
    ),
  ])
  const hashes = await Promise.all(
    rows.map(async ({ id, request, request_hash }) => {
      const hash = await requestHash(JSON.parse(String(request)) as object)
      return hash === request_hash ? [] : [[String(id), hash] as const]
    }),
  )
  return JSON.stringify(Object.fromEntries(hashes.flat()))
}
