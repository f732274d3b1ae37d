// Claims in a Durable Object: its one alarm, and what an eviction leaves of them.

import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
  SELF,
} from 'cloudflare:test'
import { expect, it } from 'vitest'
import { RepositoryObject } from '../../worker/board/repository/repository-object.ts'
import { type Edge, publishedRepo, Repo, taskRecord, token } from '../support/edge.ts'
import { documentedFetch } from '../support/openapi-operations.ts'

const { REPOSITORY: namespace } = env as unknown as {
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
}
const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }
const objectOf = (repo: Repo) => namespace.getByName(repo.path)
const alarmOf = (repo: Repo) =>
  runInDurableObject(objectOf(repo), (_, { storage }) => storage.getAlarm())

const todo = (id: string) => taskRecord(id, { status: 'todo' })
const secretOf = (n: number) => String(n).padStart(22, 'A')

async function working(repo: Repo) {
  const bearer = await token({ scope: 'board:read board:work', repos: [repo.path] })
  return async (route: string, body: object) => {
    const headers = { Authorization: `Bearer ${bearer}` }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await repo.request(`/claims${route}`, init)
    return { status: response.status, body: (await response.json()) as { expiresAt: string } }
  }
}

it('an object has no alarm until something is claimed, and none after the last one ended', async () => {
  const repo = await publishedRepo(edge, [todo('A-1')])
  const ask = await working(repo)
  expect(await alarmOf(repo)).toBeNull()
  const claim = secretOf(1)
  const { body } = await ask('', { claim, actor: 'ada' })
  expect(await alarmOf(repo)).toBe(Date.parse(body.expiresAt))
  await ask('/release', { claim, outcome: 'abandoned' })
  await runDurableObjectAlarm(objectOf(repo))
  expect(await alarmOf(repo)).toBeNull()
})

it('a claim, a renewal and a release for a path that nobody published make no tables', async () => {
  const repo = new Repo(edge)
  const ask = await working(repo)
  const claim = secretOf(1)
  const unpublished = { status: 404, body: { code: 'unknown_repository' } }
  expect(await ask('', { claim, actor: 'ada' })).toMatchObject(unpublished)
  expect(await ask('/renew', { claim })).toMatchObject(unpublished)
  expect(await ask('/release', { claim, outcome: 'done' })).toMatchObject(unpublished)
  const tables = await runInDurableObject(objectOf(repo), (_, { storage }) =>
    storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray(),
  )
  expect(tables).toEqual([])
})

it('the alarm is that of the earliest, and a renewal leaves it', async () => {
  const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
  const ask = await working(repo)
  await ask('', { claim: secretOf(1), actor: 'ada', ttlMs: 60_000 })
  const early = await ask('', { claim: secretOf(2), actor: 'bob', ttlMs: 20_000 })
  expect(await alarmOf(repo)).toBe(Date.parse(early.body.expiresAt))
  await ask('/renew', { claim: secretOf(2), ttlMs: 90_000 })
  expect(await alarmOf(repo)).toBe(Date.parse(early.body.expiresAt))
  // One that comes too early finds nothing due, and is armed again.
  await runDurableObjectAlarm(objectOf(repo))
  expect(await alarmOf(repo)).toBe(Date.parse(early.body.expiresAt))
})

it('an alarm whose notices cannot be decided rings again a minute later, and ends claims', async () => {
  const repo = await publishedRepo(edge, [todo('A-1')])
  const ask = await working(repo)
  await ask('', { claim: secretOf(1), actor: 'ada' })
  const before = Date.now()
  await runInDurableObject(objectOf(repo), (_, { storage }) => {
    const rules = [{ key: 'rule', on: 'offline', target: 'chat' }]
    const state = { board: 'lamps', rules, targets: [], decideAt: 0 }
    storage.sql.exec('INSERT OR REPLACE INTO notice_state VALUES (1, ?)', JSON.stringify(state))
    storage.sql.exec("INSERT INTO notice_known VALUES ('rule', 'board', 'no JSON')")
    storage.sql.exec("INSERT OR REPLACE INTO agenda VALUES ('notices', 0)")
    storage.sql.exec("UPDATE agenda SET at = 0 WHERE what = 'claims'")
    storage.sql.exec('UPDATE claims SET expires_at = 0')
  })
  expect(await runDurableObjectAlarm(objectOf(repo))).toBe(true)
  expect(await alarmOf(repo)).toBeGreaterThanOrEqual(before + 60_000)
  const claims = await runInDurableObject(objectOf(repo), (_, { storage }) =>
    storage.sql.exec('SELECT task, health FROM claims').toArray(),
  )
  expect(claims).toEqual([{ task: 'A-1', health: 'stalled' }])
})

