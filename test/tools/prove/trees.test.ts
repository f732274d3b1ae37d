// Spoiled histories of worktrees, each in one way: the checker finds it, and names the line.

import { describe, expect, it } from 'vitest'
import { goodHistory, type Line } from './good-history.ts'
import { expectChanged, findings, indexOf, isOf } from './spoil.ts'

const isRow = isOf('row')
const claim: Line = { kind: 'claim', claimer: 'agent-0', task: 'W-1', generation: 14, known: 13 }
const times = { beganAt: 90_000, expiresAt: 100_000 }

/** What is found of a claim that is given right before this line. */
const givenBefore = (at: number) => {
  const lines = goodHistory()
  lines.splice(at, 0, { ...claim, ...times })
  return findings(lines)
}

describe('(j) worktrees that move', () => {
  it.each([
    ['is missing', {}],
    ['has another status', { 'tree-1': 'open' }],
    ['stands beside another one', { 'tree-1': 'doing', 'tree-1-copy': 'open' }],
    ['is that of another one', { 'tree-1-copy': 'doing' }],
  ])('finds that the mark of a worktree %s', (_, trees) => {
    expectChanged('first', isRow, (line) => ({ ...line, trees }), ['j'])
  })

  it('takes any row while a worktree is being changed', () => {
    const lines = goodHistory()
    lines[indexOf(lines, isRow, 'last')] = { kind: 'row', task: 'W-1', trees: { other: 'doing' } }
    expect(findings(lines)).toEqual([])
  })

  it.each(['doing', 'done'])(
    'finds that somebody was given what a worktree has as %s',
    (status) => {
      const at = indexOf(goodHistory(), isOf('mark', { status })) + 1
      expect(givenBefore(at)).toEqual([{ check: 'j', line: at + 1 }])
    },
  )

  it('takes it that one is given of which no worktree has anything', () => {
    expect(givenBefore(indexOf(goodHistory(), isRow, 'last'))).toEqual([])
  })

  it('finds a mark that is missing after a sidecar was killed, too', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isRow)
    const row = { kind: 'row', task: 'W-1', trees: {} }
    lines.splice(at, 1, { kind: 'fault', name: 'kill-sidecar' }, row)
    expect(findings(lines)).toEqual([{ check: 'j', line: at + 2 }])
  })

  it('finds a mark that is not shown within two minutes', () => {
    expectChanged('first', isOf('mark'), (line) => ({ ...line, isSeen: false }), ['j'])
  })

  it('finds a task that nobody gets though no worktree has anything of it', () => {
    expectChanged('first', isOf('offered'), (line) => ({ ...line, isGiven: false }), ['j'])
  })
})
