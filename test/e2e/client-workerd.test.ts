// The client over real connections to a real workerd, whose tokens end under it.

import { EventSource } from 'eventsource'
import { afterAll, afterEach, beforeAll, describe, it, vi } from 'vitest'
import { type BoardWatch, type Signal, watchBoard } from '../../libraries/client/index.ts'
import { fetchStreams } from '../../libraries/client/stream-fetch.ts'
import type { Task } from '../../worker/board/wire.ts'
import { eventSourcesOver, streamSourceContract } from '../contract/stream-source.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterAll(() => edge.close())

streamSourceContract('fetch, from workerd', fetchStreams, () => edge)
streamSourceContract('EventSource, from workerd', eventSourcesOver, () => edge)

// They wait for tokens to end.
describe.concurrent.each([
  { by: 'fetch', options: {} },
  { by: 'EventSource', options: { EventSource } },
])('a watch by $by', ({ options }) => {
  let watch: BoardWatch | undefined
  afterEach(() => watch?.close())

  async function watched(repo: Repo, give: () => Promise<string>) {
    const seen = { tasks: [] as readonly Task[], signals: [] as Signal[], states: [] as string[] }
    watch = watchBoard({
      url: edge.origin,
      path: repo.path,
      token: give,
      onTasks: (tasks) => {
        seen.tasks = tasks
      },
      onSignal: (signal) => seen.signals.push(signal),
      onState: ({ name }) => seen.states.push(name),
      ...options,
    })
    await vi.waitUntil(() => watch?.state.name === 'live', PATIENT)
    return seen
  }

  it('opens another stream before its token ends, and hears of every change meanwhile', async ({
    expect,
  }) => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    let asked = 0
    const seen = await watched(repo, () => {
      asked++
      return token({ repos: [repo.path], exp: '10s' })
    })
    const ids: string[] = []
    // Two tokens end meanwhile.
    for (let i = 0; asked <= 3; i++) {
      ids.push(`B-${i}`)
      await repo.changes({ upserts: [taskRecord(`B-${i}`)] })
      await new Promise((resolve) => setTimeout(resolve, 180))
    }
    await expect
      .poll(
        () => seen.signals.flatMap(({ message }) => ('id' in message ? message.id : [])),
        PATIENT,
      )
      .toEqual(ids)
    expect(seen.states).toEqual(['live'])
    // The edge notices one that was let go with its next ping at the latest.
    const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
    await expect.poll(streams, PATIENT).toBe(1)
  })
})
