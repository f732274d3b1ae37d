// Spoiled histories of a board, each in one way: the checker finds it, and names the line.

import { describe, expect, it } from 'vitest'
import { goodHistory, type Line } from './good-history.ts'
import {
  expectChanged,
  expectMissed,
  findings,
  idOf,
  indexOf,
  isOf,
  isRead,
  isReceived,
} from './spoil.ts'

describe('(a) at rest each view equals the files', () => {
  it('finds a client that is left with an old version', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isOf('files'))
    lines[at] = { ...(lines[at] as Line), tasks: { 'T-1': 6 } }
    const shown = ['c1', 'c2'].map((client) => indexOf(lines, isRead(client, 'T-1'), 'last') + 1)
    expect(findings(lines)).toEqual(shown.map((line) => ({ check: 'a', line })))
  })

  it('finds a task that was deleted, and that a client keeps', () => {
    expectMissed(isRead('c1', 'T-2'), 'a', isRead('c1', 'T-2'))
  })

  it('finds a task that a list has lost', () => {
    const empty = (line: Line) => ({ ...line, tasks: {} })
    const lines = goodHistory()
    const at = indexOf(lines, isRead('c2', 'T-1'), 'last')
    lines[at] = empty(lines[at] as Line)
    expect(findings(lines)).toEqual([{ check: 'a', line: indexOf(lines, isOf('files')) + 1 }])
  })

  it('finds a session of which a client read an old version last', () => {
    expectMissed(isRead('c2', 'ses_1'), 'a', isRead('c2', 'ses_1'))
  })

  it('finds an answer that says that nothing changed, where something did', () => {
    const unchanged = (line: Line) => ({ ...line, status: 304, sessions: { ses_1: 3 } })
    const lines = goodHistory()
    const at = indexOf(lines, isRead('c1', 'ses_1'), 'last')
    lines[at] = unchanged(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'a', line: at + 1 })
  })

  it('finds a client that never read anything', () => {
    const lines = goodHistory().filter((line) => line.client !== 'c2')
    expect(findings(lines)).toContainEqual({ check: 'a', line: indexOf(lines, isOf('files')) + 1 })
  })
})

describe('(b) no message comes before what it points to', () => {
  it('finds a read after a message that does not include it', () => {
    const change = (line: Line) => ({ ...line, seq: idOf(1) })
    expectChanged('last', isRead('c1', 'T-1'), change, ['b'])
  })

  it('finds a version that was there only after its message had been followed', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isRead('c1', 'T-1'), 'last')
    lines.splice(at, 0, { ...(lines[at] as Line), tasks: { 'T-1': 1 } })
    expect(findings(lines)).toEqual([{ check: 'b', line: at + 2 }])
  })

  it('finds a version that one client read where another one still got the older', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isRead('c2', 'T-1'), 'last')
    // At the same change: c1 had read version 4 by then.
    lines.splice(at, 0, { ...(lines[at] as Line), tasks: { 'T-1': 1 } })
    expect(findings(lines)).toContainEqual({
      check: 'b',
      line: indexOf(lines, (line) => (line.tasks as { 'T-1'?: number })?.['T-1'] === 4) + 1,
    })
  })

  it('finds a board that goes back', () => {
    const change = (line: Line) => ({ ...line, after: idOf(1), seq: idOf(1) })
    const lines = goodHistory()
    const at = indexOf(lines, isRead('c1', 'ses_1'), 'last')
    lines[at] = change(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'b', line: at + 1 })
  })

  it('finds a read of another epoch, and one that does not say what it includes', () => {
    for (const seq of ['ffffffffffff-4', undefined, 'latest']) {
      const lines = goodHistory()
      const at = indexOf(lines, isRead('c2', 'ses_1'), 'last')
      lines[at] = { ...(lines[at] as Line), seq }
      expect(findings(lines)).toContainEqual({ check: 'b', line: at + 1 })
    }
  })
})

describe('(c) a client that resumed lost and doubled nothing', () => {
  it('finds what a client that was away was never told', () => {
    const isWithoutId = (line: Line) => line.kind === 'message' && line.id === undefined
    expectMissed(isWithoutId, 'c', isReceived('c1', 3))
  })

  it('finds a client that resumed and was told only where it is', () => {
    const lines = goodHistory().filter((line) => !(line.kind === 'message' && !line.id))
    const at = indexOf(lines, isReceived('c2', 4))
    lines[at] = { kind: 'cursor', client: 'c2', id: idOf(4) }
    const missed = [3, 4].map((n) => indexOf(lines, isReceived('c1', n)) + 1)
    expect(findings(lines)).toEqual(missed.map((line) => ({ check: 'c', line })))
  })

  it('finds what a client that stayed was never told', () => {
    expectMissed(isReceived('c2', 2), 'c', isReceived('c1', 2))
  })

  it('finds an id that a connected client skips, though no other client got it either', () => {
    const lines = goodHistory().filter((line) => !isReceived('c1', 3)(line))
    const next = indexOf(lines, isReceived('c1', 4)) + 1
    expect(findings(lines)).toContainEqual({ check: 'c', line: next })
  })

  it('takes it that a connected client catches up with several changes once its board was evicted', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isReceived('c1', 3))
    const several = { kind: 'message', client: 'c1', data: { type: 'tasks-changed' } }
    lines.splice(at, 1, { kind: 'fault', name: 'evict-board' }, several)
    expect(findings(lines)).toEqual([])
  })

  it('finds a client that was told something else than the others', () => {
    const change = (line: Line) => ({ ...line, data: { type: 'task-changed', id: 'T-2' } })
    const lines = goodHistory()
    const at = indexOf(lines, isReceived('c2', 2))
    lines[at] = change(lines[at] as Line)
    expect(findings(lines)).toContainEqual({ check: 'c', line: at + 1 })
  })

  it('finds a client whose stream went silent', () => {
    const lines = goodHistory()
    const from = indexOf(lines, isOf('disconnect', { client: 'c2' }))
    const silent = lines.filter(
      ({ kind, client }, at) => at < from || client !== 'c2' || kind === 'read',
    )
    const missed = [3, 4].map((n) => ({
      check: 'c',
      line: indexOf(silent, isReceived('c1', n)) + 1,
    }))
    expect(findings(silent)).toEqual(missed)
  })

  it('finds a message that came twice', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isReceived('c2', 4))
    lines.splice(at, 0, { ...(lines[at] as Line) })
    expect(findings(lines)).toEqual([{ check: 'c', line: at + 2 }])
  })

  it('finds messages in the wrong order', () => {
    const lines = goodHistory()
    const [one, other] = [3, 4].map((n) => indexOf(lines, isReceived('c1', n))) as [number, number]
    const [first, second] = [lines[one], lines[other]] as [Line, Line]
    lines[one] = { ...first, id: second.id }
    lines[other] = { ...second, id: first.id }
    for (const at of [one, other]) {
      expect(findings(lines)).toContainEqual({ check: 'c', line: at + 1 })
    }
  })

  it('finds a log that began anew', () => {
    const lines = goodHistory()
    const at = indexOf(lines, isReceived('c1', 4))
    lines[at] = { ...(lines[at] as Line), id: 'ffffffffffff-4' }
    expect(findings(lines)).toContainEqual({ check: 'c', line: at + 1 })
  })
})
