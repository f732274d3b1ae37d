// The socket of a sidecar, on the runtime itself.

import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
  SELF,
} from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { RepositoryObject } from '../../worker/board/repository/repository-object.ts'
import type { SyncAnswer } from '../../worker/board/wire.ts'
import { signIn } from '../contract/console-session.ts'
import { type Edge, publishedRepo, Repo, sums, taskRecord, token } from '../support/edge.ts'
import { documentedFetch } from '../support/openapi-operations.ts'

const { REPOSITORY } = env as unknown as {
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
}
const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }
const task = taskRecord('A-1')
const objectOf = (repo: Repo) => REPOSITORY.getByName(repo.path)
const alarmOf = (repo: Repo) =>
  runInDurableObject(objectOf(repo), (_, { storage }) => storage.getAlarm())
/** As if the time of all that is planned had come. */
async function runAlarm(repo: Repo) {
  await runInDurableObject(objectOf(repo), (_, { storage }) => {
    storage.sql.exec('UPDATE agenda SET at = 0')
  })
  await runDurableObjectAlarm(objectOf(repo))
}

async function upgrade(repo: Repo, run: number | string, headers: Record<string, string> = {}) {
  const Authorization = `Bearer ${await token({ repos: [repo.path] })}`
  const query = new URLSearchParams({ path: repo.path, run: String(run) })
  return SELF.fetch(`${origin}/api/sidecar?${query}`, {
    headers: { Upgrade: 'websocket', Authorization, ...headers },
  })
}

async function attach(repo: Repo, run = repo.run) {
  const { status, webSocket: socket } = await upgrade(repo, run)
  expect(status).toBe(101)
  if (!socket) throw new Error('there is no socket')
  const received: unknown[] = []
  const closed = Promise.withResolvers<number>()
  socket.addEventListener('message', ({ data }) => void received.push(data))
  socket.addEventListener('close', ({ code }) => closed.resolve(code))
  socket.accept()
  const ping = async () => {
    const before = received.length
    socket.send('ping')
    await expect.poll(() => received.length).toBeGreaterThan(before)
  }
  return { socket, received, closed: closed.promise, ping }
}

const statusOf = (repo: Repo) =>
  repo.json<{ streams: number; sidecar: { lastSeenAt: string }; currentAt: string }>('/status')

const rootOf = (repo: Repo, run: number | null, about: object = {}) =>
  repo.sync<SyncAnswer & { step: 'root' }>({
    step: 'root',
    run,
    root: sums([task]).root,
    store: { state: 'present', layout: 'cairn', version: '1' },
    ...about,
  })

async function commandDue(repo: Repo, run: number): Promise<void> {
  await rootOf(repo, run, { notices: [{ on: 'review', to: { command: '0123456789abcdef' } }] })
  const lead = await token({ scope: 'board:lead', repos: [repo.path] })
  const tested = await repo.request('/notices/test', {
    method: 'POST',
    headers: { authorization: `Bearer ${lead}` },
    body: JSON.stringify({ on: 'review' }),
  })
  expect(tested.status).toBe(200)
}

