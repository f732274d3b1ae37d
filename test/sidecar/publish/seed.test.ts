import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { openSidecar } from '../../../sidecar/open-sidecar.ts'
import { EdgeHttp } from '../../../sidecar/publish/edge-http.ts'
import { callTransport } from '../../../sidecar/publish/transport.ts'
import type { ChangesRequest, Reading, Task } from '../../../worker/board/wire.ts'
import { token } from '../../support/edge.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import { PATIENT } from '../../support/patience.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const TASKS = 3_000

/** Each task waits for the next one, and the last is closed. */
const chain = (): Record<string, string> => ({
  '.cairn/config.yaml': 'prefix: T\nstates: [open, done]\nclosed: [done]\ninitial: open\n',
  ...Object.fromEntries(
    Array.from({ length: TASKS }, (_, n) => {
      const deps = n + 1 < TASKS ? `deps: [T-${n + 1}]\n` : ''
      const status = n + 1 < TASKS ? 'open' : 'done'
      return [`.cairn/tasks/T-${n}.md`, `---\ntitle: Task ${n}\nstatus: ${status}\n${deps}---\n`]
    }),
  ),
})

/** Of those that write nothing. */
let board: string
beforeAll(() => {
  board = makeFolder(chain())
})

interface Seen {
  sent: (ChangesRequest & { status: number })[]
  /** What the edge's status said while files were read. */
  status: { reading?: Reading }[]
}

/** Publishes a board of many tasks. `fails`: whether this message to the edge is lost. */
async function publish(
  dir: string,
  fails: (message: ChangesRequest, n: number) => boolean,
  edge = processEdge(),
) {
  const all = await token({ scope: 'board:read board:write', repos: ['big'] })
  const headers = { authorization: `Bearer ${all}` }
  const get = async (route: string) =>
    (await edge.fetch(`/api/${route}?path=big`, { headers })).json() as Promise<{
      tasks?: Task[]
      code?: string
      reading?: Reading
    }>
  const seen: Seen = { sent: [], status: [] }
  const early: string[] = []
  const transport = callTransport(async (request) => {
    const { pathname, search } = new URL(request.url)
    const text = await request.text()
    const isChange = pathname.endsWith('/changes')
    const message = isChange ? (JSON.parse(text) as ChangesRequest) : undefined
    if (message && fails(message, seen.sent.length)) return new Response(null, { status: 503 })
    const init = { method: request.method, headers: request.headers, body: text }
    const answer = await edge.fetch(pathname + search, init)
    if (message) seen.sent.push({ ...message, status: answer.status })
    if (message?.reading) {
      seen.status.push(await get('status'))
      early.push(String((await get('tasks')).code))
    }
    return answer
  })
  const url = new URL('http://edge.test')
  const sidecar = openSidecar({
    cacheDir: undefined,
    runOutput: 'masked',
    version: '0.0.0',
    log: () => undefined,
    store: await openStore(dir),
    edge: new EdgeHttp({ url, repo: 'big', token: () => Promise.resolve(all), transport }),
  })
  const end = new AbortController()
  const { ready, ended } = sidecar.run(end.signal)
  onTestFinished(async () => {
    end.abort()
    await ended
  })
  await ready
  return { seen, early, get, sidecar }
}

test('a large board goes ahead while it is read, each task once, and is shown when it is whole', async () => {
  const { seen, early, get } = await publish(board, () => false)
  const ahead = seen.sent.filter(({ reading }) => reading !== undefined)
  const totals = ahead.map(({ reading }) => reading?.total)
  expect(new Set(totals)).toEqual(new Set([TASKS + 1]))
  expect(ahead.length).toBeGreaterThan(1)
  expect(seen.status).toEqual(ahead.map(({ reading }) => expect.objectContaining({ reading })))
  expect(new Set(early)).toEqual(new Set(['unknown_repository']))

  const { tasks = [] } = await get('tasks')
  expect(tasks).toHaveLength(TASKS)
  expect(tasks.filter(({ ready }) => ready).map(({ id }) => id)).toEqual([`T-${TASKS - 2}`])
  expect(await get('status')).not.toHaveProperty('reading')
  const sent = seen.sent.flatMap(({ upserts }) => upserts)
  // The one that is ready is known when all are.
  expect(sent.length).toBeLessThan(TASKS + 50)
})

test('what goes ahead may fail at any message, and all is there in the end', async () => {
  for (const lost of [0, 2]) {
    let isLost = false
    const { get, seen } = await publish(board, ({ reading }, n) => {
      const isNow = reading !== undefined && n === lost && !isLost
      isLost ||= isNow
      return isNow
    })
    expect(isLost).toBe(true)
    const { tasks = [] } = await get('tasks')
    expect(tasks).toHaveLength(TASKS)
    expect(tasks.filter(({ ready }) => ready).map(({ id }) => id)).toEqual([`T-${TASKS - 2}`])
    expect(seen.sent.every(({ status }) => status === 200)).toBe(true)
  }
})

test('a file that changes and one that goes while others are read are right in the end', async () => {
  const dir = makeFolder(chain())
  let isDone = false
  const { get } = await publish(dir, ({ reading }) => {
    if (reading === undefined || isDone) return false
    isDone = true
    const first = join(dir, '.cairn/tasks/T-0.md')
    writeFileSync(first, readFileSync(first, 'utf8').replace('Task 0', 'Another'))
    rmSync(join(dir, '.cairn/tasks/T-1.md'))
    return false
  })
  expect(isDone).toBe(true)
  await vi.waitFor(async () => {
    const { tasks = [] } = await get('tasks')
    expect(tasks).toHaveLength(TASKS - 1)
    expect(tasks.find(({ id }) => id === 'T-0')?.title).toBe('Another')
  }, PATIENT)
})

test('a board that was published is not sent in parts, so readers have the last state until the new one', async () => {
  const edge = processEdge()
  await publish(board, () => false, edge)
  const { seen, early, get } = await publish(board, () => false, edge)
  const ahead = seen.sent.filter(({ reading }) => reading !== undefined)
  expect(ahead.map(({ status }) => status)).toEqual([409])
  expect(early).toEqual(['undefined'])
  expect((await get('tasks')).tasks).toHaveLength(TASKS)
})
