import { describe, expect, it } from 'vitest'
import type { Shown } from '../../../console/data/notifying.ts'
import { noticeOf, turnOfPage, type WholeBoard } from '../../../console/notices/causes.ts'
import type { Session, Task } from '../../../libraries/api/types.ts'

const NOW = Date.parse('2026-01-05T10:00:00Z')
const MINUTE_MS = 60_000
const at = (minute: number) => new Date(NOW + minute * MINUTE_MS).toISOString()

const task = (id: string, fields: Partial<Task> = {}): Task => {
  return { id, title: 'Bread', status: 'todo', ready: true, ...fields }
}
const working = (id: string, fields: Partial<Session> = {}): Session => ({
  id: `ses-${id}`,
  task: id,
  attempt: '1',
  actor: 'ada',
  status: 'active',
  startedAt: at(0),
  health: 'active',
  claim: { generation: 1, expiresAt: at(60) },
  ...fields,
})

interface Look {
  tasks?: Task[]
  sessions?: Session[]
  minute?: number
  isPaused?: boolean
}

/** Looks again and again, and answers the titles of what is shown at each look. */
function shownAt(...looks: Look[]): string[] {
  let shown: Shown = {}
  return looks.map(({ tasks = [], sessions = [], minute = 0, isPaused = false }) => {
    const board: WholeBoard = {
      tasks: new Map(tasks.map((it) => [it.id, it])),
      sessions: new Map(sessions.map((it) => [it.id, it])),
      config: { states: ['todo', 'doing', 'done'], closed: ['done'] },
      isPaused,
      moment: { now: NOW + minute * MINUTE_MS, silentAfterMs: 20 * MINUTE_MS },
    }
    const turn = turnOfPage(board, shown)
    // It is kept as JSON.
    shown = JSON.parse(JSON.stringify(turn.shown)) as Shown
    return turn.news.length === 0 ? '' : noticeOf(turn.news).title
  })
}

describe('what the page shows by itself', () => {
  it('is each cause once, also where it goes and comes back within ten minutes', () => {
    const done = { at: at(0), by: 'ada', session: 'ses-A' }
    const review = [task('A', { done })]
    expect(
      shownAt(
        { tasks: review },
        { tasks: review, minute: 1 },
        { tasks: [task('A', { status: 'done', ready: false })], minute: 2 },
        { tasks: review, minute: 3 },
      ),
    ).toEqual(['To review: A Bread (ada)', '', '', ''])
  })

  it('is that ready tasks have nobody, unless somebody works or the board is paused', () => {
    const tasks = [task('A'), task('B')]
    expect(shownAt({ tasks })).toEqual(['Ready, and nobody works: 2, next A Bread'])
    expect(shownAt({ tasks, isPaused: true })).toEqual([''])
    expect(shownAt({ tasks, sessions: [working('A')] })).toEqual([''])
  })

  it('is who shows no sign of work, as soon as time alone says so', () => {
    const look = { tasks: [task('A', { status: 'doing' })], sessions: [working('A')] }
    expect(shownAt({ ...look, minute: 19 }, { ...look, minute: 21 })).toEqual([
      '',
      'Silent: A Bread (ada)',
    ])
  })

  it('is one notice of several causes, with a line for each', () => {
    const since = NOW
    const stalled = ['A', 'B'].map((key) => {
      return { on: 'stalled' as const, key, task: key, title: 'Bread', since }
    })
    expect(noticeOf(stalled)).toEqual({
      title: '2 things to look at',
      body: 'Stalled: A Bread\nStalled: B Bread',
    })
    expect(noticeOf(stalled.slice(0, 1))).toMatchObject({ title: 'Stalled: A Bread', task: 'A' })
  })
})
