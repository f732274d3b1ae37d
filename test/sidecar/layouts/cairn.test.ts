import { join } from 'node:path'
import { expect, test } from 'vitest'
import { factOf } from '../../../sidecar/files/facts.ts'
import { cairn } from '../../../sidecar/layouts/cairn.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { say, sayTask } from './store.ts'

const SESSION = 'ses_0123456789abcdef01234567'

async function open() {
  const store = await cairn.detect(makeFolder({ '.cairn/config.yaml': 'states: [todo, done]\n' }))
  if (!store) throw new Error('no store')
  return store
}

test('reads every known field of a task, and keeps the others as they stand', async () => {
  const text = `---
id: T-1
title: 'Fix: the thing'
status: doing
assignee: agent:claude
deps: [T-2, T-3]
labels: [bug, 3]
priority: high
parent: T-0
rank: !!float 2
active_attempt: att_1
estimate: 1.10
owner: {team: core, size: 3, remote: true, none: null}
checks:
  - desc: builds
    cmd: make
    cwd: web
    timeout: 30
    result: pass
provenance:
  - {who: 'human:a', at: '2026-06-22T13:31:58Z', did: created}
  - {who: 'agent:b', at: '2026-06-23T08:00:00+02:00', did: note, text: "two\\nlines"}
---
The body.

---
A rule is no fence.
`
  expect(sayTask(await open(), 'tasks/T-1.md', text)).toEqual({
    id: 'T-1',
    title: 'Fix: the thing',
    status: 'doing',
    assignee: 'agent:claude',
    deps: ['T-2', 'T-3'],
    labels: ['bug', '3'],
    priority: 'high',
    parent: 'T-0',
    rank: 2,
    activeAttempt: 'att_1',
    updatedAt: '2026-06-23T06:00:00.000Z',
    checks: [{ desc: 'builds', cmd: 'make', cwd: 'web', timeout: 30, result: 'pass' }],
    provenance: [
      { who: 'human:a', at: '2026-06-22T13:31:58Z', did: 'created' },
      { who: 'agent:b', at: '2026-06-23T06:00:00.000Z', did: 'note', text: 'two\nlines' },
    ],
    extra: { estimate: '1.10', owner: { team: 'core', size: 3, remote: true, none: null } },
    body: 'The body.\n\n---\nA rule is no fence.\n',
  })
})

test('names a task after its file, whatever the front matter says', async () => {
  const task = sayTask(await open(), 'tasks/T-9.md', '---\nid: T-1\n---\n')
  expect(task).toEqual({ id: 'T-9', title: 'T-9', status: '', body: '' })
})

test('reads a session without publishing its idempotency key', async () => {
  const text = `id: ${SESSION}
task: T-1
attempt: att_1
actor: agent:claude
client: cli
model: m
status: finished
idempotency_key: secret-ish
started_at: 2026-06-25T08:37:40.910616Z
ended_at: 2026-06-25 08:44:25
branch: main
head_started: abc
head_finished: def
summary: |-
  Two
  lines
cancel_reason: ''
`
  expect(say(await open(), `sessions/${SESSION}.yaml`, text)).toEqual([
    {
      kind: 'session',
      id: SESSION,
      session: {
        id: SESSION,
        task: 'T-1',
        attempt: 'att_1',
        actor: 'agent:claude',
        client: 'cli',
        model: 'm',
        status: 'finished',
        startedAt: '2026-06-25T08:37:40.910616Z',
        endedAt: '2026-06-25T08:44:25Z',
        branch: 'main',
        headStarted: 'abc',
        headFinished: 'def',
        summary: 'Two\nlines',
      },
    },
  ])
})

test('lists a session that lacks what it must have, and says so', async () => {
  const [entry] = say(await open(), `sessions/${SESSION}.yaml`, 'task: T-1\n')
  expect(entry).toMatchObject({
    kind: 'session',
    session: { id: SESSION, task: 'T-1', status: '', invalid: expect.stringContaining('"status"') },
  })
})

test('reads a heartbeat, and takes a half-written one for none', async () => {
  const store = await open()
  const path = `live/${SESSION}.json`
  const json = { session: SESSION, heartbeatAt: '2026-06-25T08:00:00Z', progress: '3 of 5' }
  expect(say(store, path, JSON.stringify(json))).toEqual([
    {
      kind: 'live',
      id: SESSION,
      live: { heartbeatAt: '2026-06-25T08:00:00Z', progress: '3 of 5' },
    },
  ])
  expect(say(store, path, '{"session":"ses')).toEqual([])
  expect(say(store, path, '[]')).toEqual([])
})

