import { describe, expect, it } from 'vitest'
import { ActiveFaults, readPlan } from '../../simulator/faults.ts'

describe('a plan of faults', () => {
  it('is accepted if it is valid', () => {
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
  it('override those for all, and do not affect other orders', () => {
    const active = new ActiveFaults(() => new Response())
    active.set({ all: { slowMs: 1, lost: true }, orders: { a: { slowMs: 2 } } })
    expect(active.of(['a'])).toEqual({ slowMs: 2, lost: true })
    expect(active.of(['b', undefined])).toEqual({ slowMs: 1, lost: true })
  })

  it('affect only the named endpoints', () => {
    const active = new ActiveFaults(() => new Response())
    active.set({ all: { outage: 502, endpoints: ['init'] }, orders: {} })
    expect(active.ofRequest('init', [])).toEqual({ outage: 502 })
    expect(active.ofRequest('inquiry', [])).toEqual({})
  })

  it('affect a limited number of requests, until they are set again', () => {
    const active = new ActiveFaults(() => new Response())
    const plan = { all: { slowMs: 0, timeout: false, outage: 502, times: 2 }, orders: {} }
    active.set(plan)
    const outages = () => [1, 2, 3].map(() => active.ofRequest('init', []).outage)
    expect(outages()).toEqual([502, 502, undefined])
    active.set(plan)
    expect(outages()).toEqual([502, 502, undefined])
  })
})
