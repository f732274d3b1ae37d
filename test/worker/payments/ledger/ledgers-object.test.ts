import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import type { Arrival } from '../../../../worker/payments/acts/webhook.ts'
import { createGuard } from '../../../../worker/payments/gateways/guard.ts'
import {
  LedgerRefused,
  LedgerUnavailable,
  OtherDatabase,
} from '../../../../worker/payments/ledger/failures.ts'
import {
  answersOf,
  type LedgerApi,
  type LedgerCall,
  type LedgerNamespace,
  type LedgerStub,
  objectLedger,
} from '../../../../worker/payments/ledger/rpc.ts'

type Answer = LedgerStub['call']

let clock: FakeClock
let stubs: number
beforeEach(() => {
  clock = new FakeClock()
  stubs = 0
  logged = []
})

/** A ledger in an object that answers so. Counts the stubs. */
function ledgerOver(answer: Answer): LedgerApi {
  const namespace: LedgerNamespace = {
    getByName(name, options) {
      expect([name, options]).toEqual(['main', { locationHint: 'weur' }])
      stubs++
      return { call: answer }
    },
  }
  return objectLedger({ namespace, name: 'main', locationHint: 'weur', clock })
}

let logged: unknown[]

/** An object with these methods of a ledger. */
const object = (ledger: object): Answer =>
  answersOf(
    () => ledger as LedgerApi,
    (...line) => logged.push(line),
  )

/** One that answers any call so. */
const saying =
  (answer: (call: LedgerCall) => unknown): Answer =>
  async (call) =>
    JSON.stringify(answer(JSON.parse(call)))

const reset = () => Object.assign(new Error('reset'), { durableObjectReset: true, remote: true })

