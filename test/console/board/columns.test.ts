import { describe, expect, it } from 'vitest'
import { columnsOf } from '../../../console/board/columns.ts'
import { CONFIG, card } from '../../support/made-up-board.ts'

const all = () => true
const shapeOf = (columns: ReturnType<typeof columnsOf>) =>
  columns.map(({ status, cards }) => [status, ...cards.map((it) => it.task.id)])

describe('the columns', () => {
  it('have the order of the configuration, including empty ones, then other statuses', () => {
    const cards = [
      card({ id: 'LAMP-1', status: 'on hold' }),
      card({ id: 'LAMP-2', status: 'done' }),
      card({ id: 'LAMP-3', status: 'backlog' }),
    ]
    expect(shapeOf(columnsOf(cards, CONFIG, all))).toEqual([
      ['backlog', 'LAMP-3'],
      ['in_progress'],
      ['done', 'LAMP-2'],
      ['canceled'],
      ['on hold', 'LAMP-1'],
    ])
  })

  it('have the order of appearance while the configuration is unknown', () => {
    const cards = [card({ status: 'done' }), card({ id: 'LAMP-2', status: 'backlog' })]
    const columns = columnsOf(cards, undefined, all)
    expect(columns.map(({ status }) => status)).toEqual(['done', 'backlog'])
    expect(columns.some(({ isClosed }) => isClosed)).toBe(false)
  })

  it('sort cards by rank, and cards without a rank by id in numeric order', () => {
    const cards = [
      card({ id: 'LAMP-10' }),
      card({ id: 'LAMP-2' }),
      card({ id: 'LAMP-7', rank: 2 }),
      card({ id: 'LAMP-8', rank: 1.5 }),
    ]
    const [backlog] = shapeOf(columnsOf(cards, CONFIG, all))
    expect(backlog).toEqual(['backlog', 'LAMP-8', 'LAMP-7', 'LAMP-2', 'LAMP-10'])
  })

  it('begin with what is stuck, then with who works and what waits for a review', () => {
    const states = ['ready', 'review', 'work', 'silent', 'stalled'] as const
    const cards = states.map((state) => card({ id: state }, { state }))
    const own = [
      ...cards,
      card({ id: 'LAMP-9' }),
      card({ id: 'LAMP-8' }, { column: 'in_progress' }),
    ]
    expect(shapeOf(columnsOf(own, CONFIG, all)).slice(0, 2)).toEqual([
      ['backlog', 'stalled', 'silent', 'work', 'review', 'LAMP-9', 'ready'],
      ['in_progress', 'LAMP-8'],
    ])
  })

  it('sort each number in an id, and a task before what is within it', () => {
    const ids = ['tea', 'tea/1', 'tea/1.2', 'tea/1.10', 'tea/2.1', 'tea/10.1', 'tea/T003', 'teas']
    const [backlog] = shapeOf(
      columnsOf(
        ids.toReversed().map((id) => card({ id })),
        CONFIG,
        all,
      ),
    )
    expect(backlog).toEqual(['backlog', ...ids])
  })

  it('show the last changed card first where work is done, or where the user wants it', () => {
    const cards = ['backlog', 'done'].flatMap((status) => [
      card({ id: `${status}-1`, status, updatedAt: '2026-03-03T09:00:00Z' }),
      card({ id: `${status}-2`, status, updatedAt: '2026-03-04T09:00:00Z' }),
      card({ id: `${status}-3`, status }),
      card({ id: `${status}-4`, status }),
    ])
    const order = (turned: string[]) =>
      columnsOf(cards, CONFIG, all, new Set(turned)).map(({ cards: shown }) =>
        shown.map(({ task }) => task.id.at(-1)).join(''),
      )
    expect(order([])).toEqual(['1234', '', '2143', ''])
    expect(order(['backlog', 'done'])).toEqual(['2143', '', '1234', ''])
    const [backlog, begun] = columnsOf(cards, CONFIG, all)
    expect([backlog?.canSort, begun?.canSort]).toEqual([true, false])
  })

  it('count filtered cards, and do not show them', () => {
    const cards = [card({ id: 'LAMP-1' }), card({ id: 'LAMP-2', ready: true })]
    const [backlog] = columnsOf(cards, CONFIG, ({ task }) => task.ready)
    expect(backlog).toMatchObject({ total: 2, cards: [cards[1]] })
  })
})
