import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roundStreams, StreamTally, streamRoom } from '../../../worker/board/stream-room.ts'

describe('room for streams', () => {
  it('leaves a holder a quarter of all, and at least one', () => {
    expect(streamRoom(10_000)).toEqual({ all: 10_000, each: 2_500 })
    expect(streamRoom(1)).toEqual({ all: 1, each: 1 })
  })

  it('ends where all are open, or all that one holder may have, and for nobody else', () => {
    const tally = new StreamTally({ all: 4, each: 2 })
    for (const holder of ['ann', 'ann', 'bob']) tally.add(holder)
    expect(tally.hasRoom('ann')).toBe(false)
    expect(tally.hasRoom('bob')).toBe(true)
    expect(tally.hasRoom('ann', { isCounted: true })).toBe(true)
    tally.add('eve')
    expect(tally.hasRoom('bob')).toBe(false)
    tally.remove('ann')
    expect([tally.hasRoom('ann'), tally.hasRoom('bob')]).toEqual([true, true])
  })

  it('is reported in numbers that are exact up to 16, and never too small nor an eighth too large', () => {
    fc.assert(
      fc.property(fc.nat(100_000), (streams) => {
        const about = roundStreams(streams)
        expect(about).toBeGreaterThanOrEqual(streams)
        expect(about).toBeLessThanOrEqual(streams <= 16 ? streams : streams * 1.125)
      }),
    )
  })

  it('takes at most 70 reports for 1,000 streams that come one by one', () => {
    const tally = new StreamTally(streamRoom(10_000))
    let reports = 0
    for (let n = 0; n < 1_000; n++) {
      tally.add('ann')
      if (tally.reportIfNew() !== undefined) reports++
    }
    expect(reports).toBeLessThanOrEqual(70)
  })

  it('counts what other isolates hold, and asks again once it has refused somebody', () => {
    const tally = new StreamTally({ all: 4, each: 4 })
    tally.others = 3
    tally.add('ann')
    tally.report()
    expect(tally.reportIfNew()).toBeUndefined()
    expect(tally.hasRoom('ann')).toBe(false)
    expect(tally.hasRoom('ann', { isCounted: true })).toBe(true)
    expect(tally.reportIfNew()).toBe(1)
    expect(tally.reportIfNew()).toBeUndefined()
    tally.remove('ann')
    expect(tally.reportIfNew()).toBe(0)
  })
})
