import { describe, expect, it } from 'vitest'
import { BURST_HINTS, Burst } from '../../../sidecar/watching/burst.ts'

function hints(burst: Burst, count: number): boolean[] {
  return Array.from({ length: count }, () => burst.hint())
}

describe('Burst', () => {
  it('asks for one tick at the first hint and for no second one meanwhile', () => {
    expect(hints(new Burst(), 3)).toEqual([true, false, false])
  })

  it('does not call a few saves a burst', () => {
    const burst = new Burst()
    hints(burst, BURST_HINTS - 1)
    expect(burst.tick()).toEqual({ gap: false, again: false })
  })

  it('reports a burst at each of its ticks and once more after its end', () => {
    const burst = new Burst()
    hints(burst, BURST_HINTS)
    expect(burst.tick()).toEqual({ gap: true, again: true })
    expect(hints(burst, BURST_HINTS).includes(true)).toBe(false)
    expect(burst.tick()).toEqual({ gap: true, again: true })
    hints(burst, 3)
    expect(burst.tick()).toEqual({ gap: true, again: false })
    expect(burst.hint()).toBe(true)
    expect(burst.tick()).toEqual({ gap: false, again: false })
  })
})
