// A publisher with a fake edge, fake records and a clock that the test moves.

import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'
import type { Failure } from '../../../sidecar/publish/edge.ts'
import { Publisher } from '../../../sidecar/publish/publisher.ts'
import type { StoreState } from '../../../worker/board/wire.ts'
import type { Level } from '../../../worker/shared/log.ts'
import { FakeEdge, FakeRecords, task } from '../fake-edge.ts'

export const PRESENT: StoreState = { state: 'present', layout: 'cairn', version: '1' }
export const MISSING: StoreState = { state: 'missing', version: '1' }
export const MINUTE = 60_000

export function setUp(count = 0, body = '') {
  const edge = new FakeEdge()
  const records = new FakeRecords()
  for (let n = 0; n < count; n++) records.put(task(n, 1, body))
  const clock = new FakeClock()
  const events: [Level, string][] = []
  const published: number[] = []
  const publisher = new Publisher({
    edge,
    records,
    clock,
    log: (level, event) => events.push([level, event]),
    onPublished: (ms) => published.push(ms),
  })
  const start = async () => {
    publisher.store(PRESENT)
    publisher.start()
    await settle()
  }
  return { edge, records, clock, events, published, publisher, start }
}

/** With the whole board at the edge, and empty records of what was sent. */
export async function setUpSynced(count = 3, body = '') {
  const it = setUp(count, body)
  await it.start()
  it.edge.log.length = 0
  it.edge.signals = 0
  it.records.reads = []
  return it
}

/** Whether a message contains changes. */
export const isChanges = (body: { step: string }): boolean => body.step === 'changes'
/** Fails once, for the first message that matches. */
export const once = (failure: Failure, when: (body: { step: string }) => boolean = () => true) => {
  let left = 1
  return (body: { step: string }) => (when(body) && left-- > 0 ? failure : undefined)
}
