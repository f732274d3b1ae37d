import { expect, it } from 'vitest'
import { sqliteBoardStore } from '../../../worker/board/board-store-sqlite.ts'
import { sqliteClaimStore } from '../../../worker/board/claim-store-sqlite.ts'
import { createBoardTables } from '../../../worker/board/open-repository-sqlite.ts'
import { Presence } from '../../../worker/board/presence.ts'
import { type Query, Reads } from '../../../worker/board/reads.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import { sessionRecord, taskRecord } from '../../support/edge.ts'

it.each<Query>([
  { kind: 'tasks', filter: {} },
  { kind: 'sessions', filter: {} },
])('reads no row for a list that a client has already: $kind', (query) => {
  const sql = openSql(':memory:')
  createBoardTables(sql)
  const store = sqliteBoardStore(sql, 'epoch1')
  store.put([taskRecord('A-1'), sessionRecord('ses_1')], 1)
  store.save({ ...store.state(), published: true })
  const reads = new Reads(store, new Presence(store, sqliteClaimStore(sql), () => []))
  const host = { streams: 0, awakeSince: '', now: '' }
  const first = reads.answer(query, host, undefined)
  if (first.state !== 'found') throw new Error(`it is ${first.state}`)
  for (const table of ['tasks', 'sessions']) sql.all(`DROP TABLE ${table}`)
  const again = reads.answer(query, host, first.etag)
  expect(again).toMatchObject({ state: 'unchanged', etag: first.etag })
})
