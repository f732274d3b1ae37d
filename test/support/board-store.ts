// The store of a repository without the repository, with the claims of the same database over it.

import { sqliteBoardStore } from '../../worker/board/board-store-sqlite.ts'
import { overlaysBy } from '../../worker/board/claim-session.ts'
import { sqliteClaimStore } from '../../worker/board/claim-store-sqlite.ts'
import type { Sql } from '../../worker/shared/sql.ts'

export function boardStoreOver(sql: Sql, epoch: string) {
  const claims = sqliteClaimStore(sql)
  return sqliteBoardStore(sql, epoch, (tasks) => overlaysBy(claims, tasks))
}
