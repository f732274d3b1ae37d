import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  roundStreams,
  StreamTally,
  streamRoom,
} from '../../../../worker/board/streams/stream-room.ts'

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

  it('is what the streams leave of both limits, and is asked about again only once it was refused', () => {
    const room = { all: 6, each: 2 }
    const holder = fc.constantFrom('ann', 'bob', 'eve')
    const coming = fc.record({ do: fc.constantFrom('add', 'remove'), holder })
    const asking = fc.record({ do: fc.constant('ask'), holder, isCounted: fc.boolean() })
    const step = fc.oneof(
      { weight: 3, arbitrary: coming },
      { weight: 3, arbitrary: asking },
      fc.record({ do: fc.constant('others'), others: fc.constantFrom(0, 0, 0, 3) }),
      fc.record({ do: fc.constantFrom('report', 'report if new') }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const tally = new StreamTally(room)
        const held: string[] = []
        let known: number | undefined
        let isRefused = false
        for (const each of steps) {
          if ('others' in each) tally.others = each.others
          else if ('isCounted' in each) {
            const isCounted = each.isCounted && held.includes(each.holder)
            const beside = held.toSpliced(isCounted ? held.indexOf(each.holder) : held.length, 1)
            const own = beside.filter((name) => name === each.holder)
            const has = beside.length + tally.others < room.all && own.length < room.each
            expect(tally.hasRoom(each.holder, { isCounted })).toBe(has)
            isRefused ||= !has
          } else if ('holder' in each) {
            const at = held.indexOf(each.holder)
            if (each.do === 'add') tally.add(held[held.push(each.holder) - 1] ?? '')
            else if (at >= 0) tally.remove(held.splice(at, 1)[0] ?? '')
          } else {
            const streams = roundStreams(held.length)
            const isNew = isRefused || known !== streams || each.do === 'report'
            const answer = each.do === 'report' ? tally.report() : tally.reportIfNew()
            expect(answer).toBe(isNew ? streams : undefined)
            known = streams
            isRefused = false
          }
        }
      }),
    )
  })
})
