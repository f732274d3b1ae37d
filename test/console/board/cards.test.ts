import { describe, expect, it } from 'vitest'
import {
  announcementOf,
  type Board,
  type Cards,
  cardsOf,
  changedIds,
  idEnd,
  nameOf,
  plainTitle,
  titleParts,
  workState,
} from '../../../console/board/cards.ts'
import type { Session } from '../../../libraries/api/types.ts'
import { boardOf, card, session, task } from '../../support/made-up-board.ts'

const NONE = new Map()

describe('a card', () => {
  it('names the dependencies that are not closed, and marks one that does not exist', () => {
    const cards = cardsOf(
      boardOf([
        task('LAMP-1', { status: 'done' }),
        task('LAMP-2'),
        task('LAMP-3', { deps: ['LAMP-1', 'LAMP-2', 'LAMP-9'] }),
      ]),
      NONE,
    )
    expect(cards.get('LAMP-3')?.waitsFor).toEqual([
      { id: 'LAMP-2', isKnown: true },
      { id: 'LAMP-9', isKnown: false },
    ])
  })

  it('is not blocked once it is ready or closed', () => {
    const cards = cardsOf(
      boardOf([
        task('LAMP-1', { deps: ['LAMP-9'], status: 'done' }),
        task('LAMP-2', { deps: ['LAMP-9'], ready: true }),
        task('LAMP-3', { deps: ['LAMP-9'], status: 'Done' }),
      ]),
      NONE,
    )
    expect([...cards.values()].map(({ waitsFor }) => waitsFor)).toEqual([[], [], []])
  })

  it('does not show what blocks it before the closed states are known', () => {
    const board = boardOf([
      task('LAMP-1', { status: 'done' }),
      task('LAMP-2', { deps: ['LAMP-1'] }),
    ])
    const cards = cardsOf({ ...board, config: undefined }, NONE)
    expect(cards.get('LAMP-2')?.waitsFor).toEqual([])
  })

  it('is ready only while its work has not begun', () => {
    const isReady = (status: string, config: Board['config']) => {
      const board = { ...boardOf([task('LAMP-1', { status, ready: true })]), config }
      return cardsOf(board, NONE).get('LAMP-1')?.state === 'ready'
    }
    const own = { states: ['idea', 'To Do', 'baking', 'eaten'], closed: ['eaten'] }
    expect(own.states.map((status) => isReady(status, own))).toEqual([true, true, false, false])
    const later = { ...own, initial: 'baking' }
    expect(isReady('baking', later)).toBe(true)
    expect(isReady('gone', own)).toBe(false)
    expect(isReady('idea', undefined)).toBe(false)
  })

  it('names its actor and its parent', () => {
    const live = { heartbeatAt: '2026-03-03T09:25:00Z', progress: 'drawing a curve' }
    const cards = cardsOf(
      boardOf(
        [task('LAMP-1', { sessionId: 'ses_1', parent: 'LAMP-2' }), task('LAMP-2')],
        [session('ses_1', { live })],
      ),
      NONE,
    )
    expect(cards.get('LAMP-1')).toMatchObject({
      actor: 'agent:otto',
      progress: 'drawing a curve',
      parentTitle: 'The task LAMP-2',
    })
  })
})

it('cards are in the order of the tool, whatever was shown before', () => {
  const idsOf = (cards: Cards) => [...cards.keys()]
  const before = cardsOf(boardOf([task('LAMP-10'), task('LAMP-2'), task('LAMP-3')]), NONE)
  expect(idsOf(before)).toEqual(['LAMP-2', 'LAMP-3', 'LAMP-10'])
  const tasks = [task('LAMP-1'), task('LAMP-10', { rank: 1 }), task('LAMP-3')]
  expect(idsOf(cardsOf(boardOf(tasks), before))).toEqual(['LAMP-10', 'LAMP-1', 'LAMP-3'])
})

describe('the object of a card', () => {
  const one = task('LAMP-1', { sessionId: 'ses_1', deps: ['LAMP-2'] })
  const other = task('LAMP-2')
  const beat = (heartbeatAt: string) => [session('ses_1', { live: { heartbeatAt } })]
  const before = cardsOf(boardOf([one, other], beat('2026-03-03T09:25:00Z')), NONE)

  it('stays the same after a heartbeat or a change of another task', () => {
    const retitled = task('LAMP-2', { title: 'Another title' })
    const after = cardsOf(boardOf([one, retitled], beat('2026-03-03T09:26:00Z')), before)
    expect(after.get('LAMP-1')).toBe(before.get('LAMP-1'))
    expect(after.get('LAMP-2')).not.toBe(before.get('LAMP-2'))
  })

  it('is a new one when somebody else works on it, or since another time', () => {
    const since = session('ses_1', { startedAt: '2026-03-03T10:00:00Z' })
    const after = cardsOf(boardOf([one, other], [since]), before)
    expect(after.get('LAMP-1')).toMatchObject({ state: 'work', since: Date.UTC(2026, 2, 3, 10) })
    expect(after.get('LAMP-1')).not.toBe(before.get('LAMP-1'))
  })
})

