// What whoever leads types: who holds what, and what is handed out.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimsTable, heldBy } from '../../cli/claim/claims-text.ts'
import type { DataRecord, Session } from '../../worker/board/wire.ts'
import { freshHash, publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

let edge: NodeEdgeInTest
let home: string
beforeAll(async () => {
  edge = await startNodeEdge()
})
afterAll(() => edge.close())
beforeEach(() => {
  home = tempFolder()
})

const config = (): DataRecord => ({
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
})
const todo = (id: string, fields = {}) => taskRecord(id, { status: 'todo', ...fields })
const published = (...tasks: DataRecord[]) => publishedRepo(edge, [config(), ...tasks])

async function typed(scope: string, repo: Repo, argv: string[]) {
  const [name = '', ...options] = argv
  const where = ['--url', edge.origin, '--board', repo.path]
  const SIGNALBOX_TOKEN = await token({ scope, repos: [repo.path] })
  return await run([name, ...where, ...options], { HOME: home, SIGNALBOX_TOKEN })
}
const agent = (repo: Repo, ...argv: string[]) => typed('board:read board:work', repo, argv)
const lead = (repo: Repo, ...argv: string[]) => typed('board:read board:lead', repo, argv)
const lineOf = ({ out }: { out: string }) => JSON.parse(out) as Record<string, unknown>

describe('signalbox pause and resume', () => {
  it('hand nothing out meanwhile: a claim ends with 3, and one that waits goes on afterwards', async () => {
    const repo = await published(todo('A-1'))
    const paused = await lead(repo, 'pause')
    expect([paused.code, lineOf(paused)]).toEqual([
      0,
      { type: 'paused', paused: true, perParent: false, atMost: null, board: repo.path },
    ])
    const refused = await agent(repo, 'claim', '--actor', 'ada')
    expect([refused.code, lineOf(refused).type]).toEqual([3, 'paused'])
    const short = await agent(repo, 'claim', '--actor', 'ada', '--wait', '1s')
    expect([short.code, lineOf(short).type]).toEqual([3, 'timeout'])
    const waiting = agent(repo, 'claim', '--actor', 'ada', '--wait', '30s')
    expect(lineOf(await lead(repo, 'resume'))).toMatchObject({ type: 'open', paused: false })
    const given = await waiting
    expect([given.code, lineOf(given).task]).toEqual([0, 'A-1'])
  })

  it('set bounds without a pause, and keep what is not named', async () => {
    const repo = await published(
      todo('A-1', { parent: 'E' }),
      todo('A-2', { parent: 'E' }),
      todo('A-3'),
    )
    expect(lineOf(await lead(repo, 'pause', '--per-parent', 'on'))).toMatchObject({
      type: 'open',
      perParent: true,
    })
    await agent(repo, 'claim', '--actor', 'ada', '--task', 'A-1')
    const taken = await agent(repo, 'claim', '--actor', 'bob', '--task', 'A-2')
    expect([taken.code, lineOf(taken)]).toMatchObject([3, { type: 'parent_taken', by: 'ada' }])
    expect(lineOf(await lead(repo, 'pause', '--at-most', '1'))).toMatchObject({
      perParent: true,
      atMost: 1,
    })
    const full = await agent(repo, 'claim', '--actor', 'bob')
    expect([full.code, lineOf(full)]).toMatchObject([3, { type: 'board_full', atMost: 1 }])
    const off = await lead(repo, 'pause', '--at-most', 'off', '--per-parent', 'off')
    expect(lineOf(off)).toMatchObject({ perParent: false, atMost: null })
    expect(lineOf(await agent(repo, 'claim', '--actor', 'bob', '--task', 'A-2')).task).toBe('A-2')
  })

  it('refuse who does not lead, and what is no bound', async () => {
    const repo = await published(todo('A-1'))
    for (const name of ['pause', 'resume']) {
      const { code, err } = await agent(repo, name)
      expect([code, err]).toEqual([1, expect.stringContaining('lacks the scope board:lead')])
    }
    for (const most of ['0', '1001', 'two', '1.5', '-1']) {
      const { code, err } = await lead(repo, 'pause', `--at-most=${most}`)
      expect([most, code, err]).toEqual([
        most,
        2,
        expect.stringContaining('from 1 to 1000, or off'),
      ])
    }
    expect((await lead(repo, 'pause', '--per-parent', 'yes')).code).toBe(2)
    expect(lineOf(await agent(repo, 'claim', '--actor', 'ada')).task).toBe('A-1')
  })
})

describe('signalbox claims', () => {
  it('shows who holds what, and with --json all of it', async () => {
    const repo = await published(todo('A-1', { title: 'Bake bread' }), todo('A-2'))
    const none = await lead(repo, 'claims')
    expect([none.code, none.out]).toEqual([0, `Nobody holds a task of ${repo.path}.\n`])
    await agent(repo, 'claim', '--actor', 'ada@home:77')
    await agent(repo, 'renew', '--actor', 'ada@home:77', '--progress', 'The dough\nrests')
    const { code, out } = await lead(repo, 'claims')
    expect(code).toBe(0)
    const [heads, row, ...more] = out.trimEnd().split('\n')
    expect(heads?.split(/ {2,}/)).toEqual(['WHO', 'TASK', 'FOR', 'STATE', 'TREE', 'PROGRESS'])
    expect(row).toMatch(/^ada@home {2}A-1 Bake bread {2}\d+ s +work +The dough$/)
    expect(more).toEqual([])
    expect(lineOf(await lead(repo, 'claims', '--json'))).toEqual({
      board: repo.path,
      claims: [
        {
          actor: 'ada@home:77',
          task: 'A-1',
          title: 'Bake bread',
          state: 'work',
          since: expect.any(String),
          activeAt: expect.any(String),
          expiresAt: expect.any(String),
          progress: 'The dough\nrests',
          session: expect.stringMatching(/^claim-\d+$/),
        },
      ],
    })
  })

  it('says for how long somebody is silent, or has left a task, without what forges a line', () => {
    const now = Date.parse('2026-03-01T12:00:00Z')
    const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
    const session = (id: string, fields: Partial<Session>): Session => ({
      id,
      task: id,
      attempt: id,
      actor: 'root@vm:27080',
      status: 'in_progress',
      startedAt: ago(90),
      health: 'active',
      claim: { generation: 1, expiresAt: ago(-5) },
      ...fields,
    })
    const held = heldBy(
      [
        session('A-1', { tree: 'feat', branch: 'agent/tea', actor: 'root@vm:27080/feat' }),
        session('A-2', { startedAt: ago(3), actor: 'eve\u001b[2J', branch: 'main' }),
        session('A-3', { health: 'stalled', claim: { generation: 1, expiresAt: ago(200) } }),
        session('A-4', { health: 'finished' }),
      ],
      new Map([['A-1', 'Brew']]),
      { now, silentAfterMs: 20 * 60_000 },
    )
    const rows = claimsTable(held, now).trimEnd().split('\n')
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
      ['WHO', 'TASK', 'FOR', 'STATE', 'TREE', 'PROGRESS'],
      ['root@vm', 'A-1 Brew', '1 h', 'silent 1 h', 'feat (agent/tea)'],
      ['root@vm', 'A-3', '1 h', 'stalled 3 h'],
      ['eve\\u{1b}[2J', 'A-2', '3 min', 'work', 'main'],
    ])
  })
})

