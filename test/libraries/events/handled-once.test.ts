// An event is handled once, however often it is delivered and wherever its id is stored.

import { describe, expect, it, vi } from 'vitest'
import { eventIdsIn } from '../../../examples/receivers/event-ids.ts'
import { type EventIds, eventIdsInMemory } from '../../../libraries/events/event-ids.ts'
import { EVENT_NAMES } from '../../../worker/payments/domain/status.ts'
import { eventIdsContract } from '../../contract/event-ids.ts'
import { PATIENT } from '../../support/patience.ts'
import { answerOf, delivery, receiver } from './signed-deliveries.ts'

describe('an event', () => {
  it('is handled once, however often it is delivered', async () => {
    const { receive, handled } = receiver()
    for (let times = 0; times < 3; times++) {
      expect((await receive(delivery())).status).toBe(204)
    }
    await receive(delivery({ id: '02EVENT' }))
    expect(handled).toEqual(['01EVENT', '02EVENT'])
  })

  it('is handled for one of two deliveries at once, and the other is repeated', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const handle = vi.fn(() => promise)
    const { receive } = receiver({ on: { PaymentSucceeded: handle } })
    const first = receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1), PATIENT)
    expect(await answerOf(await receive(delivery()))).toEqual([409, 'in_progress'])
    resolve()
    expect((await first).status).toBe(204)
    expect((await receive(delivery())).status).toBe(204)
    expect(handle).toHaveBeenCalledTimes(1)
  })

  it('is repeated and handled again if its handler fails', async () => {
    const handle = vi.fn().mockRejectedValueOnce(new Error('the database is away'))
    const { receive, errors } = receiver({ on: { PaymentSucceeded: handle } })
    expect(await answerOf(await receive(delivery()))).toEqual([500, 'handler_failed'])
    expect(errors).toEqual([new Error('the database is away')])
    expect((await receive(delivery())).status).toBe(204)
    expect((await receive(delivery())).status).toBe(204)
    expect(handle).toHaveBeenCalledTimes(2)
  })

  it('is repeated and handled again if its handler throws at once', async () => {
    const { receive } = receiver({
      on: {
        PaymentSucceeded() {
          throw new Error('a defect')
        },
      },
    })
    expect((await receive(delivery())).status).toBe(500)
  })

  it('is handled again after a minute, and not before, if its handler never ends', async () => {
    const handle = vi.fn(() => new Promise(() => undefined))
    const { receive, clock } = receiver({ on: { PaymentSucceeded: handle } })
    void receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1), PATIENT)
    clock.now += 59_999
    expect((await receive(delivery())).status).toBe(409)
    clock.now += 1
    void receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2), PATIENT)
  })

  it('does not release a later claim if its handler fails after the claim has expired', async () => {
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const handle = vi.fn().mockReturnValueOnce(first.promise).mockReturnValueOnce(second.promise)
    const { receive, clock } = receiver({ on: { PaymentSucceeded: handle } })
    const late = receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1), PATIENT)
    clock.now += 60_000
    const next = receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2), PATIENT)
    first.reject(new Error('too late'))
    expect((await late).status).toBe(500)
    expect((await receive(delivery())).status).toBe(409)
    second.resolve()
    expect((await next).status).toBe(204)
  })

  it('without a handler is accepted, and its id is not stored', async () => {
    const ids = { claim: vi.fn(), complete: vi.fn(), release: vi.fn() }
    const { receive } = receiver({ ids })
    expect((await receive(delivery({ type: 'PaymentFailed' }))).status).toBe(204)
    expect(ids.claim).not.toHaveBeenCalled()
  })

  it.each(['PaymentBlessed', 'constructor', '__proto__'])(
    'of a name like %s, which nobody knows, is taken and told to onUnknown',
    async (type) => {
      const unknown: string[] = []
      const { receive } = receiver({ onUnknown: (event) => unknown.push(event.type) })
      expect((await receive(delivery({ type }))).status).toBe(204)
      expect(unknown).toEqual([type])
      expect((await receiver().receive(delivery({ type }))).status).toBe(204)
    },
  )

  it('with an unknown name is accepted even if onUnknown fails', async () => {
    const onUnknown = () => Promise.reject(new Error('no'))
    const { receive, errors } = receiver({ onUnknown })
    expect((await receive(delivery({ type: 'PaymentBlessed' }))).status).toBe(204)
    expect(errors).toEqual([new Error('no')])
  })

  it('can have a handler for each of the ten names', async () => {
    const handled: string[] = []
    const on = Object.fromEntries(
      EVENT_NAMES.map((name) => [
        name,
        (_: unknown, { type }: { type: string }) => handled.push(type),
      ]),
    )
    const { receive } = receiver({ on })
    for (const type of EVENT_NAMES) await receive(delivery({ id: type, type }))
    expect(handled).toEqual([...EVENT_NAMES])
  })
})

describe('a custom store of ids', () => {
  const storeOf = (own: Partial<EventIds>): EventIds => ({
    claim: () => 'new',
    complete: () => undefined,
    release: () => undefined,
    ...own,
  })

  it('that does not answer prevents handling, and the event is repeated', async () => {
    const ids = storeOf({ claim: () => Promise.reject(new Error('away')) })
    const { receive, handled, errors } = receiver({ ids })
    expect(await answerOf(await receive(delivery()))).toEqual([503, 'ids_unavailable'])
    expect([handled, errors]).toEqual([[], [new Error('away')]])
  })

  it('with a wrong answer prevents handling, and is reported', async () => {
    const { receive, handled, errors } = receiver({ ids: storeOf({ claim: () => true as never }) })
    expect(await answerOf(await receive(delivery()))).toEqual([503, 'ids_unavailable'])
    expect(handled).toEqual([])
    expect(String(errors[0])).toContain('ids.claim answered true')
  })

  it('that cannot complete an id does not cause a repetition of a handled event', async () => {
    const ids = storeOf({ complete: () => Promise.reject(new Error('away')) })
    const { receive, handled, errors } = receiver({ ids })
    expect((await receive(delivery())).status).toBe(204)
    expect([handled, errors]).toEqual([['01EVENT'], [new Error('away')]])
  })

  it('that cannot release an id does not prevent the repetition of a failed event', async () => {
    const ids = storeOf({ release: () => Promise.reject(new Error('away')) })
    const on = { PaymentSucceeded: () => Promise.reject(new Error('failed')) }
    const { receive, errors } = receiver({ ids, on })
    expect((await receive(delivery())).status).toBe(500)
    expect(errors).toEqual([new Error('failed'), new Error('away')])
  })
})

eventIdsContract('in memory', eventIdsInMemory)
eventIdsContract('in SQL, as the example keeps them', (now) => eventIdsIn(':memory:', now))

it('In memory the oldest ids are forgotten when there are too many', async () => {
  const ids = eventIdsInMemory(() => 0, 2)
  for (const id of ['a', 'b', 'c']) {
    await ids.claim(id, 1)
    await ids.complete(id)
  }
  expect(await Promise.all(['c', 'b', 'a'].map((id) => ids.claim(id, 1)))).toEqual([
    'handled',
    'handled',
    'new',
  ])
})
