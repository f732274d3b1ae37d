import { describe, expect, it } from 'vitest'
import { announcementOf, changedIds } from '../../../console/board/announcement.ts'

describe('what a screen reader is told', () => {
  it('is what changed since it was told last', () => {
    const before = new Map([
      ['LAMP-1', 1_000],
      ['LAMP-2', 1_000],
    ])
    const after = new Map([...before, ['LAMP-2', 2_000], ['LAMP-3', 2_000]])
    expect(changedIds(before, after)).toEqual(['LAMP-2', 'LAMP-3'])
    expect(changedIds(after, after)).toEqual([])
  })

  it('names a few and counts many', () => {
    expect(announcementOf([])).toBe('')
    expect(announcementOf(['LAMP-4'])).toBe('LAMP-4 changed.')
    expect(announcementOf(['LAMP-4', 'LAMP-5', 'LAMP-6'])).toBe(
      'LAMP-4, LAMP-5, and LAMP-6 changed.',
    )
    expect(announcementOf(Array.from({ length: 1_200 }, String))).toBe('1,200 tasks changed.')
  })
})
