import { expect, it } from 'vitest'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import { matchesTag, type Query } from '../../../../worker/board/repository/reads.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { boardStoreOver } from '../../../support/board-store.ts'
import { sessionRecord, taskRecord } from '../../../support/edge.ts'

const HOST = { streams: 0, awakeSince: '', now: '' }

function published() {
  const sql = openSql(':memory:')
  const { reads } = openRepository(sql)
  const store = boardStoreOver(sql, 'epoch1')
  store.save({ ...store.state(), published: true })
  return { sql, store, reads }
}

it.each<Query>([
  { kind: 'tasks', filter: {} },
  { kind: 'sessions', filter: {} },
])('reads no row for a list that a client has already: $kind', (query) => {
  const { sql, store, reads } = published()
  store.put([taskRecord('A-1'), sessionRecord('ses_1')], 1)
  const first = reads.answer(query, HOST, undefined)
  if (first.state !== 'found') throw new Error(`it is ${first.state}`)
  for (const table of ['tasks', 'sessions']) sql.all(`DROP TABLE ${table}`)
  const again = reads.answer(query, HOST, first.etag)
  expect(again).toMatchObject({ state: 'unchanged', etag: first.etag })
})

it('reads a long list in pages, and sends it in pieces of some 64 KiB as they are asked for', async () => {
  const { reads, store } = published()
  const ids = Array.from({ length: 1_001 }, (_, n) => `A-${String(n).padStart(4, '0')}`)
  const title = 'x'.repeat(200)
  store.put(
    ids.map((id) => taskRecord(id, { title })),
    1,
  )
  const found = reads.answer({ kind: 'tasks', filter: {} }, HOST, undefined)
  if (found.state !== 'found') throw new Error(found.state)
  const sizes: number[] = []
  let text = ''
  for await (const bytes of found.body) {
    sizes.push(bytes.length)
    text += new TextDecoder().decode(bytes)
  }
  expect(JSON.parse(text).tasks.map(({ id }: { id: string }) => id)).toEqual(ids)
  const [last, ...others] = sizes.toReversed()
  expect(others.length).toBeGreaterThan(2)
  for (const size of others) {
    expect(size).toBeGreaterThanOrEqual(64 << 10)
    expect(size).toBeLessThan(65 << 10)
  }
  expect(last).toBeLessThan(65 << 10)
})

it.each([
  ['"a"', true],
  ['W/"b", W/"a"', true],
  [' * ', true],
  ['"b"', false],
])('a client with %j has the answer with the tag W/"a": %j', (header, has) => {
  expect(matchesTag(header, 'W/"a"')).toBe(has)
})
