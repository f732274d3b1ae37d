import { expect, it } from 'vitest'
import { processRepositories } from '../../../worker/board/repositories-process.ts'
import type { SyncRequest } from '../../../worker/board/wire.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'

it('makes no database for a question about a repository that nobody wrote to', async () => {
  const asked: boolean[] = []
  const repositories = processRepositories({
    openSql: (_path, make) => {
      asked.push(make)
      return make ? openSql(':memory:') : undefined
    },
    now: () => 0,
    elapsed: () => 0,
    after: () => () => undefined,
    maxIdle: 8,
    log: () => undefined,
    sendNotice: async () => ({ ok: true, status: 204 }),
    room: { all: 1, each: 1 },
    roomOfAll: { all: 1, each: 1 },
  })
  const unknown = repositories.open('team/unknown')
  const answer = await unknown.read({ kind: 'tasks', filter: {} }, undefined)
  expect(answer).toEqual({ state: 'unpublished' })
  expect(asked).toEqual([false])
})

it('waits for a repository that nobody has published, and makes its database when somebody does', async () => {
  const made: string[] = []
  const repositories = processRepositories({
    openSql(path, make) {
      if (!make) return undefined
      made.push(path)
      return openSql(':memory:')
    },
    now: () => 0,
    elapsed: () => 0,
    after: () => () => undefined,
    maxIdle: 8,
    log: () => undefined,
    sendNotice: async () => ({ ok: true, status: 204 }),
    room: { all: 2, each: 1 },
    roomOfAll: { all: 2, each: 2 },
  })
  const waiting = repositories.open('team/unknown')
  const frames: string[] = []
  const ends: string[] = []
  const sink = {
    send: (bytes: Uint8Array) => frames.push(new TextDecoder().decode(bytes)),
    end: (reason: string) => ends.push(reason),
  }
  const from = { lastEventId: undefined, since: 0, holder: 'ann' }
  waiting.subscribe(from, sink)
  expect(frames).toEqual(['id: 000000000000-0\n\n'])
  waiting.subscribe(from, { ...sink })
  expect(ends).toEqual(['full'])
  waiting.subscribe({ ...from, holder: 'bob' }, { ...sink })
  expect(ends).toEqual(['full'])
  expect(made).toEqual([])
  const sync = { step: 'root', run: null, root: '0'.repeat(32) } as const
  await waiting.sync({ ...sync, store: { state: 'present', version: '1' } } as SyncRequest)
  expect(made).toEqual(['team/unknown'])
})

it('has one limit for the streams of all repositories, and one for those of a subject', () => {
  const repositories = processRepositories({
    openSql: () => undefined,
    now: () => 0,
    elapsed: () => 0,
    after: () => () => undefined,
    maxIdle: 8,
    log: () => undefined,
    sendNotice: async () => ({ ok: true, status: 204 }),
    room: { all: 8, each: 2 },
    roomOfAll: { all: 4, each: 3 },
  })
  const ends: string[] = []
  const sink = () => ({ send: () => undefined, end: (reason: string) => ends.push(reason) })
  const open = (path: string, holder: string) =>
    repositories.open(path).subscribe({ lastEventId: undefined, since: 0, holder }, sink())
  const first = open('a', 'ann')
  for (const path of ['b', 'c', 'd']) open(path, 'ann')
  expect(ends).toEqual(['full'])
  open('a', 'bob')
  expect(ends).toEqual(['full'])
  open('b', 'bob')
  expect(ends).toEqual(['full', 'full'])
  first.close()
  first.close()
  open('b', 'bob')
  open('b', 'bob')
  expect(ends).toEqual(['full', 'full', 'full'])
})