test('reads a run of a task whose id holds dashes', async () => {
  const text =
    'cmd: make\n  check\ncwd: /repo/web\nhead: abc123\nexit: -1  timedout: true  duration: 2m0.5s\n' +
    '----\nout\n----\nmore\n'
  const file = 'PROJ-a-1-20260622-133148.042.log'
  expect(say(await open(), `runs/${file}`, text)).toEqual([
    {
      kind: 'run',
      id: file,
      task: 'PROJ-a-1',
      run: {
        file,
        at: '2026-06-22T13:31:48.042Z',
        cmd: 'make\n  check',
        cwd: '/repo/web',
        head: 'abc123',
        exit: -1,
        timedout: true,
        duration: '2m0.5s',
        output: 'out\n----\nmore\n',
      },
    },
  ])
})

test('shows a log without a header whole, and says so', async () => {
  const [entry] = say(await open(), 'runs/T-1-20261399-000000.000.log', 'just\noutput\0')
  expect(entry).toMatchObject({
    task: 'T-1',
    run: { timedout: false, output: 'just\noutput\0', invalid: expect.any(String) },
  })
  expect(entry).not.toHaveProperty('run.exit')
  expect(entry).not.toHaveProperty('run.at')
})

test('reads the configuration', async () => {
  const text =
    'prefix: T\nstates: [todo, doing, done]\nclosed: [done]\ninitial: todo\ncounter: 7\n' +
    'session_stale_after: 60\n'
  const store = await open()
  expect(say(store, 'config.yaml', text)).toEqual([
    {
      kind: 'board',
      id: 'board',
      board: {
        layout: 'cairn',
        prefix: 'T',
        states: ['todo', 'doing', 'done'],
        closed: ['done'],
        initial: 'todo',
        extra: { counter: 7 },
      },
      staleAfterMs: 60_000,
    },
  ])
  for (const text of ['states: [a]\n', 'states: [a]\nsession_stale_after: 0\n']) {
    const [silent] = say(store, 'config.yaml', text)
    const fact =
      silent && factOf({ path: 'config.yaml', hash: 'hash', state: 'ok' }, silent, undefined)
    expect(fact).toMatchObject({ staleAfterMs: 180_000 })
  }
  const [broken] = say(store, 'config.yaml', 'states: [a')
  expect(broken).toMatchObject({ board: { invalid: expect.stringContaining('YAML') } })
})

test('counts only the files of the layout', async () => {
  const store = await open()
  const kind = (path: string) => store.classify(join(store.root, path))
  expect(kind('config.yaml')).toBe('board')
  expect(kind('tasks/T_1-x.md')).toBe('task')
  expect(kind(`sessions/${SESSION}.yaml`)).toBe('session')
  expect(kind(`live/${SESSION}.json`)).toBe('live')
  expect(kind('runs/T-1-20260622-133148.042.log')).toBe('run')
  for (const path of [
    'write.lock',
    '.config-123.tmp',
    'WORKFLOW.md',
    'tasks/.tmp-123',
    'tasks/.tmp-T-1.md',
    'tasks/T 1.md',
    'tasks/T-1.md~',
    'tasks/deep/T-1.md',
    'sessions/ses_1.yaml',
    'live/.tmp-1',
    'runs/T-1.log',
    '../tasks/T-1.md',
  ]) {
    expect(kind(path), path).toBeUndefined()
  }
})

test('tells a misnamed task from a file that is none', async () => {
  const store = await open()
  const why = (path: string) => store.whyIgnored?.(join(store.root, path), undefined)
  expect(why('tasks/T 1.md')).toBe('its name is no id')
  for (const path of ['tasks/T-1.md', 'tasks/.tmp-T 1.md', 'runs/T 1.md']) {
    expect(why(path), path).toBeUndefined()
  }
})

test('lists a file that could not be read at all', async () => {
  const store = await open()
  const why = 'The file is not UTF-8 text.'
  const tell = (path: string) => {
    const absolute = join(store.root, path)
    return store.unreadable(absolute, store.classify(absolute) ?? 'task', why)
  }
  expect(tell('tasks/T-1.md')).toEqual([
    { kind: 'task', id: 'T-1', task: { id: 'T-1', title: 'T-1', status: '', invalid: why } },
  ])
  expect(tell(`sessions/${SESSION}.yaml`)).toMatchObject([
    { id: SESSION, session: { invalid: why } },
  ])
  expect(tell('runs/T-1-20260622-133148.042.log')).toMatchObject([
    { task: 'T-1', run: { invalid: expect.any(String) } },
  ])
  expect(tell('config.yaml')).toMatchObject([{ board: { invalid: why } }])
  expect(tell(`live/${SESSION}.json`)).toEqual([])
})
