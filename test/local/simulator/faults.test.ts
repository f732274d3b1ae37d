import { describe, expect, it } from 'vitest'
import { FaultBook, readPlan } from '../../../local/simulator/faults.ts'

describe('a plan of faults', () => {
  it('is taken as it is written', () => {
    const plan = { all: { slowMs: 5 }, orders: { 'order-1': { copies: 50, tampered: true } } }
    expect(readPlan(plan)).toEqual({ ok: true, plan })
    expect(readPlan({})).toEqual({ ok: true, plan: { all: {}, orders: {} } })
  })

  it.each([
    [undefined, 'The faults must be an object.'],
    [{ everyone: {} }, 'There is no everyone, only all and orders.'],
    [{ all: { slow: 5 } }, 'There is no fault slow.'],
    [{ all: { toString: true } }, 'There is no fault toString.'],
    [{ all: { slowMs: '5' } }, 'slowMs cannot be "5".'],
    [{ orders: { a: { copies: 0 } } }, 'copies cannot be 0.'],
    [{ orders: { a: 5 } }, 'The faults of an order must be an object.'],
    [{ all: { outage: 99 } }, 'outage cannot be 99.'],
  ])('%j is refused, not ignored', (plan, sentence) => {
    expect(readPlan(plan)).toEqual({ ok: false, sentence })
  })
})

describe('the faults of an order', () => {
  it('go before those of all, and touch no other order', () => {
    const book = new FaultBook()
    book.set({ all: { slowMs: 1, lost: true }, orders: { a: { slowMs: 2 } } })
    expect(book.of(['a'])).toEqual({ slowMs: 2, lost: true })
    expect(book.of(['b', undefined])).toEqual({ slowMs: 1, lost: true })
  })

  it('spoil only the endpoints that they name', () => {
    const book = new FaultBook()
    book.set({ all: { outage: 502, endpoints: ['init'] }, orders: {} })
    expect(book.ofRequest('init', [])).toEqual({ outage: 502 })
    expect(book.ofRequest('inquiry', [])).toEqual({})
  })

  it('spoil only so many requests, until they are set again', () => {
    const book = new FaultBook()
    const plan = { all: { slowMs: 0, timeout: false, outage: 502, times: 2 }, orders: {} }
    book.set(plan)
    const outages = () => [1, 2, 3].map(() => book.ofRequest('init', []).outage)
    expect(outages()).toEqual([502, 502, undefined])
    book.set(plan)
    expect(outages()).toEqual([502, 502, undefined])
  })
})
