import { openSql } from '../../../worker/board/sql-node.ts'
import { boardStoreContract } from '../../contract/board-store.ts'

boardStoreContract('node:sqlite', async (use) => {
  const sql = openSql(':memory:')
  use(sql)
  sql.close()
})
