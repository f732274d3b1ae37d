import { describe, expect, it } from 'vitest'
import { merge } from '../../../console/data/merge.ts'

const shown = new Map([
  ['A', { id: 'A', title: 'one', labels: ['x'] }],
  ['B', { id: 'B', title: 'two', labels: ['y'] }],
])

describe('merging a new list into the shown one', () => {
  it('keeps the objects that did not change', () => {
    const fresh = [
      { id: 'A', title: 'one', labels: ['x'] },
      { id: 'B', title: 'other', labels: ['y'] },
    ]
    const { items, changed } = merge(shown, fresh)
    expect(items.get('A')).toBe(shown.get('A'))
    expect(items.get('B')).toBe(fresh[1])
    expect(changed).toEqual(['B'])
  })

  it('takes the order of the new list, and reports what is new, not what is gone', () => {
    const { items, changed } = merge(shown, [
      { id: 'C', title: 'three', labels: [] },
      { id: 'A', title: 'one', labels: ['x'] },
    ])
    expect([...items.keys()]).toEqual(['C', 'A'])
    expect(changed).toEqual(['C'])
  })
})
