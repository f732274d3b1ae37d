import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Arrival,
  type Ledger,
  LedgerUnavailable,
  type Recorded,
} from '../../../../worker/payments/ledger/ledger.ts'
import {
  answerCall,
  answerWebhooks,
  type LedgerNamespace,
  objectLedger,
} from '../../../../worker/payments/ledger/ledgers-object.ts'
import { end, FakeClock } from '../../../support/fake-clock.ts'

type Call = (name: string, args: readonly unknown[]) => unknown
type Webhooks = (arrivals: string) => unknown

let clock: FakeClock
let stubs: number
beforeEach(() => {
  clock = new FakeClock()
  stubs = 0
  logged = []
})

/** A ledger in an object that answers with `call`. Counts the stubs. */
function ledgerOver(call: Call, webhooks: Webhooks = () => expect.fail('no webhooks')): Ledger {
  const namespace: LedgerNamespace = {
    getByName(name, options) {
      expect([name, options]).toEqual(['main', { locationHint: 'weur' }])
      stubs++
      return {
        call: async (method, args) => (await call(method, args)) as never,
        webhooks: async (arrivals) => (await webhooks(arrivals)) as never,
      }
    },
  }
  const keepAlive = () => undefined
  return objectLedger({ namespace, name: 'main', locationHint: 'weur', clock, keepAlive })
}

let logged: unknown[]

/** An object with these methods of a ledger. */
const object = (ledger: object): Call => {
  return (name, args) =>
    answerCall(
      () => ledger as Ledger,
      { name, args },
      (...line) => logged.push(line),
    )
}

const reset = () => Object.assign(new Error('reset'), { durableObjectReset: true, remote: true })

describe('the ledger in an object', () => {
  it('passes a call on, and returns its answer', async () => {
    const ledger = ledgerOver(
      object({ forget: async (before: number, limit: number) => before + limit }),
    )
    expect(await ledger.forget(40, 2)).toBe(42)
  })

  it('distinguishes an unavailable ledger from a failed call', async () => {
    const calls = object({
      forget: async () => {
        throw new LedgerUnavailable('the database was out of reach')
      },
      redeliver: async () => {
        throw new RangeError(':amount is past 2^53 - 1')
      },
    })
    const ledger = ledgerOver(calls)
    await expect(ledger.forget(1, 1)).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await expect(ledger.redeliver('x', 1)).rejects.toThrow('past 2^53')
    expect(stubs).toBe(2)
    expect(logged).toMatchObject([['error', 'payments.ledger.failed', { method: 'redeliver' }]])
  })

  it.each(['constructor', 'fetch', 'alarm', 'toString', '__proto__'])(
    'does not let callers run %s',
    async (name) => {
      const reply = await object({})(name, [])
      expect(reply).toMatchObject({ ok: false, code: 'failed' })
    },
  )

  it('answers with an error if it is misconfigured, instead of breaking its object', async () => {
    const make = () => {
      throw new Error('PAYMENT_DATABASE_URL is missing')
    }
    const reply = await answerCall(make, { name: 'forget', args: [1, 1] }, () => undefined)
    expect(reply).toMatchObject({ ok: false, code: 'failed' })
  })

  it('repeats a call with a new stub if its object was reset', async () => {
    const seen: unknown[] = []
    const ledger = ledgerOver((name, args) => {
      seen.push([name, ...args])
      if (seen.length < 3) throw reset()
      return { ok: true, value: true }
    })
    const answer = ledger.redeliver('d-1', 5)
    await clock.advance(1_000)
    expect(await answer).toBe(true)
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['redeliver', 'd-1', 5]))
    expect(stubs).toBe(3)
  })

  it('gives up after four tries, with LedgerUnavailable', async () => {
    const ledger = ledgerOver(() => {
      throw reset()
    })
    const answer = expect(ledger.redeliver('d-1', 5)).rejects.toBeInstanceOf(LedgerUnavailable)
    await clock.advance(10_000)
    await answer
    expect(stubs).toBe(4)
    expect(clock.pending).toBe(0)
  })

  it('does not repeat a call to an overloaded object', async () => {
    const ledger = ledgerOver(() => {
      throw Object.assign(new Error('overloaded'), { overloaded: true, retryable: true })
    })
    await expect(ledger.redeliver('d-1', 5)).rejects.toBeInstanceOf(LedgerUnavailable)
    expect(stubs).toBe(1)
  })
})