describe('signalbox wait --until review', () => {
  it('ends once somebody has released a task as done that the main tree has open', async () => {
    const repo = await published(todo('A-1'), todo('A-2'))
    await agent(repo, 'claim', '--actor', 'ada')
    const waiting = lead(repo, 'wait', '--until', 'review', '--timeout', '30s')
    await agent(repo, 'release', '--actor', 'ada', '--done', '--summary', 'Baked')
    const { code, out } = await waiting
    expect([code, JSON.parse(out)]).toMatchObject([0, { type: 'review', task: 'A-1' }])
    const other = await lead(repo, 'wait', '--until', 'review', '--task', 'A-2', '--timeout', '1s')
    expect([other.code, lineOf(other).type]).toEqual([3, 'timeout'])
  })

  it('sees what a worktree has closed, and not what somebody still works on', async () => {
    const trees = [{ tree: 'feat', dir: '/feat', status: 'done' }]
    const repo = await published(
      todo('A-1', { trees, executionState: 'active' }),
      todo('A-2', { trees }),
    )
    const { code, out } = await lead(repo, 'wait', '--until', 'review', '--timeout', '30s')
    expect([code, JSON.parse(out)]).toMatchObject([0, { type: 'review', task: 'A-2' }])
    expect((await lead(repo, 'wait', '--until', 'reviewed')).code).toBe(2)
  })
})