describe('the socket of a sidecar', () => {
  it('is offered by the answer to a root', async () => {
    const repo = await publishedRepo(edge, [task])
    expect(await rootOf(repo, repo.run)).toMatchObject({ socket: true })
  })

  it('is sent that commands of notices are due, if it is that of the sidecar that leads', async () => {
    const repo = await publishedRepo(edge, [task])
    const waiting = await attach(repo, repo.run)
    await rootOf(repo, null)
    const leading = await attach(repo, repo.run + 1)
    await commandDue(repo, repo.run + 1)
    await expect.poll(() => leading.received).toEqual(['notices'])
    expect(waiting.received).toEqual([])
    for (const { socket } of [waiting, leading]) socket.close(1000)
  })

  it('is sent it when it is opened, where they became due after the sync before it', async () => {
    const repo = await publishedRepo(edge, [task])
    await commandDue(repo, repo.run)
    const sidecar = await attach(repo)
    await expect.poll(() => sidecar.received).toEqual(['notices'])
    sidecar.socket.close(1000)
  })

  it('is answered by the runtime, and a ping shows as seen and current', async () => {
    const repo = await publishedRepo(edge, [task])
    const before = await statusOf(repo)
    const sidecar = await attach(repo)
    const from = Date.now()
    await sidecar.ping()
    expect(sidecar.received).toEqual(['pong'])
    const after = await statusOf(repo)
    expect(Date.parse(after.sidecar.lastSeenAt)).toBeGreaterThanOrEqual(from)
    expect(Date.parse(after.currentAt)).toBeGreaterThan(Date.parse(before.currentAt))
    sidecar.socket.close(1000)
  })

  it('pings an object that sleeps, without waking it', async () => {
    const repo = await publishedRepo(edge, [task])
    const sidecar = await attach(repo)
    await evictDurableObject(objectOf(repo))
    await sidecar.ping()
    await expect(evictDurableObject(objectOf(repo))).rejects.toThrow('not currently running')
    sidecar.socket.close(1000)
  })

  it('gets no message of a stream, and is counted as none', async () => {
    const repo = await publishedRepo(edge, [task])
    const sidecar = await attach(repo)
    const stream = await (await repo.stream()).joined()
    await repo.changes({ upserts: [taskRecord('A-2')] })
    await stream.until(({ messages }) => messages.length > 0)
    expect((await statusOf(repo)).streams).toBe(1)
    await sidecar.ping()
    expect(sidecar.received).toEqual(['pong'])
    sidecar.socket.close(1000)
    await stream.close()
  })

  it('arms the one alarm as it closes, and the alarm tells every stream', async () => {
    const repo = await publishedRepo(edge, [task])
    const sidecar = await attach(repo)
    const stream = await (await repo.stream()).joined()
    sidecar.socket.close(1000)
    await expect.poll(() => alarmOf(repo)).not.toBeNull()
    const inMs = ((await alarmOf(repo)) ?? 0) - Date.now()
    expect(inMs).toBeGreaterThan(5_000)
    expect(inMs).toBeLessThanOrEqual(10_000)
    await runAlarm(repo)
    await stream.until(({ messages }) => messages.length > 0)
    expect(stream.messages).toEqual([{ type: 'tasks-changed' }])
    await stream.close()
  })

  it('shares the one alarm with claims: the earliest is armed, and then the other', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { status: 'todo' })])
    const sidecar = await attach(repo)
    const worker = await token({ scope: 'board:read board:work', repos: [repo.path] })
    const claimed = await repo.request('/claims', {
      method: 'POST',
      headers: { Authorization: `Bearer ${worker}` },
      body: JSON.stringify({ claim: 'A'.repeat(22), actor: 'ada' }),
    })
    const { expiresAt } = await claimed.json<{ expiresAt: string }>()
    expect(await alarmOf(repo)).toBe(Date.parse(expiresAt))
    sidecar.socket.close(1000)
    await expect.poll(() => alarmOf(repo)).toBeLessThan(Date.parse(expiresAt))
    await runAlarm(repo)
    expect(await statusOf(repo)).toMatchObject({ sidecar: { state: 'offline' } })
    expect(await alarmOf(repo)).toBe(Date.parse(expiresAt))
  })

  it('is missed after a reset of its object, which hears of no close, until it is dialled', async () => {
    const repo = await publishedRepo(edge, [task])
    await attach(repo)
    const reset = runInDurableObject(objectOf(repo), (_, ctx) => ctx.abort('a reset'))
    await expect(reset).rejects.toThrow('a reset')
    expect(await statusOf(repo)).toMatchObject({ sidecar: { state: 'running' } })
    const inMs = ((await alarmOf(repo)) ?? 0) - Date.now()
    expect(inMs).toBeGreaterThan(45_000)
    expect(inMs).toBeLessThanOrEqual(55_000)
    const again = await attach(repo)
    await runAlarm(repo)
    expect(await statusOf(repo)).toMatchObject({ sidecar: { state: 'running' } })
    again.socket.close(1000)
  })

  it('of an older run waits, and is told when the one that leads has ended', async () => {
    const repo = await publishedRepo(edge, [task])
    const waits = await attach(repo)
    const { run } = await rootOf(repo, null)
    const leads = await attach(repo, run)
    await repo.sync({ step: 'end', run })
    await expect.poll(() => waits.received).toEqual(['free'])
    expect(await rootOf(repo, repo.run)).toMatchObject({ run: run + 1 })
    for (const { socket } of [waits, leads]) socket.close(1000)
  })
})

