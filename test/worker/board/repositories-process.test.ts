import { expect, it } from 'vitest'
import { processRepositories } from '../../../worker/board/repositories-process.ts'
import { openSql } from '../../../worker/board/sql-node.ts'

it('makes no database for a question about a repository that nobody wrote to', async () => {
  const asked: boolean[] = []
  const repositories = processRepositories({
    openSql: (_path, make) => {
      asked.push(make)
      return make ? openSql(':memory:') : undefined
    },
    now: () => 0,
    maxStreams: 1,
  })
  const unknown = repositories.open('team/unknown')
  const answer = await unknown.read({ kind: 'tasks', filter: {} }, undefined)
  expect(answer).toEqual({ state: 'unpublished' })
  expect(asked).toEqual([false])
})