describe('who works on a card', () => {
  it.each<[Partial<Session>, string]>([
    [{ actor: 'root@vm:27080' }, 'root@vm'],
    [{ actor: 'root@vm:27080/dim', tree: 'dim', branch: 'agent/dim' }, 'dim (agent/dim) · root@vm'],
    [{ actor: 'root@vm:27080/dim', tree: 'dim', branch: 'dim' }, 'dim · root@vm'],
    [{ actor: 'root@vm:lamp', branch: 'main' }, 'main · root@vm:lamp'],
    [{ live: { heartbeatAt: '', worktree: '/home/otto/lamp' } }, 'lamp · agent:otto'],
  ])('%j reads as %s', (fields, text) => {
    const board = boardOf([task('LAMP-1', { sessionId: 'ses_1' })], [session('ses_1', fields)])
    expect(cardsOf(board, NONE).get('LAMP-1')?.actor).toBe(text)
  })

  it('is in the column of what is begun, whatever its file says', () => {
    const claim = { generation: 1, expiresAt: '2026-03-03T11:00:00Z' }
    const of = (status: string, fields: Partial<Session> = {}) =>
      cardsOf(
        boardOf([task('LAMP-1', { status })], [session('claim-1', { claim, ...fields })]),
        NONE,
      ).get('LAMP-1')
    expect(of('backlog')).toMatchObject({ state: 'silent', column: 'in_progress' })
    expect(of('backlog', { health: 'stalled' })).toMatchObject({ column: 'in_progress' })
    expect(of('in_progress')).not.toHaveProperty('column')
    expect(of('done')).not.toHaveProperty('column')
    expect(of('backlog', { health: 'canceled' })).not.toHaveProperty('column')
  })
})

describe('the state of the work', () => {
  it('is the work in progress rather than the readiness', () => {
    const active = card({ executionState: 'active', ready: true }, { actor: 'agent:otto' })
    expect(workState(active)).toEqual({ tone: 'go', text: 'Working: agent:otto' })
    expect(workState(card({ executionState: 'awaiting_review' }))?.text).toBe('Awaiting review')
    expect(workState(card({ ready: true }))?.text).toBe('Ready')
    const silent = card({ executionState: 'active' }, { state: 'silent', actor: 'dim · root@vm' })
    expect(workState(silent)).toEqual({ tone: 'caution', text: 'Silent: dim · root@vm' })
    expect(workState(card({}, { state: 'review' }))?.text).toBe('To review')
  })

  it('names the tasks that block it', () => {
    const waitsFor = [
      { id: 'LAMP-2', isKnown: true },
      { id: 'LAMP-9', isKnown: false },
    ]
    const { text } = workState(card({}, { waitsFor })) ?? {}
    expect(text).toBe('Blocked by LAMP-2, LAMP-9 (does not exist)')
  })

  it('is empty once the task is closed', () => {
    expect(workState(card({ executionState: 'stalled' }, { isClosed: true }))).toBeUndefined()
  })
})

describe('the name of a card', () => {
  it('contains everything that the card shows', () => {
    const full = card(
      {
        id: 'LAMP-4',
        title: 'Wake up',
        status: 'in_progress',
        priority: 'high',
        assignee: 'mira',
        labels: ['comfort', 'app'],
        parent: 'LAMP-1',
        executionState: 'stalled',
      },
      { actor: 'agent:otto' },
    )
    expect(nameOf(full)).toBe(
      'LAMP-4, Wake up, In progress, Stalled: agent:otto, priority high, assigned to mira, ' +
        'labels comfort, app, Part of LAMP-1',
    )
    const shared = card({ id: 'LAMP-5', title: 'Dim', assignee: 'ann', assignees: ['ann', 'bob'] })
    expect(nameOf(shared)).toBe('LAMP-5, Dim, Backlog, assigned to ann, bob')
    expect(nameOf(card({ id: 'LAMP-5', title: 'Dim' }))).toBe('LAMP-5, Dim, Backlog')
    const broken = card({
      id: 'LAMP-6',
      title: 'LAMP-6',
      status: '',
      ready: true,
      invalid: 'No end.',
    })
    expect(nameOf(broken)).toBe('LAMP-6, No status, Cannot be read: No end.')
  })
})

describe('the announcement of changes', () => {
  it('contains what changed since the last announcement', () => {
    const before = new Map([
      ['LAMP-1', 1_000],
      ['LAMP-2', 1_000],
    ])
    const after = new Map([...before, ['LAMP-2', 2_000], ['LAMP-3', 2_000]])
    expect(changedIds(before, after)).toEqual(['LAMP-2', 'LAMP-3'])
    expect(changedIds(after, after)).toEqual([])
  })

  it('names a few tasks, and counts many', () => {
    expect(announcementOf([])).toBe('')
    expect(announcementOf(['LAMP-4'])).toBe('LAMP-4 changed.')
    expect(announcementOf(['LAMP-4', 'LAMP-5', 'LAMP-6'])).toBe(
      'LAMP-4, LAMP-5, and LAMP-6 changed.',
    )
    expect(announcementOf(Array.from({ length: 1_200 }, String))).toBe('1,200 tasks changed.')
  })
})

describe('a title', () => {
  it('shows its code without the marks, and stray backticks as they are', () => {
    expect(titleParts('Run `npm ci`, then ``a `b` c``')).toEqual([
      { text: 'Run ', isCode: false },
      { text: 'npm ci', isCode: true },
      { text: ', then ', isCode: false },
      { text: 'a `b` c', isCode: true },
    ])
    expect(plainTitle('`<b>` is `open')).toBe('<b> is `open')
    expect(titleParts('')).toEqual([])
  })
})

it('an id is cut before its number, if it has one', () => {
  const endOf = (id: string) => id.slice(idEnd(id))
  expect(['add-scope/1.2', 'master:4.1', 'LAMP-4'].map(endOf)).toEqual(['/1.2', ':4.1', ''])
})