it('a claim that was answered is there after an eviction, and an alarm that was lost is armed', async () => {
  const repo = await publishedRepo(edge, [todo('A-1')])
  const ask = await working(repo)
  const { body } = await ask('', { claim: secretOf(1), actor: 'ada' })
  await runInDurableObject(objectOf(repo), (_, { storage }) => storage.deleteAlarm())
  await evictDurableObject(objectOf(repo))
  expect(await ask('', { claim: secretOf(2), actor: 'bob' })).toMatchObject({ status: 404 })
  expect(await ask('/renew', { claim: secretOf(1) })).toMatchObject({ status: 200 })
  expect(await alarmOf(repo)).toBe(Date.parse(body.expiresAt))
})

it('a claim that is back with its task has an alarm again', async () => {
  const repo = await publishedRepo(edge, [todo('A-1')])
  const ask = await working(repo)
  await ask('', { claim: secretOf(1), actor: 'ada', ttlMs: 20_000 })
  await repo.changes({ deletes: ['task:A-1'] })
  const { body } = await ask('/renew', { claim: secretOf(1), ttlMs: 60_000 })
  await runInDurableObject(objectOf(repo), (_, { storage }) => storage.deleteAlarm())
  await repo.changes({ upserts: [todo('A-1')] })
  expect(await alarmOf(repo)).toBe(Date.parse(body.expiresAt))
})

it('an alarm that lies in the past was lost: each construction sets it anew', async () => {
  const repo = await publishedRepo(edge, [todo('A-1')])
  const ask = await working(repo)
  const { body } = await ask('', { claim: secretOf(1), actor: 'ada' })
  const due = Date.parse(body.expiresAt)
  const set: number[] = []
  /** What a construction sets, where this alarm is armed. */
  const armedWhere = (armed: number | null) =>
    runInDurableObject(objectOf(repo), async (_, state) => {
      Object.defineProperties(state.storage, {
        getAlarm: { value: async () => armed, configurable: true },
        setAlarm: { value: async (at: number) => set.push(at), configurable: true },
      })
      new RepositoryObject(state, env as Cloudflare.Env)
      await state.blockConcurrencyWhile(async () => undefined)
      return set.splice(0)
    })
  expect(await armedWhere(null)).toEqual([due])
  expect(await armedWhere(Date.now() - 1)).toEqual([due])
  expect(await armedWhere(due)).toEqual([])
  expect(await armedWhere(Date.now() + 1_000)).toEqual([])
  await runInDurableObject(objectOf(repo), (_, { storage }) => {
    storage.sql.exec('UPDATE agenda SET at = 1')
  })
  const now = Date.now()
  expect((await armedWhere(1))[0]).toBeGreaterThanOrEqual(now)
})

it('a thousand claims are the most of a board: more are refused, and nothing is stored of them', async () => {
  const repo = await publishedRepo(edge, ['A-1', 'A-2', 'A-3'].map(todo))
  const ask = await working(repo)
  const claimed = (n: number) => ask('', { claim: secretOf(n), actor: `agent-${n}` })
  expect((await claimed(1)).status).toBe(201)
  // As many as would take seconds to claim.
  await runInDurableObject(objectOf(repo), (_, { storage }) => {
    storage.sql.exec(`WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 998)
      INSERT INTO claims SELECT generation + n, secret || n, 'B-' || n, actor || n, status, health,
        started_at, expires_at, ended, id || n, hash, seq, json, claim FROM claims, n`)
  })
  expect((await claimed(2)).status).toBe(201)
  const tooMany = { status: 429, body: { code: 'too_many_claims' } }
  expect(await claimed(3)).toMatchObject(tooMany)
  // What holds goes on, and its end makes room for one.
  expect((await claimed(1)).status).toBe(200)
  expect(await claimed(3)).toMatchObject(tooMany)
  expect((await ask('/renew', { claim: secretOf(3) })).body).toMatchObject({
    code: 'unknown_claim',
  })
  await ask('/release', { claim: secretOf(2), outcome: 'done' })
  expect((await claimed(3)).status).toBe(201)
})
