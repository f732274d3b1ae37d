import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Arrival,
  type Ledger,
  LedgerUnavailable,
  type Recorded,
} from '../../../../worker/payments/ledger/ledger.ts'
import {
  answerCall,
  answerWebhook,
  type LedgerAndGuard,
  type LedgerNamespace,
  objectLedger,
} from '../../../../worker/payments/ledger/rpc.ts'
import { FakeClock } from '../../../support/fake-clock.ts'

type Call = (name: string, args: readonly unknown[]) => unknown
type Webhook = (arrival: string) => unknown

let clock: FakeClock
let stubs: number
beforeEach(() => {
  clock = new FakeClock()
  stubs = 0
  logged = []
})

/** A ledger in an object that answers with `call`. Counts the stubs. */
function ledgerOver(call: Call, webhook: Webhook = () => expect.fail('no webhook')): Ledger {
  const namespace: LedgerNamespace = {
    getByName(name, options) {
      expect([name, options]).toEqual(['main', { locationHint: 'weur' }])
      stubs++
      return {
        call: async (method, args) => (await call(method, args)) as never,
        webhook: async (arrival) => (await webhook(arrival)) as never,
      }
    },
  }
  return objectLedger({ namespace, name: 'main', locationHint: 'weur', clock })
}

let logged: unknown[]

/** An object with these methods of a ledger. */
const object = (ledger: object): Call => {
  return (name, args) =>
    answerCall(
      () => ledger as LedgerAndGuard,
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
    occurredAt: 1,
    raw: {},
  },
  onMismatch: 'log',
  receivedAt: 2,
})

describe('webhooks to an object', () => {
  const answered: Recorded = { outcome: 'applied', isMismatch: false }
  const over = (webhook: (arrival: Arrival) => Promise<Recorded>) => {
    const ledger = { webhook } as Partial<LedgerAndGuard> as LedgerAndGuard
    const log = (...line: unknown[]) => logged.push(line)
    return (text: string) => answerWebhook(() => ledger, text, log)
  }
  const none: Call = () => expect.fail('a separate call')

  it('are sent as they are, and each gets its own answer', async () => {
    const seen: Arrival[] = []
    const ledger = ledgerOver(
      none,
      over(async (came) => {
        seen.push(came)
        return { ...answered, transactionId: came.payload.gatewayTransactionId }
      }),
    )
    const sent = Array.from({ length: 3 }, (_, n) => arrival(`e-${n}`))
    const answers = await Promise.all(sent.map((each) => ledger.webhook(each)))
    expect(answers.map((each) => each.transactionId)).toEqual(
      sent.map(({ payload }) => payload.gatewayTransactionId),
    )
    expect(seen).toEqual(sent)
  })

  it('fail with what the object says', async () => {
    const object = over(async ({ id }) => {
      if (id === 'id-bad') throw new RangeError('null is not an amount')
      throw new LedgerUnavailable('the database was out of reach')
    })
    const ledger = ledgerOver(none, object)
    await expect(ledger.webhook(arrival('bad'))).rejects.toThrow('null is not an amount')
    await expect(ledger.webhook(arrival('late'))).rejects.toThrow(LedgerUnavailable)
    expect(logged).toMatchObject([['error', 'payments.ledger.failed', { method: 'webhook' }]])
  })

  it('are repeated with the same id when their object was reset', async () => {
    const texts: string[] = []
    const object = over(async () => answered)
    const ledger = ledgerOver(none, (text) => {
      texts.push(text)
      if (texts.length < 3) throw reset()
      return object(text)
    })
    const recorded = ledger.webhook(arrival('a'))
    await clock.advance(1_000)
    expect(await recorded).toEqual(answered)
    expect(new Set(texts)).toEqual(new Set([JSON.stringify(arrival('a'))]))
    expect(clock.pending).toBe(0)
  })
})
