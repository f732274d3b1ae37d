// Processes are killed while they work: nothing that was saved is lost, and clients that reconnect
// with their last id get what they missed.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Session } from '../../worker/board/wire.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'
import { PATIENT } from '../support/patience.ts'
import { System, Systems, taskText } from '../support/system.ts'
import { ModelClient } from './model-client.ts'

const SESSION = 'ses_0123456789abcdef01234567'
const ids = Array.from({ length: 100 }, (_, n) => `T-${n}`)

let edge: EdgeProcess
const systems = new Systems()
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterEach(() => systems.clear())
afterAll(() => edge.close())

const board = (tasks = ids) =>
  systems.keep(System.cairn(edge, Object.fromEntries(tasks.map((id) => [id, taskText('before')]))))

/** 500 saves, five of each task, with pauses in which a process can be killed. */
async function burst(system: System): Promise<void> {
  for (let round = 0; round < 5; round++) {
    for (const id of ids) await system.save(id, taskText(`round ${round}`))
    await sleep(30)
  }
}

/** The titles in a client that follows signals, and in the edge: one when all saves arrived. */
async function titles(system: System, client: ModelClient) {
  const edges = [...(await system.tasks()).values()].map(({ title }) => title)
  const clients = [...client.tasks.values()].map(({ title }) => title)
  return {
    edge: [edges.length, ...new Set(edges)],
    client: [clients.length, ...new Set(clients)],
  }
}
const ALL = { edge: [100, 'round 4'], client: [100, 'round 4'] }

it('a sidecar that is killed during 500 saves publishes all of them after a restart', async () => {
  const system = await board()
  const client = new ModelClient(system.repo)
  const saving = burst(system)
  await sleep(150)
  await system.killSidecar()
  await saving
  await system.save('NEW', taskText('round 4'))
  await rm(system.taskPath('T-0'))
  await system.startSidecar()
  await expect.poll(() => titles(system, client), PATIENT).toEqual(ALL)
  expect(client.tasks.has('NEW')).toBe(true)
  await client.close()
})

it('an edge that is killed during 500 saves gets all of them, and no stream misses one', async () => {
  const system = await board()
  const client = new ModelClient(system.repo)
  await expect.poll(() => client.tasks.size, PATIENT).toBe(100)
  const saving = burst(system)
  await sleep(150)
  await edge.crash()
  await saving
  await expect.poll(() => titles(system, client).catch(String), PATIENT).toEqual(ALL)
  await client.close()
})

it('an edge keeps its board when it is killed, and a current client gets no message', async () => {
  const system = await board(['A'])
  const stream = await (await system.repo.stream()).joined()
  await system.save('A', taskText('told'))
  await stream.until((s) => s.messages.length === 1)
  const { lastId } = stream
  await edge.crash()
  expect(await system.task('A')).toMatchObject({ title: 'told' })
  const resumed = await (await system.repo.stream(lastId)).joined()
  expect(resumed.messages).toEqual([])
  expect(resumed.lastId).toBe(lastId)
  await resumed.close()
})

it('a client gets exactly what it missed, with the ids, also after the edge was killed', async () => {
  const system = await board(['A', 'B'])
  const stream = await (await system.repo.stream()).joined()
  const { lastId } = stream
  await stream.close()
  for (const id of ['A', 'B']) {
    await system.save(id, taskText('missed'))
    await system.untilTask(id, ({ title }) => title === 'missed')
  }
  await edge.crash()
  const resumed = await (await system.repo.stream(lastId)).joined()
  await resumed.until((s) => s.messages.length === 2)
  const [epoch, seq] = lastId.split('-')
  expect(resumed.blocks.slice(2)).toEqual([
    { id: `${epoch}-${Number(seq) + 1}`, data: { type: 'task-changed', id: 'A' } },
    { id: `${epoch}-${Number(seq) + 2}`, data: { type: 'task-changed', id: 'B' } },
  ])
  await resumed.close()
})

it.each([
  ['that lost everything', loseAll],
  ['whose tables have another schema', makeOlder],
])(
  'an edge %s is filled again at the next save, and old clients are told to start over',
  async (_, change) => {
    const system = await board(['A', 'B'])
    const session = `id: ${SESSION}\ntask: A\nstatus: finished\nstarted_at: 2026-01-01T10:00:00Z\n`
    await system.write(`.cairn/sessions/${SESSION}.yaml`, session)
    await system.untilTask('A', (task) => 'sessions' in task)
    const hasSession = async () =>
      (await system.repo.json<{ sessions: Session[] }>('/sessions').catch(() => undefined))
        ?.sessions.length
    await expect.poll(hasSession, PATIENT).toBe(1)
    const stream = await (await system.repo.stream()).joined()
    const { lastId } = stream

    await edge.crash(change)
    const early = await (await system.repo.stream(lastId)).joined()
    expect(early.messages).toEqual([{ type: 'tasks-changed' }])
    expect((await system.repo.request('/tasks')).status).toBe(404)
    await system.save('A', taskText('after'))
    await system.untilTask('A', ({ title }) => title === 'after')
    expect((await system.task('B'))?.title).toBe('before')
    expect(await hasSession()).toBe(1)
    const both = [{ type: 'tasks-changed' }, { type: 'session-changed', session: SESSION }]
    await early.until((s) => s.messages.length === 3)
    expect(early.messages.slice(1)).toEqual(both)
    const late = await (await system.repo.stream(lastId)).joined()
    expect(late.messages).toEqual(both)
    expect(late.lastId.split('-')[0]).not.toBe(lastId.split('-')[0])
    await Promise.all([early.close(), late.close()])
  },
)

it('a sidecar that is stopped publishes what was saved just before', async () => {
  const system = await board(['A'])
  await system.save('A', taskText('last words'))
  await system.stopSidecar()
  expect(await system.task('A')).toMatchObject({ title: 'last words' })
})

const objects = () => join(edge.dir, 'objects')

async function loseAll(): Promise<void> {
  await rm(objects(), { recursive: true })
  await mkdir(objects())
}

/** workerd stores each object in an SQLite file. */
async function makeOlder(): Promise<void> {
  const names = await readdir(objects(), { recursive: true })
  for (const name of names.filter((it) => it.endsWith('.sqlite'))) {
    const database = new DatabaseSync(join(objects(), name))
    const mine = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'board_schema'`).all()
    if (mine.length > 0) database.exec('UPDATE board_schema SET version = version - 1')
    database.close()
  }
}
