import { describe, expect, it } from 'vitest'
import { lookAgain, parseLooked } from '../../../../console/board/happened/looked.ts'

const MINUTE = 60_000
const first = { from: undefined, to: '2026-03-03T09:00:00Z', at: 0 }

describe('a look at what happened', () => {
  it('begins where the last one ended', () => {
    expect(lookAgain(undefined, 5)).toEqual({ from: undefined, to: undefined, at: 5 })
    const second = lookAgain(first, 30 * MINUTE)
    expect(second).toEqual({ from: first.to, to: first.to, at: 30 * MINUTE })
  })

  it('is the same one after a reload', () => {
    expect(lookAgain(first, 9 * MINUTE)).toBe(first)
  })

  it('is a first one where what was kept cannot be read', () => {
    for (const text of [null, '', '{', '7', '{"to":"x"}']) expect(parseLooked(text)).toBeUndefined()
    expect(parseLooked(JSON.stringify(first))).toEqual(first)
  })
})
