import { beforeEach, describe, expect, it } from 'vitest'
import { type Ledger, LedgerUnavailable } from '../../../../worker/payments/ledger/ledger.ts'
import {
  answerCall,
  type LedgerNamespace,
  objectLedger,
} from '../../../../worker/payments/ledger/ledgers-object.ts'
import { FakeClock } from '../../../support/fake-clock.ts'

type Call = (name: string, args: readonly unknown[]) => unknown

let clock: FakeClock
let stubs: number
beforeEach(() => {
  clock = new FakeClock()
  stubs = 0
  logged = []
})

/** An object whose calls go as `call` says, one stub a call. */
function ledgerOver(call: Call): Ledger {
  const namespace: LedgerNamespace = {
    getByName(name, options) {
      expect([name, options]).toEqual(['main', { locationHint: 'weur' }])
      stubs++
      return { call: async (method, args) => (await call(method, args)) as never }
    },
  }
  return objectLedger({ namespace, name: 'main', locationHint: 'weur', clock })
}

let logged: unknown[]

/** An object over these methods of a ledger. */
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
  it('carries a call and its answer across', async () => {
    const ledger = ledgerOver(
      object({ forget: async (before: number, limit: number) => before + limit }),
    )
    expect(await ledger.forget(40, 2)).toBe(42)
  })

  it('keeps a ledger out of reach apart from a call that failed', async () => {
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
    'has no method %s for whoever reaches it',
    async (name) => {
      const reply = await object({})(name, [])
      expect(reply).toMatchObject({ ok: false, code: 'failed' })
    },
  )

  it('answers what is misconfigured, instead of breaking its object', async () => {
    const make = () => {
      throw new Error('PAYMENT_DATABASE_URL is missing')
    }
    const reply = await answerCall(make, { name: 'forget', args: [1, 1] }, () => undefined)
    expect(reply).toMatchObject({ ok: false, code: 'failed' })
  })

  it('repeats a call that an object lost when it was reset, over a fresh stub', async () => {
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

  it('gives up after some tries, and says that the ledger is out of reach', async () => {
    const ledger = ledgerOver(() => {
      throw reset()
    })
    const answer = expect(ledger.redeliver('d-1', 5)).rejects.toBeInstanceOf(LedgerUnavailable)
    await clock.advance(10_000)
    await answer
    expect(stubs).toBe(4)
    expect(clock.pending).toBe(0)
  })

  it('does not press an object that has too much to do', async () => {
    const ledger = ledgerOver(() => {
      throw Object.assign(new Error('overloaded'), { overloaded: true, retryable: true })
    })
    await expect(ledger.redeliver('d-1', 5)).rejects.toBeInstanceOf(LedgerUnavailable)
    expect(stubs).toBe(1)
  })
})
