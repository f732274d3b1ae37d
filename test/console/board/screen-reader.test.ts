// What screen readers say about cards and changes.

import { describe, expect, it } from 'vitest'
import { workState } from '../../../console/board/cards.ts'
import { announcementOf, changedIds, nameOf } from '../../../console/board/screen-reader.ts'
import { card } from '../../support/made-up-board.ts'

describe('the state of the work', () => {
  it('is the work in progress rather than the readiness', () => {
    const active = card({ executionState: 'active', ready: true }, { actor: 'agent:otto' })
    expect(workState(active)).toEqual({ name: 'active', text: 'Working: agent:otto' })
    expect(workState(card({ executionState: 'awaiting_review' }))?.text).toBe('Awaiting review')
    expect(workState(card({ ready: true }))?.text).toBe('Ready')
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
    expect(nameOf(broken)).toBe('LAMP-6, LAMP-6, No status, Cannot be read: No end.')
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
