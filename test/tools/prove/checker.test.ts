// A history that is whole, and those that are not: what the checker says of them.

import { describe, expect, it } from 'vitest'
import { checkHistory } from '../../../tools/prove/checker/check.ts'
import { goodHistory, textOf } from './good-history.ts'
import { findings } from './spoil.ts'

interface Booked {
  refunds?: object[]
}

describe('a checker', () => {
  it('finds nothing in a history in which every promise holds', () => {
    expect(checkHistory(textOf(goodHistory()))).toEqual([])
  })

  it('finds a run that was cut off at its end or at its beginning', () => {
    const lines = goodHistory().slice(0, -1)
    expect(findings(lines)).toEqual([{ check: 'rest', line: lines.length }])
    expect(findings(goodHistory().slice(1))).toEqual([{ check: 'rest', line: 1 }])
    expect(findings([])).toEqual([{ check: 'rest', line: 0 }])
  })

  it('finds a second run in the same file', () => {
    const first = goodHistory()
    const twice = [...first, ...goodHistory()]
    expect(findings(twice)).toEqual([{ check: 'rest', line: first.length }])
  })

  it('finds a run in which something was never tried', () => {
    for (const kind of ['message', 'read', 'webhook', 'booking', 'stored', 'endpoint', 'files']) {
      const lines = goodHistory().filter((line) => line.kind !== kind)
      expect(findings(lines)).toEqual([{ check: 'rest', line: lines.length }])
    }
  })

  it('finds a run in which no gateway had refunds of parts', () => {
    const lines = goodHistory().filter(({ payment }) => !(payment as Booked)?.refunds)
    expect(findings(lines)).toEqual([{ check: 'rest', line: lines.length }])
  })

  it('finds a fault that was to hold a batch back, and found none', () => {
    const fault = (held: boolean) => ({ kind: 'fault', name: 'late-batch', phase: 'end', held })
    expect(findings(goodHistory().toSpliced(-1, 0, fault(true)))).toEqual([])
    const idle = goodHistory().toSpliced(-1, 0, fault(false))
    expect(findings(idle)).toEqual([{ check: 'rest', line: idle.length - 1 }])
  })

  it('refuses a line that is not JSON, by its number', () => {
    const torn = textOf(goodHistory()).slice(0, -5)
    const last = goodHistory().length
    expect(() => checkHistory(torn)).toThrow(`line ${last} is not JSON`)
  })
})
