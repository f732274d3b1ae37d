import { describe, expect, it } from 'vitest'
import { createBoardTables } from '../../../worker/board/open-repository-sqlite.ts'
import { sqliteSpentIds } from '../../../worker/board/spent-ids-sqlite.ts'
import { openSql } from '../../../worker/board/sql-node.ts'

function opened() {
  const sql = openSql(':memory:')
  createBoardTables(sql)
  return { sql, ids: sqliteSpentIds(sql) }
}

describe('spent ids', () => {
  it('are spent once each, also when the database is opened again', () => {
    const { sql, ids } = opened()
    expect(ids.spend('a', 1_000, 0)).toBe(true)
    expect(ids.spend('a', 1_000, 1)).toBe(false)
    expect(ids.spend('b', 1_000, 1)).toBe(true)
    createBoardTables(sql)
    expect(sqliteSpentIds(sql).spend('a', 1_000, 999)).toBe(false)
  })

  it('are forgotten when they would be refused anyway', () => {
    const { sql, ids } = opened()
    ids.spend('a', 1_000, 0)
    ids.spend('b', 5_000, 1_000)
    expect(sql.all('SELECT id FROM spent_ids')).toEqual([{ id: 'b' }])
  })
})
