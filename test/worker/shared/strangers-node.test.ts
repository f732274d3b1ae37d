import { beforeEach, describe, expect, it } from 'vitest'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { connectionMetrics, Strangers } from '../../../worker/shared/strangers-node.ts'

let cut: string[]
let strangers: Strangers
let metrics: Metrics
beforeEach(() => {
  cut = []
  metrics = new Metrics()
  strangers = new Strangers(2, connectionMetrics(metrics))
})

const connection = (name: string) => ({
  destroy() {
    cut.push(name)
    return this as never
  },
})
/** `complete`: all of the request is here. */
const exchange = (complete: boolean) => ({
  incoming: { complete },
  outgoing: { writableEnded: false },
})
const countOf = (name: string) => metrics.read().find((each) => each.name === name)?.values

describe('connections without a token', () => {
  it('make room when their share is full: the one that is waited for longest', () => {
    const [one, two, three] = ['one', 'two', 'three'].map(connection)
    for (const each of [one, two]) if (each) strangers.waits(each)
    if (one) strangers.waits(one, exchange(false))
    if (three) strangers.waits(three)
    expect(cut).toEqual(['two'])
    expect(countOf('signalbox_unauthenticated_connections')).toEqual([2])
    expect(countOf('signalbox_unauthenticated_connections_cut_total')).toEqual([1, 0])
  })

  it('are not cut while their request is worked on, and the newest is let in even then', () => {
    const busy = ['one', 'two'].map(connection)
    for (const each of busy) strangers.waits(each, exchange(true))
    strangers.waits(connection('three'))
    expect(cut).toEqual([])
    strangers.waits(connection('four'))
    expect(cut).toEqual(['three'])
  })

  it('are none any more once a request has shown its token', () => {
    const known = ['one', 'two'].map(connection)
    for (const each of known) {
      strangers.waits(each)
      strangers.leaves(each)
    }
    for (const name of ['three', 'four']) strangers.waits(connection(name))
    expect(cut).toEqual([])
  })
})
