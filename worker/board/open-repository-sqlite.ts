// One repository over its SQLite: the core and its reads, ready to be asked.

import { createBoardTables } from './board-schema-sqlite.ts'
import { sqliteBoardStore } from './board-store-sqlite.ts'
import { sqliteChangeLog } from './change-log-sqlite.ts'
import { Reads } from './reads.ts'
import { Repository } from './repository.ts'
import type { SpentIds } from './spent-ids-sqlite.ts'
import { sqliteSpentIds } from './spent-ids-sqlite.ts'
import type { Sql } from './sql.ts'

export interface OpenRepository {
  repository: Repository
  reads: Reads
  spentIds: SpentIds
}

export function openRepository(sql: Sql): OpenRepository {
  createBoardTables(sql)
  // Drawn for a new database only; an old one keeps the epoch that its clients' ids name.
  const epoch = crypto.randomUUID().replaceAll('-', '').slice(0, 12)
  const store = sqliteBoardStore(sql, epoch)
  const log = sqliteChangeLog(sql)
  return {
    repository: new Repository(store, log),
    reads: new Reads(store, log),
    spentIds: sqliteSpentIds(sql),
  }
}
