import { describe, expect, it } from 'vitest'
import { heirOf, moveFrom, nearest } from '../../../console/board/keyboard.ts'

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

  it('leads over an empty column into the next that is not', () => {
    expect(moveFrom(GRID, 'A-2', 'ArrowRight', 'ltr')).toEqual({
      to: 'column',
      ids: ['C-1', 'C-2'],
    })
    expect(moveFrom(GRID, 'C-1', 'ArrowLeft', 'ltr')).toEqual({ to: 'column', ids: GRID[0] })
  })

  it('leads the other way where one reads the other way', () => {
    expect(moveFrom(GRID, 'A-1', 'ArrowLeft', 'rtl')).toEqual({ to: 'column', ids: GRID[2] })
    expect(moveFrom(GRID, 'A-1', 'ArrowRight', 'rtl')).toBeUndefined()
  })

  it('leads nowhere at the ends, by other keys, and from what is not shown', () => {
    expect(moveFrom(GRID, 'A-1', 'ArrowUp', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'C-2', 'ArrowDown', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'C-2', 'ArrowRight', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'A-1', 'x', 'ltr')).toBeUndefined()
    expect(moveFrom(GRID, 'Z-1', 'ArrowUp', 'ltr')).toBeUndefined()
  })

  it('takes the nearest of the other column, of two the first', () => {
    expect(nearest([0, 100, 210], 190)).toBe(2)
    expect(nearest([0, 100], 50)).toBe(0)
  })
})

describe('the focus of a card', () => {
  it('stays with it when it moves to another column', () => {
    expect(heirOf(GRID, [['A-1', 'A-3'], ['A-2'], []], 'A-2')).toBe('A-2')
  })

  it('goes to the next of its column when it is gone, else to the one before it', () => {
    expect(heirOf(GRID, [['A-1', 'A-3'], [], ['C-1']], 'A-2')).toBe('A-3')
    expect(heirOf(GRID, [['A-1'], ['A-3'], []], 'A-2')).toBe('A-3')
    expect(heirOf(GRID, [['A-1', 'A-2']], 'A-3')).toBe('A-2')
  })

  it('goes to the first of the board when its column is empty, and to nobody when that is', () => {
    expect(heirOf(GRID, [['A-1'], [], []], 'C-1')).toBe('A-1')
    expect(heirOf(GRID, [[], []], 'C-1')).toBeUndefined()
  })
})
