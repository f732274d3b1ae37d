import { expect, it } from 'vitest'
import type { ActivityRow } from '../../../libraries/api/types.ts'
import { activityText } from '../../../libraries/mcp/activity-text.ts'

const row = (fields: Partial<ActivityRow>): ActivityRow => ({
  seq: 1,
  at: '2026-03-01T12:00:00.000Z',
  kind: 'status',
  hash: '',
  ...fields,
})

it('shows first what stands out, and not twice what the status says', () => {
  const changes = { status: ['done', 'todo'], closed: [true, false] }
  expect(activityText(row({ task: 'A-1', title: 'Bake', changes, marks: ['reopened'] }))).toBe(
    '2026-03-01T12:00:00.000Z  [reopened]  status  A-1  Bake  status done → todo',
  )
})

it('shows lists, what was not there, who did it and where, in one line', () => {
  const of = { task: 'A-2', actor: 'ada', tree: 'feat' }
  expect(activityText(row({ kind: 'deps', ...of, changes: { deps: [[], ['A-1', 'A-3']] } }))).toBe(
    '2026-03-01T12:00:00.000Z  deps  A-2  deps – → A-1, A-3  by ada  in feat',
  )
  const created = row({ kind: 'created', by: 'switch', changes: { status: [null, 'to\ndo'] } })
  expect(activityText(created)).toBe(
    '2026-03-01T12:00:00.000Z  created  status – → to\\u{a}do  by a switch of the main tree',
  )
})
