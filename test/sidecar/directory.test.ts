// A sidecar over real files, and what the edge lists of its board.

import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import { openSidecar } from '../../sidecar/open-sidecar.ts'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { callTransport } from '../../sidecar/publish/transport.ts'
import type { BoardConfig, Task } from '../../worker/board/wire.ts'
import { token } from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { PATIENT } from '../support/patience.ts'
import { tempFolder } from '../support/temp-folder.ts'
import type { Files } from './published-folder.ts'

const BOARDS: Record<string, { files: Files; title: string; counts: object }> = {
  cairn: {
    files: {
      '.cairn/config.yaml': 'prefix: T\nstates: [todo, done]\nclosed: [done]\n',
      '.cairn/tasks/A.md': '---\ntitle: A\nstatus: done\n---\n',
      '.cairn/tasks/B.md': '---\ntitle: B\nstatus: todo\ndeps: [A]\n---\n',
      '.cairn/tasks/C.md': '---\ntitle: C\nstatus: todo\ndeps: [B]\n---\n',
    },
    title: 'lamps',
    counts: { tasks: 3, closed: 1, ready: 1 },
  },
  'backlog-md': {
    files: {
      'backlog/config.yml': 'project_name: Bakery\nstatuses: ["To Do", "Done"]\n',
      'backlog/tasks/task-1 - One.md': '---\nid: TASK-1\ntitle: One\nstatus: Done\n---\n',
      'backlog/tasks/task-2 - Two.md': '---\nid: TASK-2\ntitle: Two\nstatus: To Do\n---\n',
      'backlog/tasks/task-2 - Twin.md': '---\nid: TASK-2\ntitle: Twin\nstatus: To Do\n---\n',
      'backlog/completed/task-3 - T.md': '---\nid: TASK-3\ntitle: T\nstatus: Done\n---\n',
      'backlog/drafts/draft-1 - D.md': '---\nid: DRAFT-1\ntitle: D\nstatus: Draft\n---\n',
      'backlog/archive/tasks/task-4 - F.md': '---\nid: TASK-4\ntitle: F\nstatus: Done\n---\n',
    },
    title: 'Bakery',
    counts: { tasks: 4, closed: 2, ready: 1 },
  },
  openspec: {
    files: {
      'openspec/changes/add-tea/tasks.md': '- [x] 1.1 Water\n- [ ] 1.2 Leaves\n',
      'openspec/changes/add-tea/proposal.md': '# Tea\n',
      'openspec/changes/add-cups/proposal.md': '# Cups\n',
      'openspec/changes/archive/2026-01-01-old/tasks.md': '- [x] 1.1 Old\n',
    },
    title: 'lamps',
    counts: { tasks: 4, closed: 1, ready: 1 },
  },
  bmad: {
    files: {
      '_bmad/_config/manifest.yaml': 'x: 1\n',
      '_bmad-output/implementation-artifacts/sprint-status.yaml':
        'project: docvet\ndevelopment_status:\n  epic-1: in-progress\n  1-1-a: done\n  1-2-b: backlog\n',
      '_bmad-output/implementation-artifacts/1-2-b.md': '# Story 1.2: B\n\nStatus: backlog\n',
      '_bmad-output/implementation-artifacts/1-9-x.md': '# Story 1.9: X\n\nStatus: backlog\n',
    },
    title: 'docvet',
    counts: { tasks: 4, closed: 1, ready: 1 },
  },
}

let home: string
const opened: (() => Promise<void>)[] = []
beforeEach(() => {
  home = tempFolder()
})
afterEach(async () => {
  for (const end of opened.splice(0)) await end()
})

async function write(files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
}

interface Listed {
  path: string
  title: string
  layout: string
  counts: object
  store: string
  lastChangeAt?: string
}

function openEdge() {
  const clock = new FakeClock()
  clock.jump(Date.parse('2026-01-05T10:00:00Z') - clock.now())
  const edge = processEdge({ clock })
  const get = async <T>(route: string): Promise<T> => {
    const Authorization = `Bearer ${await token({ repos: ['lamps'], exp: '1000d' })}`
    const answer = await edge.fetch(route, { headers: { Authorization } })
    return (await answer.json()) as T
  }
  const list = async () => (await get<{ boards: Listed[] }>('/api/boards')).boards
  const listed = (fields: object) =>
    vi.waitFor(async () => expect(await list()).toMatchObject([fields]), PATIENT)
  return { edge, get, list, listed }
}

/** A sidecar that publishes the board of `home`. */
async function publish(edge: ReturnType<typeof processEdge>): Promise<void> {
  const bearer = await token({ repos: ['lamps'], exp: '1000d' })
  const transport = callTransport((request) => {
    const { pathname, search } = new URL(request.url)
    return request.text().then((body) =>
      edge.fetch(`${pathname}${search}`, {
        method: request.method,
        headers: { Authorization: `Bearer ${bearer}` },
        body,
      }),
    )
  })
  const { publisher, run } = openSidecar({
    store: await openStore(home),
    edge: new EdgeHttp({
      url: new URL(edge.origin),
      repo: 'lamps',
      transport,
      token: async () => bearer,
    }),
    cacheDir: undefined,
    runOutput: 'masked',
    log: () => undefined,
    version: '1.2.3',
  })
  const end = new AbortController()
  const { ended } = run(end.signal)
  opened.push(async () => {
    end.abort()
    await ended
  })
  await publisher.synced()
}

describe('a board of', () => {
  test.each(Object.entries(BOARDS))('%s is listed with the counts of its rows', async (...of) => {
    const [layout, { files, title, counts }] = of
    await write(files)
    const { edge, get, listed } = openEdge()
    await publish(edge)
    await listed({ path: 'lamps', title, layout, counts, store: 'present' })
    const { tasks } = await get<{ tasks: Task[] }>('/api/tasks')
    const { config } = await get<{ config: BoardConfig }>('/api/status')
    const rows = tasks.filter(({ folder = 'completed' }) => folder === 'completed')
    const isClosed = ({ status, folder }: Task) =>
      config.closed.includes(status) || folder === 'completed'
    expect(counts).toEqual({
      tasks: rows.length,
      closed: rows.filter(isClosed).length,
      ready: rows.filter(({ ready }) => ready).length,
    })
  })
})

describe('the last change', () => {
  const files = BOARDS.cairn?.files ?? {}

  test('before the sidecar began is when the newest file of a task was written', async () => {
    await write(files)
    const [old, newest] = [new Date('2025-03-01T00:00:00Z'), new Date('2025-04-01T00:00:00.000Z')]
    for (const name of Object.keys(files)) await utimes(join(home, name), old, old)
    await utimes(join(home, '.cairn/tasks/B.md'), newest, newest)
    // The configuration is no task.
    await utimes(join(home, '.cairn/config.yaml'), new Date(), new Date())
    const { edge, listed } = openEdge()
    await publish(edge)
    await listed({ lastChangeAt: newest.toISOString() })
  })

  test('of a board without a task is not known', async () => {
    await write({ '.cairn/config.yaml': files['.cairn/config.yaml'] ?? '', '.cairn/tasks/x': '' })
    const { edge, list, listed } = openEdge()
    await publish(edge)
    await listed({ counts: { tasks: 0, closed: 0, ready: 0 } })
    expect((await list())[0]).not.toHaveProperty('lastChangeAt')
  })
})
