// The whole store is removed, returns, or is changed by a git checkout.

import { rename, rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'
import { PATIENT } from '../support/patience.ts'
import { System, Systems, taskText } from '../support/system.ts'
import { ModelClient } from './model-client.ts'

let edge: EdgeProcess
const systems = new Systems()
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterEach(() => systems.clear())
afterAll(() => edge.close())

const board = () =>
  systems.keep(System.cairn(edge, { A: taskText('a'), B: taskText('b'), C: taskText('c') }))

const titles = (client: ModelClient) =>
  [...client.tasks].map(([id, { title }]) => `${id} ${title}`).toSorted((a, b) => (a < b ? -1 : 1))

it('a store that vanishes is reported as missing, loses no task, and is watched on return', async () => {
  const system = await board()
  const client = new ModelClient(system.repo)
  const store = async () => (await system.repo.json<{ store: string }>('/status')).store
  await expect.poll(() => titles(client), PATIENT).toEqual(['A a', 'B b', 'C c'])
  await rename(system.path('.cairn'), system.path('elsewhere'))
  await expect.poll(store, PATIENT).toBe('missing')
  expect([...(await system.tasks()).keys()]).toEqual(['A', 'B', 'C'])
  expect(titles(client)).toEqual(['A a', 'B b', 'C c'])

  await system.write('elsewhere/tasks/A.md', taskText('meanwhile'))
  await rm(system.path('elsewhere/tasks/B.md'))
  await rename(system.path('elsewhere'), system.path('.cairn'))
  await expect.poll(store, PATIENT).toBe('present')
  await expect.poll(() => titles(client), PATIENT).toEqual(['A meanwhile', 'C c'])
  await system.save('C', taskText('watched again'))
  await expect.poll(() => titles(client), PATIENT).toEqual(['A meanwhile', 'C watched again'])
  await client.close()
})

it('a store that changed while its sidecar was dead is compared, not dropped', async () => {
  const system = await board()
  await system.killSidecar()
  await rm(system.taskPath('B'))
  await system.save('D', taskText('d'))
  await system.startSidecar()
  expect([...(await system.tasks()).keys()]).toEqual(['A', 'C', 'D'])
})

it('a checkout of another branch, and back, is published completely', async () => {
  const system = await board()
  await system.git('init', '-q', '-b', 'main')
  await system.git('add', '.')
  await system.git('commit', '-qm', 'one')
  await system.git('checkout', '-qb', 'other')
  for (let n = 0; n < 60; n++) await system.save(`N-${n}`, taskText('other'))
  await system.save('A', taskText('other'))
  await rm(system.taskPath('B'))
  await system.git('add', '.')
  await system.git('commit', '-qm', 'two')
  const client = new ModelClient(system.repo)
  const other = ['A other', 'C c', ...Array.from({ length: 60 }, (_, n) => `N-${n} other`)]
  const sorted = other.toSorted((a, b) => (a < b ? -1 : 1))
  await expect.poll(() => titles(client), PATIENT).toEqual(sorted)
  for (const expected of [['A a', 'B b', 'C c'], sorted, ['A a', 'B b', 'C c']]) {
    await system.git('checkout', '-q', expected === sorted ? 'other' : 'main')
    await expect.poll(() => titles(client), PATIENT).toEqual(expected)
  }
  // Two more at once: the first must not hide the second.
  await system.git('checkout', '-q', 'other')
  await system.git('checkout', '-q', 'main')
  await system.save('Z', taskText('saved after both'))
  await expect.poll(() => titles(client)).toEqual(['A a', 'B b', 'C c', 'Z saved after both'])
  await client.close()
})
