// Spoiled histories of a board's history, each in one way: the checker finds it.

import { describe, expect, it } from 'vitest'
import { goodHistory, type Line } from './good-history.ts'
import { expectChanged, findings, indexOf, isOf, isRead } from './spoil.ts'

const isRow = (task: string) => (line: Line) =>
  isOf('activity')(line) && (line.row as { task?: string }).task === task
const withStatus = (status: (string | null)[]) => (line: Line) => ({
  ...line,
  row: { ...(line.row as object), changes: { status } },
})

describe('(k) the history of a board', () => {
  it('has no finding where a change was not seen by anybody', () => {
    expect(findings(goodHistory())).toEqual([])
  })

  it('lacks a change that a client saw', () => {
    const lines = goodHistory()
    lines.splice(indexOf(lines, isRow('T-1'), 'last'), 1)
    const shown = ['c1', 'c2'].map((client) => {
      const isIt = (line: Line) =>
        isRead(client, 'T-1')(line) && (line.statuses as object | undefined) !== undefined
      return { check: 'k', line: indexOf(lines, isIt, 'last') + 1 }
    })
    expect(findings(lines)).toEqual(shown)
  })

  it('lacks that a task is gone', () => {
    const lines = goodHistory()
    lines.splice(indexOf(lines, isRow('T-2')), 1)
    expect(findings(lines)).toEqual([
      { check: 'k', line: indexOf(lines, isRead('c1', 'T-2'), 'last') + 1 },
    ])
  })

  it('has a change that does not begin where the one before ended', () => {
    expectChanged('last', isRow('T-1'), withStatus(['open', 'doing']), ['k'])
  })

  it('has the changes in another order than they were seen in', () => {
    const lines = goodHistory()
    const [at, next] = [indexOf(lines, isRow('T-1')), indexOf(lines, isRow('T-1'), 'last')]
    lines[at] = withStatus(['open', 'doing'])(lines[at] as Line)
    lines[next] = withStatus(['doing', 'open'])(lines[next] as Line)
    const shown: Line = { ...(lines[indexOf(lines, isRead('c1', 'T-1'))] as Line) }
    const again = { ...shown, isWhole: false, statuses: { 'T-1': 'doing' } }
    const end = indexOf(lines, isRead('c1', 'T-1'), 'last') + 1
    lines.splice(end, 0, { ...again, statuses: { 'T-1': 'open' } }, again)
    expect(findings(lines)).toContainEqual({ check: 'k', line: end + 2 })
  })

  it('counts only what the main tree has', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isRow('T-1'))
    const row = { kind: 'status', task: 'T-1', tree: 'feat', changes: { status: ['a', 'b'] } }
    lines.splice(at, 0, { kind: 'activity', row })
    expect(findings(lines)).toEqual([])
  })
})
