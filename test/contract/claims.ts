// One agent, one task: claims, on any host.

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Session, Task } from '../../libraries/api/types.ts'
import type { DataRecord } from '../../worker/board/wire.ts'
import {
  following,
  freshHash,
  Repo,
  runRecord,
  sessionRecord,
  sums,
  taskRecord,
  token,
} from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import type { Board } from './board.ts'

const WORK = 'board:read board:work'
const secret = (): string => randomBytes(16).toString('base64url')
const config = (): DataRecord => ({
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
})

type Refusal = [route: string, body: object | string, status: number, code: string]

interface Answer {
  status: number
  body: Record<string, unknown> & { task?: Task | string; code?: string }
}

async function asker(repo: Repo, scope = WORK) {
  const bearer = await token({ scope, repos: [repo.path] })
  return async (route: string, body: unknown): Promise<Answer> => {
    const response = await repo.request(`/claims${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    if (response.ok) expect(response.headers.get('Cache-Control')).toBe('no-store')
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
}

const idOf = ({ body }: Answer): unknown =>
  typeof body.task === 'object' ? body.task.id : body.task
const todo = (id: string, fields: Partial<Task> = {}) =>
  taskRecord(id, { status: 'todo', ...fields })

export function claimContract({ name, edge, published }: Board): void {
  describe(`claims on ${name}`, () => {
    it('give a task to one agent alone, whoever asks at the same time', async () => {
      const repo = await published(config(), ...Array.from({ length: 5 }, (_, n) => todo(`A-${n}`)))
      const ask = await asker(repo)
      const claims = Array.from({ length: 8 }, (_, n) => ({ claim: secret(), actor: `agent-${n}` }))
      const answers = await Promise.all(claims.map((claim) => ask('', claim)))
      const given = answers.filter(({ status }) => status === 201)
      expect(new Set(given.map(idOf))).toEqual(new Set(['A-0', 'A-1', 'A-2', 'A-3', 'A-4']))
      const refused = answers.filter(({ status }) => status !== 201)
      expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
        Array.from({ length: 3 }, () => [404, 'nothing_ready']),
      )
      const generations = given.map(({ body }) => body.generation as number)
      expect(new Set(generations).size).toBe(5)
      expect(Math.min(...generations)).toBeGreaterThan(Date.parse('2026-01-01'))
    })

    it('choose the most urgent, then a parent that is nobody else’s, then by rank within it', async () => {
      const repo = await published(
        config(),
        todo('A-10', { priority: 'High' }),
        todo('A-9', { priority: 'p1', parent: 'E' }),
        todo('A-2'),
        todo('A-11', { priority: 'HIGH', parent: 'E', rank: 1 }),
        todo('A-1', { priority: 'low' }),
        todo('A-3', { priority: 'urgent', ready: false }),
      )
      const ask = await asker(repo)
      const order: unknown[] = []
      for (let n = 0; n < 5; n++) {
        order.push(idOf(await ask('', { claim: secret(), actor: `agent-${n}` })))
      }
      // Nobody else works on a part of what A-10 is part of.
      expect(order).toEqual(['A-11', 'A-10', 'A-9', 'A-2', 'A-1'])
    })

    it('answer the same claim again, and are a session of the task in every read', async () => {
      const repo = await published(config(), todo('A-1', { title: 'One' }))
      const ask = await asker(repo)
      const before = await repo.request('/tasks')
      const stream = await (await repo.stream()).joined()
      // git has branches of this length, and who works on one has not named it.
      const branch = 'x'.repeat(250)
      const asked = { claim: secret(), actor: 'ada@home:7', client: 'codex', branch }
      const first = await ask('', asked)
      expect(first).toMatchObject({
        status: 201,
        body: { board: repo.path, task: { id: 'A-1', title: 'One', executionState: 'active' } },
      })
      expect(await ask('', asked)).toEqual({ status: 200, body: { ...first.body, again: true } })
      expect(first.body).not.toHaveProperty('again')
      const { generation, session } = first.body as { generation: number; session: string }
      await stream.until((it) => it.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'session-changed', session }])
      await stream.close()

      const { tasks } = await repo.json<{ tasks: Task[] }>('/tasks')
      const shown = { activeAttempt: `claim-${generation}`, executionState: 'active' }
      expect(tasks).toMatchObject([{ id: 'A-1', status: 'todo', ...shown, sessionId: session }])
      const since = await repo.request(`/tasks?since=${before.headers.get('x-signalbox-seq')}`)
      expect(await since.json()).toMatchObject({ tasks: [{ id: 'A-1', ...shown }] })
      const again = await repo.request('/tasks', {
        headers: { 'If-None-Match': before.headers.get('etag') ?? '' },
      })
      expect(again.status).toBe(200)
      const active = await repo.request('/tasks?execution=active')
      expect(await active.json()).toMatchObject({ tasks: [{ id: 'A-1' }] })
      for (const route of ['/sessions?actor=ada%40home%3A7', '/tasks/A-1/sessions']) {
        expect(await repo.json(route)).toMatchObject({
          sessions: [
            {
              id: session,
              task: 'A-1',
              attempt: `claim-${generation}`,
              health: 'active',
              client: 'codex',
              branch,
              claim: { generation },
            },
          ],
        })
      }
      expect(await repo.json(`/sessions/${session}`)).toMatchObject({ id: session })
    })

    it('are in no published record: the sidecar finds nothing to send again', async () => {
      const records = [config(), todo('A-1')]
      const repo = await published(...records)
      const ask = await asker(repo)
      await ask('', { claim: secret(), actor: 'ada' })
      expect(await repo.begin(sums(records).root)).toBe(true)
      // A heartbeat, or another file, must not take it off.
      const [, task] = records
      if (task?.kind !== 'task') throw new Error('no task')
      await repo.changes({
        upserts: [following(task, { title: 'Renamed' }), runRecord('A-1', '1')],
      })
      const { tasks } = await repo.json<{ tasks: Task[] }>('/tasks')
      expect(tasks).toMatchObject([{ title: 'Renamed', executionState: 'active' }])
    })

    it('show a branch, progress and a summary without what forges lines or turns the text', async () => {
      const repo = await published(config(), todo('A-1'))
      const ask = await asker(repo)
      const claim = secret()
      await ask('', { claim, actor: 'ada', branch: 'tea\u202egnp' })
      const progress = 'one\r\n\ttwo \u001b[2J\u2066three\u0085'
      await ask('/renew', { claim, progress })
      await ask('/release', { claim, outcome: 'done', summary: 'so\u202efar\n' })
      const [session] = await sessionsOf(repo)
      expect(session).toMatchObject({
        branch: 'tea\\u{202e}gnp',
        live: { progress: 'one\n\ttwo \\u{1b}[2J\\u{2066}three\\u{85}' },
        summary: 'so\\u{202e}far\n',
      })
    })

    it('name their board once', async () => {
      const repo = await published(config(), todo('A-1'))
      const bearer = await token({ scope: WORK, repos: [repo.path, 'other'] })
      const twice = `path=${encodeURIComponent(repo.path)}&path=other`
      for (const route of ['', '/renew', '/release']) {
        const answer = await repo.request(`/claims${route}?${twice}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}` },
          body: JSON.stringify({ claim: secret(), actor: 'ada' }),
        })
        expect([answer.status, await answer.json()]).toMatchObject([
          400,
          { code: 'unknown_filter' },
        ])
      }
      expect(await sessionsOf(repo)).toEqual([])
    })

    it('list their tasks by what they are for who leads', async () => {
      const trees = [{ tree: 'feat', dir: '/feat', status: 'done' }]
      const gone = { inMain: false, ready: false, held: true, trees } as const
      const repo = await published(
        config(),
        todo('A-1'),
        todo('A-2'),
        todo('A-3', { trees }),
        todo('A-4', { executionState: 'stalled', sessionId: 'ses_4', activeAttempt: 'att_1' }),
        todo('A-5', { ...gone, status: 'done' }),
        todo('A-6', { ...gone, status: 'done', deletedInMain: true }),
        todo('A-7'),
        sessionRecord('ses_4', { task: 'A-4', health: 'stalled' }),
      )
      const ask = await asker(repo)
      await ask('', { claim: secret(), actor: 'ada', task: 'A-2' })
      const done = secret()
      await ask('', { claim: done, actor: 'bob', task: 'A-7' })
      await ask('/release', { claim: done, outcome: 'done', summary: 'Brewed' })
      const list = async (query: string) => {
        const { tasks } = await repo.json<{ tasks: Task[] }>(`/tasks?${query}`)
        return tasks.map(({ id }) => id)
      }
      expect(await list('work=work')).toEqual(['A-2'])
      expect(await list('work=silent')).toEqual([])
      expect(await list('work=stalled')).toEqual(['A-4'])
      expect(await list('review=true')).toEqual(['A-3', 'A-5', 'A-7'])
      expect(await list('review=true&tree=feat')).toEqual(['A-3', 'A-5'])
      expect(await list('review=true&work=work')).toEqual([])
      const { tasks } = await repo.json<{ tasks: Task[] }>('/tasks?review=true')
      expect(tasks.at(-1)?.done).toMatchObject({ by: 'bob', summary: 'Brewed' })
      for (const query of ['work=idle', 'review=false', 'review=yes']) {
        const response = await repo.request(`/tasks?${query}`)
        expect([response.status, await response.json()]).toMatchObject([
          400,
          { code: 'invalid_request' },
        ])
      }
    })

    it('are renewed, and released as done or abandoned, again and again', async () => {
      const repo = await published(config(), todo('A-1'))
      const ask = await asker(repo)
      const claim = secret()
      const first = await ask('', { claim, actor: 'ada', ttlMs: 20_000 })
      const renewed = await ask('/renew', { claim, ttlMs: 60_000, progress: 'half of it' })
      expect(renewed).toMatchObject({ status: 200, body: { task: 'A-1' } })
      expect(Date.parse(String(renewed.body.expiresAt))).toBeGreaterThan(
        Date.parse(String(first.body.expiresAt)),
      )
      const [session] = await sessionsOf(repo)
      expect(session).toMatchObject({ live: { progress: 'half of it' } })
      const release = { claim, outcome: 'abandoned', summary: 'no time' }
      const end = { outcome: 'abandoned' }
      for (const _ of [1, 2]) {
        expect(await ask('/release', release)).toMatchObject({ status: 200, body: { end } })
      }
      expect(await ask('/renew', { claim })).toMatchObject({ status: 200, body: { end } })
      expect(await ask('', { claim, actor: 'ada' })).toMatchObject({
        status: 410,
        body: { code: 'claim_lost' },
      })
      expect(await sessionsOf(repo)).toMatchObject([
        { health: 'canceled', summary: 'no time', endedAt: expect.any(String) },
      ])
      const { tasks } = await repo.json<{ tasks: Task[] }>('/tasks')
      expect(tasks[0]).not.toHaveProperty('executionState')
      // Now it is another's, and the first holder is told so.
      expect(await ask('', { claim: secret(), actor: 'bob' })).toMatchObject({ status: 201 })
      expect(await ask('/renew', { claim })).toMatchObject({
        status: 410,
        body: { code: 'claim_lost', by: 'bob', generation: first.body.generation },
      })
    })

    it('offer what was left although it says begun, and not what was just done', async () => {
      const repo = await published(config(), todo('A-1'), todo('A-2'))
      const ask = await asker(repo)
      const [left, done] = [secret(), secret()]
      await ask('', { claim: left, actor: 'ada', task: 'A-1' })
      await ask('', { claim: done, actor: 'bob', task: 'A-2' })
      await repo.changes({ upserts: [taskRecord('A-1', { status: 'doing' })] })
      await ask('/release', { claim: left, outcome: 'abandoned' })
      await ask('/release', { claim: done, outcome: 'done' })
      expect(idOf(await ask('', { claim: secret(), actor: 'eve' }))).toBe('A-1')
      expect((await ask('', { claim: secret(), actor: 'flo' })).body.code).toBe('nothing_ready')
      // Its file has changed, and it is still open.
      await repo.changes({ upserts: [todo('A-2', { title: 'Again' })] })
      // For some seconds it may be a checkout.
      const again = async () => idOf(await ask('', { claim: secret(), actor: 'flo' }))
      await expect.poll(again, PATIENT).toBe('A-2')
    })

    it('give no task that another linked worktree has begun, unless they are forced', async () => {
      const begun = [{ tree: 'feat', dir: '/feat', status: 'doing' }]
      const repo = await published(config(), todo('A-1', { trees: begun }), todo('A-2'))
      const ask = await asker(repo)
      const claim = (more: object) => ({ claim: secret(), actor: `a-${secret()}`, ...more })
      expect((await ask('', claim({ task: 'A-1', tree: 'other' }))).body.code).toBe('not_ready')
      expect(idOf(await ask('', claim({ tree: 'other' })))).toBe('A-2')
      expect((await ask('', claim({ tree: 'other' }))).body.code).toBe('nothing_ready')
      expect(idOf(await ask('', claim({ tree: 'feat' })))).toBe('A-1')
      await repo.changes({ upserts: [todo('A-3', { trees: begun })] })
      expect(idOf(await ask('', claim({ task: 'A-3', force: true })))).toBe('A-3')
    })

    /** Two claims, of which one task is closed, and the other gone. */
    async function bothEnded() {
      const repo = await published(config(), todo('A-1'), todo('A-2'))
      const ask = await asker(repo)
      const [one, two] = [secret(), secret()]
      await ask('', { claim: one, actor: 'ada', task: 'A-1' })
      await ask('', { claim: two, actor: 'bob', task: 'A-2' })
      const closed = taskRecord('A-1', { status: 'done', ready: false })
      await repo.changes({ upserts: [closed], deletes: ['task:A-2'] })
      return { repo, ask, one, two }
    }

    it('end with the task: finished where its file closes it, canceled where it goes', async () => {
      const { repo, ask, one, two } = await bothEnded()
      const health = Object.fromEntries((await sessionsOf(repo)).map((it) => [it.task, it.health]))
      expect(health).toEqual({ 'A-1': 'finished', 'A-2': 'canceled' })
      expect(await ask('/renew', { claim: one })).toMatchObject({
        status: 200,
        body: { end: { outcome: 'closed' }, returning: true },
      })
      expect(await ask('/renew', { claim: two })).toMatchObject({
        status: 200,
        body: { task: 'A-2', title: 'Task A-2', end: { outcome: 'deleted' }, returning: true },
      })
    })

    it('are back with the task, closed or away for a while, and nobody else gets it meanwhile', async () => {
      const { repo, ask, one, two } = await bothEnded()
      for (const task of ['A-1', 'A-2']) {
        const other = await ask('', { claim: secret(), actor: 'eve', task, force: true })
        expect(other).toMatchObject({ status: 409, body: { code: 'claimed' } })
      }
      await repo.changes({ upserts: [todo('A-1'), taskRecord('A-2', { status: 'doing' })] })
      for (const claim of [one, two]) {
        const held = await ask('/renew', { claim })
        expect(held.status).toBe(200)
        expect(held.body).not.toHaveProperty('end')
      }
      const { tasks } = await repo.json<{ tasks: Task[] }>('/tasks')
      expect(tasks.map(({ executionState }) => executionState)).toEqual(['active', 'active'])
    })

    it('of another are ended by a person, and the running session of a file counts first', async () => {
      const session = sessionRecord('ses_1', { task: 'A-2', status: 'running' })
      const begun = {
        executionState: 'active',
        sessionId: 'ses_1',
        activeAttempt: 'att_1',
      } as const
      const repo = await published(config(), todo('A-1'), todo('A-2', begun), session)
      const ask = await asker(repo)
      const claim = secret()
      const held = await ask('', { claim, actor: 'ada' })
      const release = { session: held.body.session, outcome: 'abandoned' }
      expect(await ask('/release', release)).toMatchObject({ status: 200 })
      expect(await ask('/release', release)).toMatchObject({ status: 200 })
      expect(await ask('/renew', { claim })).toMatchObject({ status: 410 })
      expect(await ask('', { claim: secret(), actor: 'bob', task: 'A-2' })).toMatchObject({
        status: 409,
        body: { code: 'not_ready' },
      })
      const forced = { claim: secret(), actor: 'bob', task: 'A-2', force: true }
      expect(await ask('', forced)).toMatchObject({ status: 201, body: { task: begun } })
    })

    it('lie over the finished session of a file, whose work waits for a review', async () => {
      const awaiting: Partial<Task> = {
        executionState: 'awaiting_review',
        sessionId: 'ses_1',
        activeAttempt: 'att_1',
        trees: [{ tree: 'feat', dir: '/feat', status: 'done' }],
      }
      const session = sessionRecord('ses_1', {
        task: 'A-1',
        status: 'finished',
        health: 'finished',
      })
      const repo = await published(config(), todo('A-1', awaiting), session)
      const ask = await asker(repo)
      const list = async (query: string) =>
        (await repo.json<{ tasks: Task[] }>(`/tasks?${query}`)).tasks
      expect(await list('review=true')).toMatchObject([awaiting])
      await ask('', { claim: secret(), actor: 'ada', task: 'A-1', force: true })
      expect(await list('work=work')).toMatchObject([{ executionState: 'active' }])
      expect(await list('review=true')).toEqual([])
    })

    it('are refused with a code and a sentence each', async () => {
      const mine = todo('A-4', { assignee: 'eve' })
      const done = taskRecord('A-3', { status: 'done', ready: false })
      const repo = await published(config(), todo('A-1'), todo('A-2', { ready: false }), done, mine)
      const ask = await asker(repo)
      const held = { claim: secret(), actor: 'ada', task: 'A-1' }
      expect((await ask('', held)).status).toBe(201)
      const by = (actor: string, fields: object) => ({ claim: secret(), actor, ...fields })
      const refusals: Refusal[] = [
        ['', by('bob', { task: 'A-1' }), 409, 'claimed'],
        ['', by('bob', { task: 'A-2' }), 409, 'not_ready'],
        ['', by('bob', { task: 'A-3', force: true }), 409, 'closed'],
        ['', by('bob', { task: 'A-4' }), 409, 'not_ready'],
        ['', by('bob', { task: 'A/9%' }), 404, 'not_found'],
        ['', by('ada', { task: 'A-4' }), 409, 'already_holding'],
        ['', by('bob', { task: '../A-1' }), 404, 'not_found'],
        ['', by('bob', { label: 'none' }), 404, 'nothing_ready'],
        ['', by('bob', { parent: 'A/9%' }), 404, 'nothing_ready'],
        ['/renew', { claim: secret() }, 404, 'unknown_claim'],
        ...['claim-1', 'claim-1/2', 'claim-%', '%2F', ''].map((session): Refusal => {
          return ['/release', { session, outcome: 'done' }, 404, 'unknown_claim']
        }),
        ['', `${' '.repeat(33_000)}{}`, 413, 'payload_too_large'],
      ]
      const malformed = [
        ...['', 'a\nb', 'a\u0000', 'a\u007f', '\ud800', 'a'.repeat(10_000), 'é'.repeat(65)].map(
          (actor) => by(actor, {}),
        ),
        ...[0, -1, 9_999, 10_000.5, 31_536_000_000, '10m', null].map((ttlMs) =>
          by('bob', { ttlMs }),
        ),
        ...[0, 17, 1.5, '2'].map((max) => by('bob', { max })),
        ...['abc', 'a'.repeat(23), `${'a'.repeat(21)}/`, `${'a'.repeat(21)}\n`, 7].map((claim) => ({
          claim,
          actor: 'bob',
        })),
        ...['a\u0085b', 'a\u202eb', 'a\u2028b'].flatMap((odd) => [
          by(odd, {}),
          by('bob', { client: odd }),
          by('bob', { model: odd }),
        ]),
        by('bob', { task: '' }),
        by('bob', { task: 'a'.repeat(1_025) }),
        by('bob', { of: 1 }),
        '{',
        '[]',
        'null',
        '',
      ]
      for (const body of malformed) refusals.push(['', body, 400, 'invalid_request'])
      const outcome = 'done'
      for (const body of [{}, { claim: 'abc' }, { claim: secret(), progress: 'a'.repeat(4_001) }]) {
        refusals.push(['/renew', body, 400, 'invalid_request'])
      }
      for (const body of [
        { outcome },
        { claim: secret(), session: 'claim-1', outcome },
        { claim: secret() },
        { session: 'a'.repeat(65), outcome },
        { claim: secret(), outcome: 'closed' },
      ]) {
        refusals.push(['/release', body, 400, 'invalid_request'])
      }
      for (const [route, body, status, code] of refusals) {
        const answer = await ask(route, body)
        expect([route, body, answer.status, answer.body.code]).toEqual([route, body, status, code])
        expect(answer.body.error).toMatch(/^[^\n]+\.$/)
      }
      expect(await sessionsOf(repo)).toHaveLength(1)
      expect((await ask('', by('eve', { task: 'A-4' }))).status).toBe(201)
      expect(await sessionsOf(repo)).toHaveLength(2)
      const reading = await asker(repo, 'board:read')
      const working = await asker(repo, 'board:work')
      for (const each of [reading, working]) {
        expect(await each('', by('bob', {}))).toMatchObject({
          status: 403,
          body: { code: 'forbidden' },
        })
      }
    })

    it('are of one board: at another one, and where none was published, they are unknown', async () => {
      const [repo, other] = [await published(config(), todo('A-1')), await published(config())]
      const ask = await asker(repo)
      const claim = secret()
      const { body } = await ask('', { claim, actor: 'ada' })
      const asked: [string, object][] = [
        ['/renew', { claim }],
        ['/release', { claim, outcome: 'done' }],
        ['/release', { session: body.session, outcome: 'done' }],
      ]
      const elsewhere = await asker(other)
      for (const [route, what] of asked) {
        expect(await elsewhere(route, what)).toMatchObject({
          status: 404,
          body: { code: 'unknown_claim' },
        })
      }
      const empty = new Repo(edge())
      expect(await (await asker(empty))('', { claim, actor: 'ada' })).toMatchObject({
        status: 404,
        body: { code: 'unknown_repository' },
      })
      expect(await sessionsOf(other)).toEqual([])
      expect((await ask('/renew', { claim })).body).not.toHaveProperty('end')
    })
  })
}

async function sessionsOf(repo: Repo): Promise<Session[]> {
  const { sessions } = await repo.json<{ sessions: Session[] }>('/sessions')
  return sessions
}
