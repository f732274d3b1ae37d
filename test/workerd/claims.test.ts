// Claims in a Durable Object: its one alarm, and what an eviction leaves of them.

import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
  SELF,
} from 'cloudflare:test'
import { expect, it } from 'vitest'
import type { RepositoryObject } from '../../worker/board/repositories-object.ts'
import { type Edge, publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
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
  await ask('/release', { claim, outcome: 'done' })
  await runDurableObjectAlarm(objectOf(repo))
  expect(await alarmOf(repo)).toBeNull()
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
