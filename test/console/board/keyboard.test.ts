import { describe, expect, it } from 'vitest'
import { lastList, moveFrom, nearest, nextFocus } from '../../../console/board/keyboard.ts'

const GRID = [['A-1', 'A-2', 'A-3'], [], ['C-1', 'C-2']]

describe('the keyboard', () => {
  it.each([
    ['A-2', 'ArrowUp', 'A-1'],
    ['A-2', 'ArrowDown', 'A-3'],
    ['A-2', 'Home', 'A-1'],
    ['A-1', 'End', 'A-3'],
  ])('leads from %s by %s to %s', (id, key, to) => {
    expect(moveFrom(GRID, id, key, 'ltr')).toEqual({ to: 'card', id: to })
  })

  it('skips empty columns', () => {
    expect(moveFrom(GRID, 'A-2', 'ArrowRight', 'ltr')).toEqual({
      to: 'column',
      ids: ['C-1', 'C-2'],
    })
    expect(moveFrom(GRID, 'C-1', 'ArrowLeft', 'ltr')).toEqual({ to: 'column', ids: GRID[0] })
  })

  it('swaps left and right for right-to-left languages', () => {
    expect(moveFrom(GRID, 'A-1', 'ArrowLeft', 'rtl')).toEqual({ to: 'column', ids: GRID[2] })
    expect(moveFrom(GRID, 'A-1', 'ArrowRight', 'rtl')).toBeUndefined()
  })

  it('does not move at the ends, for other keys, and from a hidden card', () => {
    expect(moveFrom(GRID, 'A-1', 'ArrowUp', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'C-2', 'ArrowDown', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'C-2', 'ArrowRight', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'A-1', 'x', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'Z-1', 'ArrowUp', 'ltr')).toBeUndefined()
  })

  it('moves to the nearest card of the other column; of two, to the first', () => {
    expect(nearest([0, 100, 210], 190)).toBe(2)
    expect(nearest([0, 100], 50)).toBe(0)
  })
})

describe('the end of a column', () => {
  const listOf = (key: string, status: string, ...ids: string[]) => ({
    key,
    status,
    cards: ids.map((id) => ({ task: { id } })),
  })
  const lists = [
    listOf('a', 'open', 'A-1', 'A-2'),
    listOf('b', 'done', 'B-1'),
    listOf('c', 'open', 'C-1'),
    listOf('d', 'done'),
    listOf('e', 'open'),
  ]

  it('is in the last group that has a card of that status', () => {
    expect(lastList(lists, 'A-1')?.key).toBe('c')
    expect(lastList(lists, 'C-1')?.key).toBe('c')
    expect(lastList(lists, 'B-1')?.key).toBe('b')
  })

  it('is nowhere for a card that is hidden', () => {
    expect(lastList(lists, 'Z-1')).toBeUndefined()
  })
})

describe('the focus of a card', () => {
  it('stays on the card when it moves to another column', () => {
    expect(nextFocus(GRID, [['A-1', 'A-3'], ['A-2'], []], 'A-2')).toBe('A-2')
  })

  it('moves to the next card of the column when its card disappears, else to the previous one', () => {
    expect(nextFocus(GRID, [['A-1', 'A-3'], [], ['C-1']], 'A-2')).toBe('A-3')
    expect(nextFocus(GRID, [['A-1'], ['A-3'], []], 'A-2')).toBe('A-3')
    expect(nextFocus(GRID, [['A-1', 'A-2']], 'A-3')).toBe('A-2')
  })

  it('moves to the first card of the board when the column is empty', () => {
    expect(nextFocus(GRID, [['A-1'], [], []], 'C-1')).toBe('A-1')
  })
})