describe('the ledger in an object', () => {
  it('passes a call on, and returns its answer', async () => {
    const ledger = ledgerOver(
      object({ dropOldEvents: async (before: number, limit: number) => before + limit }),
    )
    expect(await ledger.dropOldEvents(40, 2)).toBe(42)
  })

  it('passes on which call is the probe of an open circuit', async () => {
    const fetch = async () => new Response()
    const deps = { gateways: new Map(), clock, fetch, log: () => undefined, store: new Map() }
    const guard = ledgerOver(object(createGuard(deps)))
    for (let call = 0; call < 5; call++) await guard.report('bank', 'charge', 'failure')
    await clock.advance(30_000)
    const probe = await guard.admit('bank', 'charge', 'call')
    if (!probe.ok) throw new Error('not admitted')
    await guard.report('bank', 'charge', 'neutral')
    expect((await guard.admit('bank', 'charge', 'call')).ok).toBe(false)
    await guard.report('bank', 'charge', 'neutral', undefined, probe.probe)
    expect((await guard.admit('bank', 'charge', 'call')).ok).toBe(true)
  })

  it('distinguishes an unavailable ledger from a failed call', async () => {
    const calls = object({
      dropOldEvents: async () => {
        throw new LedgerUnavailable('the database was out of reach')
      },
      redeliver: async () => {
        throw new RangeError(':amount is past 2^53 - 1')
      },
    })
    const ledger = ledgerOver(calls)
    await expect(ledger.dropOldEvents(1, 1)).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await expect(ledger.redeliver({ id: 'x', now: 1 })).rejects.toThrow('past 2^53')
    expect(stubs).toBe(2)
    expect(logged).toMatchObject([['error', 'payments.ledger.failed', { method: 'redeliver' }]])
  })

  it.each(['constructor', 'fetch', 'alarm', 'toString', '__proto__'])(
    'does not let callers run %s',
    async (name) => {
      const reply = await object({})(JSON.stringify({ name, args: [] }))
      expect(JSON.parse(reply)).toMatchObject({ ok: false, code: 'failed' })
    },
  )

  it('answers with an error while it is misconfigured, instead of breaking its object', async () => {
    let isRight = false
    let opened = 0
    const open = () => {
      opened++
      if (!isRight) throw new Error('PAYMENT_DATABASE_URL is missing')
      return { dropOldEvents: async () => 1 } as unknown as LedgerApi
    }
    const answer = answersOf(open, () => undefined)
    const call = JSON.stringify({ name: 'dropOldEvents', args: [1, 1] })
    expect(JSON.parse(await answer(call))).toMatchObject({ ok: false, code: 'failed' })
    isRight = true
    const replies = [await answer(call), await answer(call)]
    expect(replies.map((reply) => JSON.parse(reply))).toEqual(
      [1, 1].map((value) => ({ ok: true, value })),
    )
    expect(opened).toBe(2)
  })

  it('repeats a call with a new stub if its object was reset', async () => {
    const seen: unknown[] = []
    const ledger = ledgerOver(
      saying(({ name, args }) => {
        seen.push([name, ...args])
        if (seen.length < 3) throw reset()
        return { ok: true, value: true }
      }),
    )
    const answer = ledger.redeliver({ id: 'd-1', now: 5 })
    await clock.advance(1_000)
    expect(await answer).toBe(true)
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['redeliver', { id: 'd-1', now: 5 }]))
    expect(stubs).toBe(3)
  })

  it('gives up after four tries, with LedgerUnavailable', async () => {
    const ledger = ledgerOver(
      saying(() => {
        throw reset()
      }),
    )
    const answer = expect(ledger.redeliver({ id: 'd-1', now: 5 })).rejects.toBeInstanceOf(
      LedgerUnavailable,
    )
    await clock.advance(10_000)
    await answer
    expect(stubs).toBe(4)
    expect(clock.pending).toBe(0)
  })

  it.each([
    new LedgerRefused('it answered 401, so LIBSQL_AUTH_TOKEN is wrong'),
    new OtherDatabase('it is empty, and this is the shop s-1'),
  ])(
    'says what is wrong with the database as the object does, and asks once: %s',
    async (failure) => {
      const refused = { redeliver: () => Promise.reject(failure) }
      const ledger = ledgerOver(object(refused))
      const { code, message } = failure
      await expect(ledger.redeliver({ id: 'd-1', now: 5 })).rejects.toMatchObject({ code, message })
      expect(stubs).toBe(1)
    },
  )

  it('does not repeat a call to an overloaded object', async () => {
    const ledger = ledgerOver(
      saying(() => {
        throw Object.assign(new Error('overloaded'), { overloaded: true, retryable: true })
      }),
    )
    await expect(ledger.redeliver({ id: 'd-1', now: 5 })).rejects.toBeInstanceOf(LedgerUnavailable)
    expect(stubs).toBe(1)
  })
})

const ARRIVAL: Arrival = {
  id: '01ARRIVAL',
  payload: {
    gateway: 'redirect',
    gatewayTransactionId: 'gt-1',
    reference: 'a “quoted”\u2028line \ud83d',
    status: 'Paid',
    amount: 25_000,
    currency: 'IQD',
    eventId: 'e-1',
    occurredAt: 1,
    raw: {},
  },
  onMismatch: 'log',
  receivedAt: 2,
}

describe('a webhook to an object', () => {
  it('is sent as it is, and what is missing stays missing', async () => {
    const seen: unknown[] = []
    const keep = (...args: unknown[]) => {
      seen.push(args)
      return Promise.resolve({ outcome: 'applied', transactionId: undefined })
    }
    const ledger = ledgerOver(object({ webhook: keep, checkSoon: keep }))
    const recorded = await ledger.webhook(ARRIVAL)
    expect(recorded).toEqual({ outcome: 'applied' })
    await ledger.checkSoon({ gateway: 'redirect', ids: {}, now: 5 })
    expect(seen).toEqual([[ARRIVAL], [{ gateway: 'redirect', ids: {}, now: 5 }]])
  })
})
