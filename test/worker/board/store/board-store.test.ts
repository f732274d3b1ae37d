// The contract of a board’s tables in SQLite of the process.

import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  BOARD_SCHEMA,
  createBoardTables,
} from '../../../../worker/board/repository/board-tables-sqlite.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { boardStoreContract } from '../../../contract/board-store.ts'

boardStoreContract('node:sqlite', async (use) => {
  const sql = openSql(':memory:')
  use(sql)
  sql.close()
})

it('the tables of a board have another number when they are others', () => {
  const sql = openSql(':memory:')
  createBoardTables(sql)
  const rows = sql.all<{ sql: string }>(
    'SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name',
  )
  const text = rows.map((row) => row.sql.replaceAll(/\s+/g, ' ')).join('\n')
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  // A change of a table raises BOARD_SCHEMA. Then both stand here.
  expect([BOARD_SCHEMA, digest]).toEqual([6, 'ce4df295d748'])
})
