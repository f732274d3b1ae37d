import { describe, expect, it } from 'vitest'
import { DAY, MINUTE, reports, setUpSweep } from './sweep-setup.ts'

describe('the sweeper', () => {
  it('does not call the ledger when nothing is due', async () => {
    const { sweeper, asked } = setUpSweep()
    expect(await sweeper.sweep()).toMatchObject({ isIdle: true, checked: 0, failed: 0 })
    expect(asked).toEqual([])
  })

  it('does not call the ledger when the query for due work fails', async () => {
    const waiting = () => Promise.reject(new Error('no database'))
    const { sweeper, asked, lines } = setUpSweep({ queries: { waiting } })
    expect(await sweeper.sweep()).toMatchObject({ isIdle: false, failed: 1 })
    expect(asked).toEqual([])
    expect(lines).toMatchObject([{ level: 'error', fields: { part: 'due' } }])
  })

  it('deletes webhook events after 90 days, and not before', async () => {
    const { pass, clock, charge, webhook, story, sweeper } = setUpSweep({
      gateway: reports('Pending'),
    })
    const id = await charge()
    await webhook(id, 'Paid')
    await charge()
    await clock.advance(90 * DAY)
    expect(await sweeper.sweep()).toMatchObject({ isIdle: false, forgotten: 0 })
    await charge()
    await pass(6 * MINUTE)
    expect((await story(id)).webhookEvents).toEqual([])
  })
})

describe('a sweep', () => {
  it('continues when one payment cannot be checked or stored', async () => {
    const { charge, clock, sweeper, story, lines } = setUpSweep({
      gateway: reports('Paid'),
      intercept(method, [settled]) {
        const isBroken = JSON.stringify(settled).includes('01TX1')
        if (method === 'settleCheck' && isBroken) throw new Error('poison')
      },
    })
    const ids = [await charge(), await charge(), await charge()]
    await clock.advance(5 * MINUTE)
    expect(await sweeper.sweep()).toMatchObject({ moved: 2, failed: 1, checked: 2 })
    const statuses = await Promise.all(ids.map(async (id) => (await story(id)).transaction.status))
    expect(statuses).toEqual(['Pending', 'Paid', 'Paid'])
    const check = { part: 'check', transactionId: '01TX1', correlationId: 'correlation-1' }
    expect(lines).toContainEqual({
      level: 'error',
      event: 'payments.sweep_failed',
      fields: { ...check, error: 'Error: poison' },
    })
  })

  it.each(['dispatchDue', 'applyParked', 'claimChecks', 'dropOldEvents'])(
    'does the other parts when %s fails',
    async (broken) => {
      const { charge, clock, sweeper, asked } = setUpSweep({
        gateway: reports('Paid'),
        intercept(method) {
          if (method === broken) throw new Error('no database')
        },
      })
      await charge()
      await clock.advance(5 * MINUTE)
      expect(await sweeper.sweep()).toMatchObject({ failed: 1 })
      for (const part of ['dispatchDue', 'applyParked', 'claimChecks', 'dropOldEvents']) {
        expect(asked).toContain(part)
      }
    },
  )

  it('checks eight at a time, and starts nothing after 25 seconds', async () => {
    let atOnce = 0
    let most = 0
    const { charge, clock, sweeper } = setUpSweep({
      gateway: {
        checkStatus: async () => {
          most = Math.max(most, ++atOnce)
          await new Promise<void>((resolve) => clock.after(10_000, resolve))
          atOnce--
          return { known: true, status: 'Paid', amount: 25_000, currency: 'IQD', raw: {} }
        },
      },
    })
    for (let i = 0; i < 60; i++) await charge()
    await clock.advance(5 * MINUTE)
    const sweeping = sweeper.sweep()
    await clock.advance(60_000)
    expect(await sweeping).toMatchObject({ checked: 24, moved: 24 })
    expect(most).toBe(8)
    // The remaining checks are due again, in turn.
    await clock.advance(2 * MINUTE)
    const next = sweeper.sweep()
    await clock.advance(60_000)
    expect(await next).toMatchObject({ checked: 24 })
  })

  it('checks fifty payments and leaves the others to the next sweep', async () => {
    const { charge, clock, sweeper } = setUpSweep({ gateway: reports('Paid') })
    for (let i = 0; i < 60; i++) await charge()
    await clock.advance(5 * MINUTE)
    expect(await sweeper.sweep()).toMatchObject({ checked: 50, moved: 50 })
    expect(await sweeper.sweep()).toMatchObject({ checked: 10, moved: 10 })
    expect(await sweeper.sweep()).toMatchObject({ isIdle: true })
  })
})

describe('a webhook that arrives before its payment', () => {
  it('is applied and delivered once the payment exists', async () => {
    const { charge, webhook, pass, moves, story } = setUpSweep()
    expect((await webhook('01TX1', 'Paid', 'order-1')).outcome).toBe('parked')
    const id = await charge({ isAnswered: false })
    await pass(MINUTE)
    expect(moves()).toEqual(['PaymentSucceeded'])
    expect((await story(id)).transaction.status).toBe('Paid')
  })
})
