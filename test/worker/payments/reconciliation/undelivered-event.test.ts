// The sweeper dispatches events again that were not delivered.

import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, reports, setUpSweep } from './sweep-setup.ts'

interface Posted {
  type: string
  data: { transaction: { id: string } }
}

describe('an event that was not delivered', () => {
  it('is dispatched again for hours while its listener and its endpoint fail', async () => {
    let isDown = true
    let handled = 0
    let answered = 0
    const { charge, pass, story } = setUpSweep({
      listeners: {
        PaymentInitiated: () => {
          if (isDown) throw new Error('down')
          handled++
        },
      },
      endpoint: () => {
        if (isDown) return new Response(null, { status: 503 })
        answered++
        return new Response()
      },
    })
    const id = await charge()
    await pass(5 * HOUR)
    expect([handled, answered]).toEqual([0, 0])
    isDown = false
    await pass(HOUR)
    expect([handled, answered]).toEqual([1, 1])
    const [event] = (await story(id)).events
    expect(event).toMatchObject({ type: 'PaymentInitiated', listenersDoneAt: expect.any(String) })
    expect(event?.deliveries).toMatchObject([{ status: 'delivered', lastStatus: 200 }])
  })

  it('is due with the first one that its endpoint accepts again, in order for each payment', async () => {
    let isDown = true
    const posted: string[] = []
    const { charge, pass } = setUpSweep({
      gateway: reports('Paid'),
      endpoint: (body) => {
        if (isDown) return new Response(null, { status: 503 })
        const { type, data } = JSON.parse(body) as Posted
        posted.push(`${data.transaction.id} ${type}`)
        return new Response()
      },
    })
    const waiting = [await charge(), await charge(), await charge()]
    // So long after the last try that each waits for up to an hour more.
    await pass(5 * HOUR)
    isDown = false
    const first = await charge()
    await pass(2 * MINUTE)
    expect(posted[0]).toBe(`${first} PaymentInitiated`)
    for (const id of waiting) {
      expect(posted.filter((each) => each.startsWith(id))).toEqual([
        `${id} PaymentInitiated`,
        `${id} PaymentSucceeded`,
      ])
    }
  })

  it('that its endpoint never accepts is not sent with each one that it accepts', async () => {
    let tries = 0
    const { charge, pass } = setUpSweep({
      endpoint: (body) => {
        const { data } = JSON.parse(body) as Posted
        if (data.transaction.id !== poison) return new Response()
        tries++
        return new Response(null, { status: 500 })
      },
    })
    const poison = await charge()
    await pass(HOUR)
    const before = tries
    for (let n = 0; n < 30; n++) {
      await charge()
      await pass(MINUTE)
    }
    expect(tries - before).toBeLessThan(10)
  })

  it('holds up no check while its endpoint hangs', async () => {
    let isHanging = false
    const { charge, clock, sweeper, asked } = setUpSweep({
      gateway: reports('Paid'),
      endpoint: () =>
        isHanging ? new Promise(() => undefined) : new Response(null, { status: 500 }),
    })
    for (let n = 0; n < 10; n++) await charge()
    isHanging = true
    await clock.advance(10 * MINUTE)
    const sweeping = sweeper.sweep()
    await clock.advance(1)
    expect(asked.filter((method) => method === 'settleCheck')).toHaveLength(10)
    await clock.advance(MINUTE)
    expect(await sweeping).toMatchObject({ moved: 10, undelivered: 10 })
  })

  it('is dead after a day, with an alert, until a person sends it again', async () => {
    let isDown = true
    let tries = 0
    const { charge, pass, story, ledger, clock, queries } = setUpSweep({
      endpoint: () => {
        tries++
        return new Response(null, { status: isDown ? 500 : 200 })
      },
    })
    const id = await charge()
    await pass(DAY + HOUR)
    const [dead] = (await story(id)).events[0]?.deliveries ?? []
    expect(dead).toMatchObject({ status: 'dead', attempts: tries, lastStatus: 500 })
    expect(tries).toBeGreaterThan(24)
    expect(tries).toBeLessThan(60)
    expect(await queries.alerts({}, { limit: 10 })).toMatchObject([{ kind: 'delivery_dead' }])
    await pass(DAY)
    expect((await story(id)).events[0]?.deliveries[0]?.attempts).toBe(dead?.attempts)

    // It fails once more, and is not dead at once, although it is two days old.
    await ledger.redeliver({ id: dead?.id ?? '', now: clock.now() })
    await pass(MINUTE)
    expect((await story(id)).events[0]?.deliveries).toMatchObject([{ status: 'pending' }])
    isDown = false
    await pass(HOUR)
    expect((await story(id)).events[0]?.deliveries).toMatchObject([{ status: 'delivered' }])
  })
})
