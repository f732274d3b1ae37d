// Random groups of operations for two ledgers: one decides on rows that it remembers where it can,
// the other one loads the rows of every group.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginCharge, finishCharge } from '../../../../worker/payments/ledger/charge-operations.ts'
import { libsqlStore } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { TABLE } from '../../../../worker/payments/ledger/libsql/tables-libsql.ts'
import type { Operation } from '../../../../worker/payments/ledger/operation.ts'
import { beginRefund, finishRefund } from '../../../../worker/payments/ledger/refund-operations.ts'
import { recordWebhook } from '../../../../worker/payments/ledger/webhook-operations.ts'
import { openWriter } from '../../../../worker/payments/ledger/writer.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { LISTENERS } from '../../../contract/ledger-fakes.ts'
import { sqliteDatabase } from '../../../support/sqlite-database.ts'

/** `id`: new, and greater than all before. `of`: of a payment or refund. `n`: random. */
type Make = (id: string, of: string, n: number) => Operation<unknown>

const gateway = 'redirect'
const refused = { kind: 'refused', error: { code: 'declined', message: 'No.' } } as const
const times = { now: 1_000, until: 61_000 }
const { now, until: nextCheckAt } = times
const pick = <Item>(list: readonly Item[], n: number) => list[n % list.length] as Item

/** Some are for an order, or have a key, that may be known. */
const begin: Make = (id, _, n) => {
  const reference = n % 8 === 0 ? `order-${n % 3}` : `order-${id}`
  const request = { gateway, reference, amount: 500, currency: 'IQD', description: 'A book' }
  const key = n % 7 === 0 ? { idempotencyKey: `key-${n % 2}` } : {}
  const call = { ...times, chargeIsIdempotent: n % 2 === 0, requestHash: reference }
  return beginCharge({ id, request, ...call, ...key }, LISTENERS)
}

/** Some get an id that the gateway has given to another one. */
const finish: Make = (eventId, transactionId, n) => {
  const gatewayTransactionId = `gateway-${n % 9 === 0 ? 0 : transactionId}`
  const opened = { status: 'Pending', gateway, reference: '', transactionId } as const
  const answered = { kind: 'answered', answer: { ...opened, gatewayTransactionId } } as const
  const unknown = { kind: 'unknown', gatewayTransactionId, nextCheckAt } as const
  const result = pick([{ ...answered, nextCheckAt }, unknown, refused], n)
  return finishCharge({ transactionId, eventId, now, result }, LISTENERS)
}

const RULES = { subscribers: LISTENERS, references: 'shared' } as const

const webhook: Make = (id, of, n) => {
  const status = pick(['Paid', 'Paid', 'Failed', 'PartiallyRefunded'] as const, n)
  const event = { status, amount: 500, currency: 'IQD', eventId: id, raw: {} }
  const names = { gatewayTransactionId: pick([`gateway-${of}`, ''], n), reference: `order-${of}` }
  const payload = { gateway, ...names, ...event, occurredAt: '2026-01-05T10:00:00Z' }
  return recordWebhook({ id, payload, onMismatch: 'log', receivedAt: now }, RULES)
}

const refund: Make = (id, transactionId, n) => {
  const asked = { amount: pick([500, 100], n), reason: 'Returned', fullOnly: false }
  return beginRefund({ id, gateway, transactionId, ...asked, requestHash: '', ...times })
}

const endRefund: Make = (_, refundId, n) => {
  const accepted = { kind: 'accepted', gatewayRefundId: 'refund-1', nextCheckAt } as const
  const result = pick([{ kind: 'done' } as const, accepted, refused], n)
  return finishRefund({ refundId, now, result }, RULES)
}

function ledger(guesses: boolean) {
  const database = sqliteDatabase()
  const dispatched: string[] = []
  const { run } = openWriter({
    store: libsqlStore(database),
    dispatch: (events) => void dispatched.push(...events.map(({ outboxId }) => outboxId)),
    ...{ clock: hostClock, log: () => undefined },
  })
  const plain = ({ keys, decide }: Operation<unknown>) => ({ keys, decide })
  return {
    dispatched,
    all: (sql: string) => database.all(`SELECT * FROM ${sql}`),
    async play(group: readonly Operation<unknown>[]) {
      const decided = group.map((each) => run(guesses ? each : plain(each)))
      // A load leaves out the request. Alerts have a new id each time.
      const leave = (name: string, value: unknown) =>
        name === 'request' || name === 'alert' ? null : value
      return JSON.stringify(await Promise.allSettled(decided), leave)
    },
  }
}

const CALLED = 'payment_transactions WHERE called_by IS NOT NULL'
const PAID = `payment_transactions WHERE status IN ('Paid', 'PartiallyRefunded')`
const CLAIMED = `payment_refunds WHERE status IN ('claimed', 'accepted')`
const STEPS = [begin, begin, finish, finish, webhook, refund, endRefund]
/** Past the steps: one that came before is repeated. */
const step = fc.tuple(fc.nat(STEPS.length), fc.nat(1_000))
const group = fc.array(step, { minLength: 1, maxLength: 3 })
const life = fc.array(group, { minLength: 30, maxLength: 50, size: 'max' })

it('leaves the same rows, answers and events as a ledger that loads the rows of every group', async () => {
  const play = fc.asyncProperty(life, async (groups) => {
    const [guessing, loading] = [ledger(true), ledger(false)]
    const made: Operation<unknown>[] = []
    for (const steps of groups) {
      const operations = steps.flatMap(([at, n]) => {
        const make = STEPS[at]
        if (!make) return made.length > 0 ? pick(made, n) : []
        const id = String(made.length).padStart(4, '0')
        const rows = loading.all(make === endRefund ? CLAIMED : make === refund ? PAID : CALLED)
        made.push(make(id, String(pick(rows, n)?.id ?? id), n))
        return made.slice(-1)
      })
      expect(await guessing.play(operations)).toEqual(await loading.play(operations))
    }
    for (const name of Object.values(TABLE)) {
      const rows = ({ all }: typeof loading) =>
        all(name).map(({ payload, ...row }) => ({
          ...row,
          ...(name === TABLE.alerts ? { id: 0 } : { alert: 0 }),
          payload: payload && String(payload).replace(/"alert":"[^}]*}"/, ''),
        }))
      expect(rows(guessing)).toEqual(rows(loading))
    }
    expect(guessing.dispatched).toEqual(loading.dispatched)
  })
  await fc.assert(play, { numRuns: 15, endOnFailure: true })
})
