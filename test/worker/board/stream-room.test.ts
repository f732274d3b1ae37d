import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addStreams,
  countStreams,
  hasRoom,
  roundStreams,
  StreamTally,
  streamRoom,
} from '../../../worker/board/stream-room.ts'

describe('room for streams', () => {
  it('leaves a holder a quarter of all, and at least one', () => {
    expect(streamRoom(10_000)).toEqual({ all: 10_000, each: 2_500 })
    expect(streamRoom(1)).toEqual({ all: 1, each: 1 })
  })

  it('ends where all are open, or all that one holder may have, and for nobody else', () => {
    const room = { all: 4, each: 2 }
    const open = countStreams(['ann', 'ann', 'bob'])
    expect(hasRoom(open, room, 'ann')).toBe(false)
    expect(hasRoom(open, room, 'bob')).toBe(true)
    expect(hasRoom(addStreams([open, countStreams(['eve'])]), room, 'bob')).toBe(false)
  })

  it('is reported in numbers that are exact up to 16, and never too small nor an eighth too large', () => {
    fc.assert(
      fc.property(fc.nat(100_000), (streams) => {
        const { streams: about } = roundStreams({ streams, holders: {} })
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
      if (tally.reportIfNew()) reports++
    }
    expect(reports).toBeLessThanOrEqual(70)
  })

  it('reports the largest holders alone, in no more than has room beside a socket', () => {
    const tally = new StreamTally(streamRoom(10_000))
    for (let holder = 0; holder < 500; holder++) tally.add(crypto.randomUUID())
    for (let n = 0; n < 3; n++) tally.add('ann')
    const report = tally.report()
    expect(report.holders.ann).toBe(3)
    expect(JSON.stringify(report).length).toBeLessThan(2_048)
  })

  it('counts what other isolates hold, and asks again once it has refused somebody', () => {
    const tally = new StreamTally({ all: 4, each: 2 })
    tally.others = { streams: 2, holders: { ann: 1 } }
    tally.add('ann')
    tally.report()
    expect(tally.reportIfNew()).toBeUndefined()
    expect(tally.hasRoom('ann', { counted: false })).toBe(false)
    expect(tally.hasRoom('ann', { counted: true })).toBe(true)
    expect(tally.reportIfNew()).toEqual({ streams: 1, holders: { ann: 1 } })
    expect(tally.reportIfNew()).toBeUndefined()
    tally.remove('ann')
    expect(tally.reportIfNew()).toEqual({ streams: 0, holders: {} })
  })
})
