// The store of a repository without the repository, with the claims of the same database over it.

import { overlaysBy } from '../../worker/board/claims/claim-session.ts'
import { sqliteClaimStore } from '../../worker/board/claims/claim-store-sqlite.ts'
import { sqliteBoardStore } from '../../worker/board/store/board-store-sqlite.ts'
import type { Sql } from '../../worker/shared/sql.ts'

export function boardStoreOver(sql: Sql, epoch: string) {
  const claims = sqliteClaimStore(sql)
  return sqliteBoardStore(sql, epoch, (tasks) => overlaysBy(claims, tasks))
}
