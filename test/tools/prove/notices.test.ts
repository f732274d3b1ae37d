// Spoiled histories of notices, each in one way: the checker finds it.

import { describe, expect, it } from 'vitest'
import { goodHistory, type Line } from './good-history.ts'
import { findings, indexOf, isOf } from './spoil.ts'

const isNotice = (id: string) => (line: Line) => isOf('notice')(line) && line.id === id
const spoiled = (isIt: (line: Line) => boolean, change: object, which?: 'last') => {
  const lines = goodHistory()
  const at = indexOf(lines, isIt, which)
  lines[at] = { ...(lines[at] as Line), ...change }
  return { found: findings(lines), line: at + 1 }
}

const withMove = ([first, ...lines]: Line[]): Line[] => {
  const move = { t: 0, kind: 'fault', name: 'move-clock', phase: 'begin' }
  return first ? [first, move, ...lines] : []
}

describe('(l) notices', () => {
  it('have no finding where one came twice with its id, or again after ten minutes', () => {
    expect(findings(goodHistory())).toEqual([])
  })

  it('tell a cause under a second id before ten minutes are over', () => {
    const { found, line } = spoiled(isNotice('ntc_3'), { timestamp: '2025-10-09T08:55:00.000Z' })
    expect(found).toEqual([{ check: 'l', line }])
  })

  it('come with another text under the same id', () => {
    const { found, line } = spoiled(isNotice('ntc_1'), { causes: [] }, 'last')
    expect(found).toEqual([{ check: 'l', line }])
  })

  it('are not signed', () => {
    const { found, line } = spoiled(isNotice('ntc_2'), { forged: 'No matching signature' })
    expect(found).toEqual([{ check: 'l', line }])
  })

  it('have a time that a receiver refuses only where the clock was moved by hours', () => {
    const late = { forged: 'WebhookVerificationError: Message timestamp too old' }
    const { found, line } = spoiled(isNotice('ntc_2'), late)
    expect(found).toEqual([{ check: 'l', line }])
    const lines = goodHistory().map((it) => (isNotice('ntc_2')(it) ? { ...it, ...late } : it))
    expect(findings(withMove(lines))).toEqual([])
  })

  it('are told as delivered, and never came', () => {
    const lines = goodHistory()
    lines.splice(indexOf(lines, isNotice('ntc_2')), 1)
    const isIt = (line: Line) =>
      isOf('delivery')(line) && (line.delivery as { id: string }).id === 'ntc_2'
    expect(findings(lines)).toEqual([{ check: 'l', line: indexOf(lines, isIt) + 1 }])
  })

  it('are left in the end', () => {
    const { found, line } = spoiled(isOf('delivery'), {
      delivery: { id: 'ntc_1', state: 'pending' },
    })
    expect(found).toEqual([{ check: 'l', line }])
  })

  it('may be left only by a clock that was moved, and only where it planned them far ahead', () => {
    const left = (isAhead: boolean) => {
      const lines = goodHistory()
      const delivery = { id: 'ntc_1', state: 'pending' }
      const at = indexOf(lines, isOf('delivery'))
      lines[at] = { ...(lines[at] as Line), delivery, isAhead }
      return [findings(lines).length, findings(withMove(lines)).length]
    }
    expect([left(true), left(false)]).toEqual([
      [1, 0],
      [1, 1],
    ])
  })
})