const arrival = (eventId: string): Arrival => ({
  id: `id-${eventId}`,
  payload: {
    gateway: 'redirect',
    gatewayTransactionId: `gt-${eventId}`,
    reference: 'a “quoted”\u2028line \ud83d',
    status: 'Paid',
    amount: 25_000,
    currency: 'IQD',
    eventId,
    occurredAt: '1970-01-01T00:00:00.001Z',
    raw: {},
  },
  onMismatch: 'log',
  receivedAt: 2,
})

describe('webhooks to an object', () => {
  const answered: Recorded = { outcome: 'applied', isMismatch: false }
  const over = (webhook: (arrival: Arrival) => Promise<Recorded>) => {
    const ledger = { webhook } as Partial<Ledger> as Ledger
    const log = (...line: unknown[]) => logged.push(line)
    return (arrivals: string) => answerWebhooks(() => ledger, arrivals, log)
  }
  const none: Call = () => expect.fail('a separate call')

  it('are sent together, unchanged, and each gets its own answer', async () => {
    const seen: Arrival[] = []
    let requests = 0
    const object = over(async (came) => {
      seen.push(came)
      return { ...answered, transactionId: came.payload.gatewayTransactionId }
    })
    const ledger = ledgerOver(none, (arrivals) => {
      requests++
      return object(arrivals)
    })
    const sent = Array.from({ length: 20 }, (_, n) => arrival(`e-${n}`))
    const answers = await end(clock, Promise.all(sent.map((each) => ledger.webhook(each))))
    expect(answers.map((each) => each.transactionId)).toEqual(
      sent.map(({ payload }) => payload.gatewayTransactionId),
    )
    expect(seen).toEqual(sent)
    expect(requests).toBeLessThan(6)
  })

  it('fail alone when they are sent together', async () => {
    const object = over(async ({ id }) => {
      if (id === 'id-bad') throw new RangeError('null is not an amount')
      if (id === 'id-late') throw new LedgerUnavailable('the database was out of reach')
      return answered
    })
    const ledger = ledgerOver(none, object)
    const ids = ['a', 'b', 'c', 'd', 'bad', 'late', 'e']
    const sent = ids.map((id) => ledger.webhook(arrival(id)))
    const ends = await end(clock, Promise.allSettled(sent))
    expect(ends.map((each) => (each.status === 'fulfilled' ? 'ok' : each.reason.name))).toEqual([
      ...['ok', 'ok', 'ok', 'ok'],
      ...['Error', 'LedgerUnavailable', 'ok'],
    ])
    expect(logged).toMatchObject([['error', 'payments.ledger.failed', { method: 'webhook' }]])
  })

  it('all fail when the ledger cannot be built or reached', async () => {
    const ledger = ledgerOver(none, () => {
      throw Object.assign(new Error('overloaded'), { overloaded: true, retryable: true })
    })
    const sent = ['a', 'b', 'c'].map((id) => ledger.webhook(arrival(id)))
    const ends = await end(clock, Promise.allSettled(sent))
    expect(ends.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(
      Array(3).fill('ledger_unavailable'),
    )
    const make = () => {
      throw new Error('LIBSQL_URL is missing')
    }
    const misconfigured = ledgerOver(none, (arrivals) =>
      answerWebhooks(make, arrivals, () => undefined),
    )
    await expect(misconfigured.webhook(arrival('a'))).rejects.toThrow('LIBSQL_URL')
  })

  it('are repeated together, with the same ids, when their object was reset', async () => {
    const ids: string[][] = []
    const object = over(async () => answered)
    const ledger = ledgerOver(none, (arrivals) => {
      ids.push((JSON.parse(arrivals) as Arrival[]).map(({ id }) => id))
      if (ids.length < 3) throw reset()
      return object(arrivals)
    })
    const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => ledger.webhook(arrival(id))))
    await clock.advance(1_000)
    expect(await all).toEqual(Array(5).fill(answered))
    const times = (id: string) => ids.flat().filter((each) => each === `id-${id}`).length
    expect(['a', 'b', 'c', 'd', 'e'].map(times)).toEqual([2, 2, 1, 1, 1])
    expect(clock.pending).toBe(0)
  })
})