it('one that is frozen is offline for who reads the status, every stream, and one that waits', async () => {
  const repo = await publishedRepo(edge, [task])
  const waits = await attach(repo)
  const { run } = await rootOf(repo, null)
  const leads = await attach(repo, run)
  const stream = await (await repo.stream()).joined()
  // As if a minute had passed without a ping.
  await runInDurableObject(objectOf(repo), (_, { storage }) => {
    const at = Date.now() - 60_000
    storage.sql.exec(
      `UPDATE repository SET state = json_set(state, '$.socket.since', ?, '$.lastSeenAt', ?)`,
      at,
      at,
    )
  })
  expect(await statusOf(repo)).toMatchObject({ sidecar: { state: 'offline' } })
  await stream.until(({ messages }) => messages.length > 0)
  expect(stream.messages).toEqual([{ type: 'tasks-changed' }])
  await expect.poll(() => waits.received).toEqual(['free'])
  expect(await rootOf(repo, repo.run)).toMatchObject({ run: run + 1 })
  for (const { socket } of [waits, leads]) socket.close(1000)
  await stream.close()
})

describe('what is wrong', () => {
  it('with an upgrade is refused with a code', async () => {
    const repo = await publishedRepo(edge, [task])
    const other = new Repo(edge)
    const foreign = `Bearer ${await token({ repos: [other.path] })}`
    const reader = `Bearer ${await token({ repos: [repo.path], scope: 'board:read' })}`
    const answers = await Promise.all([
      upgrade(repo, repo.run, { Authorization: '' }),
      upgrade(repo, repo.run, { Authorization: foreign }),
      upgrade(repo, repo.run, { Authorization: reader }),
      upgrade(repo, repo.run, { Upgrade: '' }),
      upgrade(repo, 'one'),
      upgrade(repo, repo.run + 1),
      upgrade(other, 1),
    ])
    const seen = await Promise.all(
      answers.map(async (it) => [it.status, (await it.json<{ code: string }>()).code]),
    )
    expect(seen).toEqual([
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [403, 'forbidden'],
      [426, 'upgrade_required'],
      [400, 'invalid_request'],
      [409, 'sync_required'],
      [409, 'sync_required'],
    ])
  })

  it('with an upgrade by the cookie of a page is refused, whatever its scopes', async () => {
    const repo = await publishedRepo(edge, [task])
    const { cookies } = await signIn(edge, { token: await token({ repos: [repo.path] }) })
    const [cookie = ''] = cookies[0]?.split(';') ?? []
    const headers = { Upgrade: 'websocket', Cookie: cookie }
    const query = new URLSearchParams({ path: repo.path, run: String(repo.run) })
    const answer = await SELF.fetch(`${origin}/api/sidecar?${query}`, { headers })
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'forbidden' }])
    const session = await SELF.fetch(`${origin}/api/session`, { headers: { Cookie: cookie } })
    expect(await session.json()).toMatchObject({ scopes: expect.arrayContaining(['board:write']) })
  })

  it.each([
    ['text', 'pong'],
    ['a ping of 1 MiB', 'ping'.repeat(1 << 18)],
  ])('as a message closes the socket: %s', async (_, message) => {
    const repo = await publishedRepo(edge, [task])
    const beside = await publishedRepo(edge, [task])
    const [sidecar, other] = [await attach(repo), await attach(beside)]
    sidecar.socket.send(message)
    expect(await sidecar.closed).toBe(1008)
    expect((await repo.request('/tasks')).status).toBe(200)
    await other.ping()
    expect(other.received).toEqual(['pong'])
    other.socket.close(1000)
  })

  it('a second socket of a run closes its first, and a fifth one is refused', async () => {
    const repo = await publishedRepo(edge, [task])
    const first = await attach(repo)
    const sockets = [await attach(repo)]
    expect(await first.closed).toBe(4001)
    const runs: number[] = []
    for (let n = 0; n < 4; n++) runs.push((await rootOf(repo, null)).run)
    for (const run of runs.slice(0, 3)) sockets.push(await attach(repo, run))
    const refused = await upgrade(repo, runs[3] ?? 0)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ code: 'too_many_sidecars' })
    for (const { socket } of sockets) socket.close(1000)
  })
})
