import { sqliteDirectory } from '../../../worker/board/directory-sqlite.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import { openSqlite } from '../../../worker/shared/sqlite-libsql.ts'
import { boundContract, directoryContract } from '../../contract/directory.ts'

for (const [name, open] of [
  ['node:sqlite', openSql],
  ['libSQL', openSqlite],
] as const) {
  directoryContract(name, async () => sqliteDirectory(open(':memory:')))
  boundContract(name, (test) => test(open(':memory:')))
}
