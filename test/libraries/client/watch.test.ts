// A watch of the app in this process, over its real routes.

import { afterEach, describe, expect, it } from 'vitest'
import { BoardError, type BoardWatch, watchBoard } from '../../../libraries/client/index.ts'
import {
  boardReport,
  publishedRepo,
  Repo,
  sessionRecord,
  taskRecord,
  token,
} from '../../support/edge.ts'
import { processEdge } from '../../support/in-process-edge.ts'

const edge = processEdge()
let watch: BoardWatch | undefined
afterEach(() => watch?.close())

/** A watch, and all calls of its callbacks. */
async function watched(repo: Repo) {
  const calls: unknown[] = []
  watch = watchBoard({
    url: edge.origin,
    path: repo.path,
    token: await token({ repos: [repo.path] }),
    fetch: (input, init) => edge.fetch(String(input).slice(edge.origin.length), init),
    onTask: (task, id) => calls.push(['task', id, task?.title]),
    onTasks: (tasks) => calls.push(['tasks', ...tasks.map(({ title }) => title)]),
    onSessions: (sessions) => calls.push(['sessions', ...sessions.map(({ id }) => id)]),
    onState: ({ name }) => calls.push(['state', name]),
    onSignal: ({ message, id }) => calls.push(['signal', message.type, id]),
  })
  return { watch, calls }
}

describe('a watch', () => {
  it.each([
    [undefined],
    [''],
    ['nonsense'],
    ['signalbox.example'],
    ['/edge'],
    ['https://'],
    ['https://a b'],
    ['https://signalbox.example:port'],
    ['ftp://signalbox.example'],
    ['https://signalbox.example?path=x'],
    ['https://user:pass@signalbox.example'],
  ])('of the url %j is refused at once, and asks nobody', (url) => {
    const asked: unknown[] = []
    const options = { ...(url !== undefined && { url }), onTasks: () => undefined }
    const open = () =>
      watchBoard({ ...options, fetch: (input) => Promise.reject(asked.push(input)) })
    let thrown: unknown
    try {
      watch = open()
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(BoardError)
    expect(thrown).toMatchObject({ code: 'invalid_url', status: 0 })
    expect(asked).toEqual([])
  })

  it('lists the boards that its token covers', async () => {
    const repo = await publishedRepo(edge)
    const { watch } = await watched(repo)
    expect(await watch.boards()).toEqual([])
    const body = JSON.stringify(boardReport({ title: 'Lamps' }))
    await repo.request('/boards', { method: 'PUT', body })
    expect(await watch.boards()).toMatchObject([{ path: repo.path, title: 'Lamps' }])
    await watch.close()
    await expect(watch.boards()).rejects.toMatchObject({ code: 'closed' })
  })

  it('reads the board, becomes live, and fetches what changed', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { title: 'One' })])
    const { calls } = await watched(repo)
    await expect.poll(() => calls).toContainEqual(['state', 'live'])
    // Both lists are requested at once, and either may arrive first.
    expect(calls.slice(0, 2).sort()).toEqual([['sessions'], ['tasks', 'One']])
    expect(calls.slice(2)).toEqual([['state', 'live']])
    const { seq } = await repo.changes({ upserts: [taskRecord('A-1', { title: 'Uno' })] })
    await expect
      .poll(() => calls.slice(3).sort())
      .toEqual([
        ['signal', 'task-changed', seq],
        ['task', 'A-1', 'Uno'],
        ['tasks', 'Uno'],
      ])
    await repo.changes({ upserts: [sessionRecord('ses_1')], deletes: ['task:A-1'] })
    await expect
      .poll(() =>
        calls
          .slice(6)
          .map((one) => (one as string[])[0])
          .sort(),
      )
      .toEqual(['sessions', 'signal', 'task', 'tasks'])
    expect(calls).toContainEqual(['task', 'A-1', undefined])
  })

  it('is waiting while the repository is not published', async () => {
    const repo = new Repo(edge)
    const { calls } = await watched(repo)
    await expect.poll(() => calls).toEqual([['state', 'waiting']])
    await repo.begin()
    await repo.changes({ upserts: [taskRecord('A-1', { title: 'One' })] })
    await expect.poll(() => calls).toContainEqual(['state', 'live'])
    expect(calls).toContainEqual(['tasks', 'One'])
  })
})
