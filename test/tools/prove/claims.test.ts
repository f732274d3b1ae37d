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

  it('finds a task that was away, and given to another before it was back', () => {
    const lines = goodHistory()
    const back = indexOf(lines, isOf('write', { task: 'K-1', version: -1 }), 'last')
    const [own] = lines.filter(isOf('claim', { task: 'K-1' }))
    lines.splice(back, 0, { ...(own as Line), claimer: 'agent-0', generation: 12.5, known: 12 })
    expect(findings(lines)).toEqual([{ check: 'i', line: back + 1 }])
  })

  it('takes it that one is given to another that came back with another text', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('write', { task: 'T-2', version: null }))
    expect(at).toBeGreaterThan(0)
    const [first] = lines.filter(isOf('claim'))
    const own = { ...(first as Line), task: 'T-2', generation: 0.2, known: 0 }
    lines.splice(at, 0, own)
    lines.splice(at + 2, 0, { ...own, claimer: 'agent-0', generation: 0.4 })
    expect(findings(lines)).toEqual([])
  })

  it.each([
    [29_999, 1],
    [30_000, 0],
  ])(
    'takes a claim as over by the run’s own clock after one that jumped, %i ms later',
    (ms, found) => {
      const lines = goodHistory()
      const at = indexOf(lines, isOf('claim'))
      const HOURS = 10_800_000
      const ahead = { ...(lines[at] as Line), task: 'T-9', known: 0, t: 0 }
      const times = { beganAt: HOURS, expiresAt: HOURS + 60_000 }
      const fault = { kind: 'fault', name: 'ahead-clock', phase: 'end' }
      const next = { ...ahead, generation: 0.4, t: ms }
      lines.splice(at, 0, { ...ahead, ...times, generation: 0.2 }, fault, next)
      expect(findings(lines)).toHaveLength(found)
    },
  )

  it('takes it that the clock jumps several times in one fault', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('claim'))
    const DAY = 86_400_000
    const ahead = { ...(lines[at] as Line), task: 'T-9', known: 0, t: 0 }
    const times = { beganAt: DAY, expiresAt: DAY + 60_000 }
    const fault = { kind: 'fault', name: 'move-clock' }
    lines.splice(
      at,
      0,
      { ...fault, phase: 'begin' },
      { ...ahead, ...times, generation: 0.2 },
      { ...ahead, generation: 0.4, t: 30_000 },
      { ...fault, phase: 'end' },
    )
    expect(findings(lines)).toEqual([])
  })

  it('finds a claim that is not back with its task', () => {
    expectChanged('last', isOf('returned'), (line) => ({ ...line, isHeld: false }), ['i'])
  })

  it('takes it that a closed task is not its holder’s again after a clock that jumped', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('returned'))
    lines[at] = { ...(lines[at] as Line), how: 'closed', isHeld: false }
    expect(findings(lines)).toEqual([{ check: 'i', line: at + 1 }])
    lines.splice(at, 0, { kind: 'fault', name: 'move-clock', phase: 'begin' })
    expect(findings(lines)).toEqual([])
  })

  it('finds a task whose holder fell silent while it was away, and that nobody can have', () => {
    expectChanged('last', isOf('inherited'), (line) => ({ ...line, isGiven: false }), ['i'])
  })

  it('finds that nothing was claimed at all', () => {
    const lines = goodHistory().filter(({ kind }) => kind !== 'claim')
    expect(findings(lines)).toContainEqual({ check: 'rest', line: lines.length })
  })
})
