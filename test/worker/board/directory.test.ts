import { sqliteDirectory } from '../../../worker/board/directory-sqlite.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import { boundContract, directoryContract } from '../../contract/directory.ts'

directoryContract('node:sqlite', async () => sqliteDirectory(openSql(':memory:')))
boundContract('node:sqlite', (test) => test(openSql(':memory:')))
