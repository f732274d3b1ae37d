// What becomes of the rules of notices when others are published.

import { describe, expect, it } from 'vitest'
import { rulesAfter } from '../../../../worker/board/notices/kept-rules.ts'
import type { SealedRule } from '../../../../worker/board/notices/notice-calls.ts'
import type { NoticeState } from '../../../../worker/board/notices/notice-store-sqlite.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const MINUTE = 60_000
const NONE: NoticeState = { board: '', rules: [], targets: [] }

const rule = (on: SealedRule['on'], sealed: string, fields: Partial<SealedRule> = {}) =>
  ({ on, to: 'webhook', host: 'a.test', sealed, ...fields }) satisfies SealedRule

function publish(before: NoticeState, rules: SealedRule[], now = NOW) {
  const next = rulesAfter(before, { board: 'shop', rules }, now)
  if (!next) throw new Error('nothing changed')
  return next
}
const keyOf = ({ targets }: NoticeState, sealed: string) =>
  targets.find((target) => target.sealed === sealed)?.key

describe('rules that are published', () => {
  it('are decided at once, each with its target, and both but once', () => {
    const same = rule('review', 'x')
    const { state, left } = publish(NONE, [same, same, rule('stalled', 'x', { minutes: 5 })])
    const target = keyOf(state, 'x') ?? ''
    expect(state).toMatchObject({ board: 'shop', decideAt: NOW, gone: [] })
    expect(state.targets).toEqual([{ to: 'webhook', host: 'a.test', sealed: 'x', key: target }])
    expect(state.rules).toEqual([
      { key: `review  ${target}`, on: 'review', target },
      { key: `stalled 5 ${target}`, on: 'stalled', minutes: 5, target },
    ])
    expect(left).toEqual([])
  })

  it('change nothing where they are the same', () => {
    const { state } = publish(NONE, [rule('review', 'x')])
    expect(rulesAfter(state, { board: 'shop', rules: [rule('review', 'x')] }, NOW)).toBe(undefined)
  })

  it('have been seen as before, and keep the target of an address that is encrypted anew', () => {
    const { state } = publish(NONE, [rule('review', 'x')])
    const seen = { ...state, rules: state.rules.map((it) => ({ ...it, isSeen: true as const })) }
    const renewed = rule('review', 'y', { formerly: ['x'] })
    const next = publish(seen, [renewed, rule('stalled', 'z')])
    expect(keyOf(next.state, 'y')).toBe(keyOf(state, 'x'))
    expect(next.state.rules.map(({ isSeen }) => isSeen)).toEqual([true, undefined])
    expect(next.left).toEqual([])
  })

  it('plan no decision where there are none, and name those that went', () => {
    const { state } = publish(NONE, [rule('review', 'x')])
    const { decideAt: _, ...decided } = state
    const next = publish(decided, [])
    expect(next.state).not.toHaveProperty('decideAt')
    expect(next.left).toEqual(state.rules)
    expect(next.state.gone).toEqual(state.targets.map((target) => ({ ...target, at: NOW })))
  })

  it.each([
    [9 * MINUTE, true],
    [10 * MINUTE, false],
    [-9 * MINUTE, true],
    [-10 * MINUTE, false],
  ])('get the key of a target that went %i ms ago again: %s', (ms, isAgain) => {
    const { state } = publish(NONE, [rule('review', 'x')])
    const back = publish(publish(state, []).state, [rule('review', 'x')], NOW + ms)
    expect(keyOf(back.state, 'x') === keyOf(state, 'x')).toBe(isAgain)
    expect(back.state.gone).toEqual([])
  })

  it('remember 64 targets that went at most', () => {
    const rules = Array.from({ length: 65 }, (_, n) => rule('review', `x${n}`))
    const { gone = [] } = publish(publish(NONE, rules).state, []).state
    expect([gone.length, gone.at(0)?.sealed, gone.at(-1)?.sealed]).toEqual([64, 'x0', 'x63'])
  })
})
