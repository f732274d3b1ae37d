import { describe, expect, it } from 'vitest'
import { cardsOf } from '../../../console/board/cards.ts'
import { boardOf, session, task } from '../../support/made-up-board.ts'

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
      ]),
      NONE,
    )
    expect([...cards.values()].map(({ waitsFor }) => waitsFor)).toEqual([[], []])
  })

  it('does not show what blocks it before the closed states are known', () => {
    const board = boardOf([
      task('LAMP-1', { status: 'done' }),
      task('LAMP-2', { deps: ['LAMP-1'] }),
    ])
    const cards = cardsOf({ ...board, config: undefined }, NONE)
    expect(cards.get('LAMP-2')?.waitsFor).toEqual([])
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

  it('is a new one when a task that blocked it is closed', () => {
    const closed = task('LAMP-2', { status: 'done' })
    const after = cardsOf(boardOf([one, closed], beat('2026-03-03T09:25:00Z')), before)
    expect(after.get('LAMP-1')).not.toBe(before.get('LAMP-1'))
    expect(after.get('LAMP-1')?.waitsFor).toEqual([])
  })
})
