// Spoiled histories of claims, each in one way: the checker finds it, and names the line.

import { describe, expect, it } from 'vitest'
import { goodHistory, type Line } from './good-history.ts'
import { expectChanged, findings, indexOf, isOf } from './spoil.ts'

const isLast = isOf('claim')

describe('(i) one agent, one task', () => {
  it('finds a task that is given to another while its lease runs', () => {
    expectChanged('last', isLast, (line) => ({ ...line, beganAt: 11_999 }), ['i'])
  })

  it('finds one that was renewed, and given away before that end', () => {
    const lines = goodHistory()
    lines.splice(indexOf(lines, isLast, 'last'), 0, {
      kind: 'renewal',
      generation: 2,
      status: 200,
      expiresAt: 20_000,
    })
    expect(findings(lines)).toContainEqual({ check: 'i', line: indexOf(lines, isLast, 'last') + 1 })
  })

  it('takes it that a renewal ends earlier than the lease before, since the clock was set back', () => {
    const lines = goodHistory()
    const last = indexOf(lines, isLast, 'last')
    const { task } = lines[last] as { task?: unknown }
    const isBefore = ({ kind, ...it }: Line, at: number) =>
      kind === 'claim' && it.task === task && at < last
    const before = lines.findLastIndex(isBefore)
    lines[before] = { ...(lines[before] as Line), expiresAt: 3_600_000 }
    const { generation } = lines[before] as { generation?: unknown }
    lines.splice(last, 0, { kind: 'renewal', generation, status: 200, expiresAt: 11_000 })
    expect(findings(lines)).toEqual([])
  })

  it('finds one that was given away without a release', () => {
    const lines = goodHistory()
    lines.splice(indexOf(lines, isOf('release')), 1)
    const second = lines.findIndex(({ generation, kind }) => kind === 'claim' && generation === 2)
    expect(findings(lines)).toContainEqual({ check: 'i', line: second + 1 })
  })

  it('finds a number that does not rise, or comes twice', () => {
    expectChanged('last', isLast, (line) => ({ ...line, known: 13 }), ['i'])
    const lines = goodHistory()
    const at = indexOf(lines, isLast, 'last')
    lines.splice(at, 0, { ...(lines[at] as { kind: string }), task: 'T-9' })
    expect(findings(lines)).toContainEqual({ check: 'i', line: at + 2 })
  })

  it('finds a claim that was answered, and is not there any more', () => {
    const isKept = ({ kind, generation }: { kind: string; generation?: unknown }) =>
      kind === 'renewal' && generation === 13
    expectChanged('last', isKept, (line) => ({ ...line, status: 404 }), ['i'])
    expectChanged('last', isKept, (line) => ({ ...line, status: 410 }), ['i'])
  })

  it('finds a late one that is renewed though another has the task', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('renewal', { generation: 2 }))
    lines[at] = { ...(lines[at] as { kind: string }), status: 200, expiresAt: 24_000 }
    expect(findings(lines)).toEqual([{ check: 'i', line: indexOf(lines, isLast, 'last') + 1 }])
  })

  it.each(['active', 'stalled'])('finds one that the dead still hold, and is %s', (health) => {
    expectChanged('last', isOf('left'), (line) => ({ ...line, health }), ['i'])
  })

  it('finds that nothing was claimed at all', () => {
    const lines = goodHistory().filter(({ kind }) => kind !== 'claim')
    expect(findings(lines)).toContainEqual({ check: 'rest', line: lines.length })
  })
})
