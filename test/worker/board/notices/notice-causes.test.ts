import { describe, expect, it } from 'vitest'
import type { Claim } from '../../../../worker/board/claims/claim-store-sqlite.ts'
import {
  type Cause,
  causesOf,
  type NoticeFacts,
} from '../../../../worker/board/notices/notice-causes.ts'
import type { BoardConfig, Session, Task } from '../../../../worker/board/wire.ts'
import type { NoticeCause } from '../../../../worker/shared/notice-rules.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const at = (minutesAgo: number) => new Date(NOW - minutesAgo * 60_000).toISOString()
const CONFIG: BoardConfig = {
  layout: 'cairn',
  states: ['todo', 'doing', 'blocked', 'done'],
  closed: ['done'],
}
const task = (id: string, fields: Partial<Task> = {}): Task => ({
  id,
  title: `Task ${id}`,
  status: 'todo',
  ready: true,
  ...fields,
})
const work = (of: string, fields: Partial<Session> = {}): Session => ({
  id: `claim-${of}`,
  task: of,
  attempt: 'claim-7',
  actor: 'ada',
  status: 'active',
  startedAt: at(60),
  health: 'active',
  claim: { generation: 7, expiresAt: at(-5) },
  ...fields,
})
const claim = (task: string, end: Claim['end']): Claim => ({
  generation: 7,
  hash: 'h',
  task,
  title: `Task ${task}`,
  actor: 'ada',
  ttlMs: 1,
  max: 1,
  startedAt: 0,
  renewedAt: 0,
  expiresAt: 0,
  ...(end && { end }),
})

function causes(on: NoticeCause, tasks: Task[], more: Partial<NoticeFacts> = {}): Cause[] {
  return causesOf(on, {
    tasks: new Map(tasks.map((it) => [it.id, it])),
    config: CONFIG,
    sessions: [],
    ended: [],
    isPaused: false,
    now: NOW,
    ...more,
  })
}
const ids = (...of: Parameters<typeof causes>) => causes(...of).map((it) => it.task)

describe('what people are told of', () => {
  it('is work that stalled, with who left it and since when', () => {
    const left = work('A', { health: 'stalled', claim: { generation: 7, expiresAt: at(3) } })
    const sessions = [left, work('B')]
    expect(causes('stalled', [task('A'), task('B'), task('C')], { sessions })).toEqual([
      { on: 'stalled', key: 'A', since: NOW - 180_000, task: 'A', title: 'Task A', actor: 'ada' },
    ])
  })

  it('is who works, since the last sign of it: how long is too long is the rule’s to say', () => {
    const sessions = [work('A', { activeAt: at(12) }), work('B')]
    const found = causes('silent', [task('A'), task('B'), task('C')], { sessions })
    expect(found.map(({ key, since = 0 }) => [key, (NOW - since) / 60_000])).toEqual([
      ['A', 12],
      ['B', 60],
    ])
  })

  it('is that there is something to do and nobody works, unless the board is paused', () => {
    const tasks = [task('A', { ready: false, deps: ['B'] }), task('B'), task('C')]
    expect(causes('ready', tasks)).toEqual([
      { on: 'ready', key: 'ready', ready: 2, task: 'B', title: 'Task B' },
    ])
    expect(causes('ready', tasks, { isPaused: true })).toEqual([])
    expect(causes('ready', tasks, { sessions: [work('C')] })).toEqual([])
    expect(causes('ready', [task('A', { status: 'done' })])).toEqual([])
  })

  it('is a task that waits for others, or says that it is blocked', () => {
    const tasks = [
      task('waits', { ready: false, deps: ['open'] }),
      task('open'),
      task('lost', { ready: false, deps: ['nowhere'] }),
      task('free', { deps: ['closed'] }),
      task('closed', { status: 'done', ready: false, deps: ['open'] }),
      task('says', { status: 'blocked' }),
      task('unreadable', { ready: false, deps: ['open'], invalid: 'It has no end.' }),
      task('draft', { ready: false, deps: ['open'], folder: 'drafts' }),
      task('begun', { ready: false, deps: ['open'], executionState: 'active' }),
    ]
    expect(ids('blocked', tasks)).toEqual(['waits', 'lost', 'says'])
  })

  it('is what was done in a worktree, or as its holder says, and is open in the main one', () => {
    const trees = [{ tree: 'x', dir: '/x', status: 'done' }]
    const done = { at: at(1), by: 'bob', session: 'claim-1' }
    expect(causes('review', [task('A', { trees }), task('B', { done }), task('C')])).toMatchObject([
      { key: 'A' },
      { key: 'B', actor: 'bob', since: NOW - 60_000 },
    ])
    expect(ids('review', [task('A', { trees, status: 'done' })])).toEqual([])
  })

  it('is a parent of which every part is closed, but for what need not be done', () => {
    const tasks = [
      task('P'),
      task('P.1', { parent: 'P', status: 'done' }),
      task('P.2', { parent: 'P', status: 'done' }),
      task('P.3', { parent: 'P', optional: true }),
      task('P.4', { parent: 'P', folder: 'drafts' }),
      task('Q'),
      task('Q.1', { parent: 'Q', status: 'done' }),
      task('Q.2', { parent: 'Q' }),
      task('R.1', { parent: 'R', inMain: false, status: 'done' }),
      task('S.1', { parent: 'S', status: 'done' }),
    ]
    expect(ids('parent_done', tasks)).toEqual(['P', 'S'])
  })

  it('is a sidecar that is offline, and not one that ended in order', () => {
    expect(causes('offline', [], { offlineSince: 7 })).toEqual([
      { on: 'offline', key: 'offline', since: 7 },
    ])
    expect(causes('offline', [])).toEqual([])
  })

  it('is a claim that somebody else took or ended, and not one that was done', () => {
    const ended = [
      claim('A', { at: NOW, outcome: 'abandoned', byOther: true }),
      claim('B', { at: NOW, outcome: 'replaced' }),
      claim('C', { at: NOW, outcome: 'done', byOther: true }),
      claim('D', { at: NOW, outcome: 'abandoned' }),
      claim('E', { at: NOW, outcome: 'closed' }),
    ]
    expect(ids('claim_taken', [], { ended })).toEqual(['A', 'B'])
  })
})
