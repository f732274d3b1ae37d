// The contract of the ledger's store, for any database: a saved row is loaded again by its keys, and
// a save stores all of its rows or nothing. It knows no rule of money.

import { beforeEach, describe, expect, it } from 'vitest'
import type { Changes, Key } from '../../worker/payments/acts/act.ts'
import { LEASE_MS } from '../../worker/payments/acts/store.ts'
import { MAX_WAIT_MS } from '../../worker/payments/domain/check-times.ts'
import { type Rows, TABLE_NAMES, type TableName } from '../../worker/payments/domain/rows.ts'
import { BEHIND_MS, isoTime } from '../../worker/payments/domain/time.ts'
import { StaleRows } from '../../worker/payments/ledger/failures.ts'
import { isTransient } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import type { Store } from '../../worker/payments/ledger/libsql/store-libsql.ts'
import type { PaymentQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { MAX_RETRY_MS } from '../../worker/shared/outgoing.ts'
import {
  alertRow,
  deliveryRow,
  disputeRow,
  MINUTE,
  NOW,
  outboxRow,
  refundRow,
  transactionRow,
  webhookEventRow,
} from '../support/payment-rows.ts'

const ERROR = '{"code":"x","message":"“y”"}'
const never = new AbortController().signal

/** Each column has a value. */
const WHOLE: Rows = {
  transactions: [
    transactionRow({
      idempotency_key: 'key-1',
      metadata: '{"table":4}',
      redirect_url: 'https://a.example',
      charge_answer: '{"qrCode":"é😀"}',
      expires_at: NOW + 7,
      called_by: '01CALL',
      called_until: NOW + 8,
      error: ERROR,
      paid_at: NOW,
      paid_amount: -5,
      is_repeat: 1,
      paid_currency: 'USD',
      unreadable_event: '01E',
      alert: '{"id":"01A","kind":"dispute"}',
      installation: 'ours',
      refunds_read_at: NOW,
      last_check_at: NOW,
      last_check_status: 'unknown',
      refunded_amount: Number.MAX_SAFE_INTEGER,
      status: 'PartiallyRefunded',
    }),
  ],
  chargeKeys: [{ id: '01KEY', gateway: 'bank', idempotency_key: 'key-2', transaction_id: '01TX' }],
  webhookEvents: [
    webhookEventRow({
      external_reference_id: 'external-1',
      transaction_id: '01TX',
      from_status: 'Pending',
      mismatch: 1,
      alert: 'dispute',
      error: ERROR,
      raw: '{"half":"\\ud83d\\u0000"}',
      outcome: 'applied',
      on_mismatch: 'reject',
      refunds: '{"readAt":1,"refunds":[]}',
      paid_amount: 25_000,
      disputes: '{"id":"dp-1","readAt":1,"parts":[]}',
    }),
  ],
  refunds: [
    refundRow({
      gateway_refund_id: 'back-1',
      idempotency_key: 'key-1',
      correlation_id: 'c-3',
      error: ERROR,
      asked_by: 'ada',
    }),
  ],
  disputes: [disputeRow({ is_inquiry: 1, outcome: 'lost', ended_at: NOW })],
  outbox: [outboxRow({ leased_until: NOW + 1, done_at: NOW + 2 })],
  deliveries: [
    deliveryRow({ leased_until: NOW, last_status: 503, last_error: 'x', delivered_at: NOW }),
  ],
  alerts: [
    alertRow({ acknowledged_at: NOW, acknowledged_by: 'ada', gateway_reference: 'by hand' }),
  ],
  audit: [
    {
      id: '01ACT',
      at: NOW,
      action: 'refund',
      subject: 'ada',
      transaction_id: '01TX',
      about: '01REFUND',
      amount: 5,
      detail: 'x',
    },
  ],
  movements: [
    {
      id: '01MOVED',
      kind: 'refunded',
      transaction_id: '01TX',
      gateway: 'bank',
      refund_id: '01REFUND',
      amount: -5,
      currency: 'IQD',
      booked_at: NOW,
      occurred_at: NOW - 1,
      estimated: 1,
    },
  ],
  notes: [
    {
      id: '01NOTE',
      transaction_id: '01TX',
      text: 'She called. راجعت',
      by: 'ada',
      created_at: NOW,
    },
  ],
}
const ALL: readonly Key[] = [
  ['payment', '01TX'],
  ['keysOf', '01TX'],
  ['parked', '01EVENT'],
  ['outbox', '01OUTBOX'],
  ['delivery', '01DELIVERY'],
]

export interface StoreSetup {
  store: Store
  queries: PaymentQueries
}

/** `make` opens a store over an empty database. */
export function storeContract(name: string, make: () => Promise<StoreSetup>): void {
  let store: Store
  let queries: PaymentQueries
  beforeEach(async () => {
    ;({ store, queries } = await make())
  })

  const load = (keys: readonly Key[]) => store.load(keys, never)
  async function save(changes: Changes, keys: readonly Key[] = []) {
    const loaded = await load(keys)
    loaded.rows.put(changes)
    await store.save(loaded, never)
    return loaded
  }
  const tablesOf = async (keys: readonly Key[]): Promise<Changes> => {
    const { rows } = await load(keys)
    return Object.fromEntries(TABLE_NAMES.map((table) => [table, rows.all(table)]))
  }
  /** The ids of the loaded rows of these tables, and of no others. */
  async function idsOf(keys: readonly Key[]): Promise<Partial<Record<TableName, string[]>>> {
    const { rows } = await load(keys)
    const all = TABLE_NAMES.map((table) => [table, rows.all(table).map(({ id }) => id)] as const)
    return Object.fromEntries(
      all.flatMap(([table, ids]) => (ids.length === 0 ? [] : [[table, ids.toSorted()]])),
    )
  }

  describe(`the store on ${name}`, () => {
    it('returns each column of each table as it was saved, and as it was changed', async () => {
      for (const table of TABLE_NAMES)
        expect(Object.values(WHOLE[table][0] ?? {})).not.toContain(null)
      await save(WHOLE)
      const unread = {
        ...WHOLE,
        webhookEvents: WHOLE.webhookEvents.map((row) => ({ ...row, raw: null })),
        transactions: WHOLE.transactions.map((row) => ({ ...row, request: null })),
        outbox: WHOLE.outbox.map((row) => ({ ...row, payload: null })),
        audit: [],
        movements: [],
        notes: [],
      }
      expect(await tablesOf(ALL)).toEqual(unread)
      const { request } = WHOLE.transactions[0] ?? {}
      const ordered = await tablesOf([['order', 'bank', 'order-1']])
      expect(ordered).toMatchObject({ transactions: [{ request }] })
      const [event] = await queries.webhookEvents({}, { limit: 9 })
      expect(event).toMatchObject({ raw: { half: '\ud83d\u0000' } })
      // A call that is repeated has asked once.
      await save({ audit: WHOLE.audit.map((row) => ({ ...row, subject: 'eve' })) })
      const act = { action: 'refund', subject: 'ada', transactionId: '01TX', about: '01REFUND' }
      expect(await queries.audit({}, { limit: 9 })).toMatchObject([
        { id: '01ACT', ...act, amount: 5, currency: 'IQD', detail: 'x', reference: 'order-1' },
      ])

      const said = { id: '01NOTE', text: 'She called. راجعت', by: 'ada', createdAt: isoTime(NOW) }
      const found = await queries.transactions({ q: 'راجعت' }, { limit: 9 })
      expect(found).toMatchObject([{ id: '01TX' }])
      await save({ notes: WHOLE.notes })
      expect(await queries.story('01TX')).toMatchObject({ notes: [said] })

      const moved = { kind: 'refunded', transactionId: '01TX', refundId: 'back-1', amount: '-5' }
      const range = { after: NOW, before: NOW + 1 }
      expect(await queries.movements(range, 9)).toMatchObject([
        { id: '01MOVED', ...moved, amountMinor: -5, reference: 'order-1', estimated: true },
      ])
      expect(await queries.movements(range, 9, '01MOVED')).toEqual([])
      expect(await queries.movements({ ...range, gateway: 'other' }, 9)).toEqual([])
      expect(
        await queries.movementSums(
          [
            [0, NOW],
            [NOW, NOW + 1],
          ],
          'bank',
        ),
      ).toEqual([
        { span: 1, gateway: 'bank', currency: 'IQD', kind: 'refunded', count: 1, amount: -5 },
      ])

      const changed: Rows = {
        transactions: [transactionRow({ request: null, next_check_at: null })],
        chargeKeys: WHOLE.chargeKeys,
        webhookEvents: [webhookEventRow()],
        refunds: [refundRow({ status: 'failed' })],
        disputes: [disputeRow({ out_amount: 0 })],
        outbox: [outboxRow({ payload: null, attempts: 3 })],
        deliveries: [deliveryRow({ status: 'dead', attempts: 4 })],
        alerts: [alertRow()],
        audit: [],
        movements: [],
        notes: [],
      }
      await save({ ...changed, outbox: [outboxRow({ attempts: 3 })] }, ALL)
      expect(await tablesOf(ALL)).toEqual(changed)
      const due = await tablesOf([['dueEvents', { now: NOW + 9, dueBy: NOW + 9, limit: 9 }]])
      expect(due.outbox).toEqual([outboxRow({ attempts: 3 })])
    })

    it('keeps texts that are not valid Unicode, and finds them by the same text', async () => {
      const reference = "“\u0000\u2028” ' ; --"
      await save({ webhookEvents: [webhookEventRow({ event_id: 'half \ud83d', reference })] })
      expect(await tablesOf([['event', 'bank', 'half \ufffd']])).toMatchObject({
        webhookEvents: [{ event_id: 'half \ufffd', reference }],
      })
    })

    it('saves hundreds of rows at once', async () => {
      const ids = Array.from({ length: 500 }, (_, n) => `t-${1_000 + n}`)
      const rows = ids.map((id) =>
        transactionRow({ id, gateway_transaction_id: id, external_reference_id: id }),
      )
      await save({ transactions: rows })
      const payments = ids.map((id) => ['payment', id] as const)
      const paid = rows.map((row) => ({ ...row, status: 'Paid', request: null }) as const)
      await save({ transactions: paid }, payments)
      expect(await idsOf(payments)).toEqual({ transactions: ids })
      expect(await queries.transactions({ status: 'Paid' }, { limit: 999 })).toHaveLength(500)
    })

    it('refuses all of a save if anything was saved since its rows were loaded', async () => {
      await save({ transactions: [transactionRow()] })
      const payments = [['payment', '01TX']] as const
      const [one, other] = [await load(payments), await load([])]
      const paid = { ...one.rows.all('transactions')[0], status: 'Paid' } as const
      one.rows.put({ transactions: [paid as Rows['transactions'][number]] })
      other.rows.put({ alerts: [alertRow()] })
      await store.save(other, never)
      await expect(store.save(one, never)).rejects.toThrow(StaleRows)
      // Its answer may have been lost: sent again, it is stored once.
      await expect(store.save(other, never)).rejects.toThrow(StaleRows)
      expect(await tablesOf(payments)).toMatchObject({ transactions: [{ status: 'Pending' }] })
      expect(await queries.alerts({}, { limit: 9 })).toHaveLength(1)
      expect(other.batch).toBe(one.batch)
      expect((await load([])).batch).toBe(one.batch + 1)
    })

    it('stores nothing of a save of which one row is refused', async () => {
      const homeless = outboxRow({ transaction_id: 'nobody' })
      const saving = save({ transactions: [transactionRow()], outbox: [homeless] })
      const error = await saving.catch((reason: unknown) => reason)
      expect(error).not.toBeInstanceOf(StaleRows)
      expect(isTransient(error)).toBe(false)
      expect(await idsOf([['payment', '01TX']])).toEqual({})
      expect(await queries.transactions({}, { limit: 9 })).toEqual([])
    })

    it('lets a new row take over a unique name from one that gives it up', async () => {
      const keyed = transactionRow({ idempotency_key: 'key-1' })
      await save({ transactions: [keyed] })
      const next = { ...keyed, id: '02TX', attempt: 2 }
      const named = { gateway_transaction_id: null, external_reference_id: 'external-2' }
      const changes = {
        transactions: [
          { ...keyed, idempotency_key: null },
          { ...next, ...named },
        ],
      }
      await save(changes, [['payment', '01TX']])
      expect(await idsOf([['chargeKey', 'bank', 'key-1']])).toEqual({ transactions: ['02TX'] })
    })

    describe('finds', () => {
      const bank = 'bank'
      const paid = transactionRow({ id: '1', status: 'Paid', idempotency_key: 'key-1' })
      const open = { gateway_transaction_id: null, idempotency_key: null }
      const second = transactionRow({
        ...open,
        id: '2',
        attempt: 2,
        external_reference_id: 'external-2',
      })
      const ended = transactionRow({ ...paid, id: '3', gateway: 'shop', status: 'Failed' })
      const other = transactionRow({
        ...open,
        id: '4',
        reference: 'order-4',
        external_reference_id: 'external-4',
      })
      const parked = (id: string, own: object) =>
        webhookEventRow({ id, event_id: id, gateway_transaction_id: null, reference: null, ...own })
      beforeEach(() =>
        save({
          transactions: [paid, second, ended, other],
          chargeKeys: [{ gateway: bank, id: '5', idempotency_key: 'key-2', transaction_id: '2' }],
          refunds: [refundRow({ id: '6', transaction_id: '1' })],
          webhookEvents: [
            webhookEventRow({ id: '7', transaction_id: '1', outcome: 'applied' }),
            parked('7a', { gateway_transaction_id: 'gateway-9' }),
            parked('7b', { external_reference_id: 'external-4' }),
            parked('7c', { reference: 'order-4' }),
            parked('7d', { reference: 'order-4', gateway: 'shop' }),
            parked('7e', { reference: 'order-4', outcome: 'applied' }),
          ],
          outbox: [outboxRow({ id: '8', transaction_id: '1' })],
          deliveries: [deliveryRow({ id: '9', outbox_id: '8' })],
          alerts: [alertRow({ id: 'A', transaction_id: '1' })],
        }),
      )

      /** With all that belongs to it. */
      const PAID = { refunds: ['6'], alerts: ['A'] }
      it.each<[string, readonly Key[], Partial<Record<TableName, string[]>>]>([
        ['nothing without keys', [], {}],
        ['a payment by our id', [['payment', '4']], { transactions: ['4'] }],
        [
          'a payment by its gateway’s id, and the paid ones of its order at other gateways',
          [['gatewayId', 'shop', 'gateway-1']],
          { ...PAID, transactions: ['1', '3'] },
        ],
        [
          'a payment by the name that we gave it',
          [['externalId', bank, 'external-4']],
          { transactions: ['4'] },
        ],
        [
          'a payment by its key, at its gateway',
          [['chargeKey', bank, 'key-1']],
          { ...PAID, transactions: ['1'] },
        ],
        [
          'a payment by a further key',
          [['chargeKey', bank, 'key-2']],
          { ...PAID, transactions: ['1', '2'], chargeKeys: ['5'] },
        ],
        [
          'a payment by its order if it has no gateway’s id',
          [['unnamed', bank, 'order-4']],
          { transactions: ['4'] },
        ],
        ['no payment by its order at another gateway', [['unnamed', 'shop', 'order-4']], {}],
        [
          'all attempts to pay an order at a gateway',
          [['order', bank, 'order-1']],
          { ...PAID, transactions: ['1', '2'] },
        ],
        ['the further keys of a payment', [['keysOf', '2']], { chargeKeys: ['5'] }],
        [
          'a charge, the payment with the id that it was given, and what is parked for it',
          [['charge', '4', 'gateway-1']],
          { ...PAID, transactions: ['1', '4'], webhookEvents: ['7b', '7c'] },
        ],
        [
          'what is parked under the id that a charge was given',
          [['charge', '4', 'gateway-9']],
          { transactions: ['4'], webhookEvents: ['7a', '7b', '7c'] },
        ],
        ['the payment of a refund', [['refund', '6']], { ...PAID, transactions: ['1'] }],
        ['an event by the gateway’s id for it', [['event', bank, '7c']], { webhookEvents: ['7c'] }],
        ['no event at another gateway', [['event', 'shop', '7c']], {}],
        ['an event by our id', [['parked', '7d']], { webhookEvents: ['7d'] }],
        ['an outbox row', [['outbox', '8']], { outbox: ['8'] }],
        ['the payment of an outbox row', [['paymentOf', '8']], { ...PAID, transactions: ['1'] }],
        ['a delivery', [['delivery', '9']], { deliveries: ['9'] }],
        [
          'an alert by its kind and subject',
          [['alert', 'late_payment', '01EVENT']],
          { alerts: ['A'] },
        ],
        ['no alert of another kind', [['alert', 'dispute', '01EVENT']], {}],
        [
          'an alert by its id, with its payment',
          [['alertId', 'A']],
          { ...PAID, transactions: ['1'] },
        ],
      ])('%s', async (_, keys, ids) => {
        expect(await idsOf(keys)).toEqual(ids)
      })

      it('with a payment, late money of its order, and nothing that was begun with repeat', async () => {
        const late = { ...ended, alert: '{"id":"B","kind":"late_payment"}' }
        const seen = { ...other, reference: 'order-1' }
        const alert = alertRow({ id: 'C', subject: 'C', transaction_id: '4', acknowledged_at: NOW })
        const keys = ['1', '3', '4'].map((id) => ['payment', id] as const)
        await save({ transactions: [{ ...paid, is_repeat: 1 }, late, seen], alerts: [alert] }, keys)
        const { transactions } = await idsOf([['payment', '2']])
        expect(transactions).toEqual(['2', '3', '4'])
      })

      it('parked events whose payment has appeared, as they occurred, up to the limit', async () => {
        const found = async (limit: number) =>
          (await idsOf([['dueParked', { limit }]])).webhookEvents
        expect(await found(9)).toEqual(['7b', '7c'])
        const keys = ['7a', '7b', '7c', '7d'].map((id) => ['parked', id] as const)
        const named = { external_reference_id: 'foreign', reference: 'order-4' }
        await save(
          {
            webhookEvents: [
              parked('7a', { gateway_transaction_id: 'gateway-1', occurred_at: NOW }),
              parked('7b', { external_reference_id: 'external-2', occurred_at: NOW - 9_000 }),
              parked('7c', { ...named, occurred_at: 1 }),
              parked('7d', { reference: 'order-4', currency: 'USD', occurred_at: 1 }),
            ],
          },
          keys,
        )
        expect(await found(9)).toEqual(['7a', '7b'])
        expect(await found(1)).toEqual(['7b'])
        expect((await queries.waiting(0)).isDue).toBe(true)
      })
    })

    describe('claims what is due', () => {
      const isDue = async (now: number) => (await queries.waiting(now)).isDue
      const check = (id: string, next_check_at: number | null, writtenAt = 0) =>
        transactionRow({
          id,
          gateway_transaction_id: id,
          external_reference_id: id,
          next_check_at,
          created_at: writtenAt,
          updated_at: writtenAt,
        })

      it('of the checks, the earliest first, and those of a clock that was set back', async () => {
        const due = async (now: number, limit = 9) =>
          (await idsOf([['dueChecks', { now, limit }]])).transactions ?? []
        await save({ transactions: [check('never', null), check('b', NOW + 1), check('c', NOW)] })
        expect([await due(NOW - 1), await isDue(NOW - 1)]).toEqual([[], false])
        expect([await due(NOW), await isDue(NOW)]).toEqual([['c'], true])
        expect(await due(NOW + 1)).toEqual(['b', 'c'])
        expect(await due(NOW + 1, 1)).toEqual(['c'])
        const ahead = NOW - MAX_WAIT_MS - BEHIND_MS
        expect([await due(ahead), await isDue(ahead)]).toEqual([['b'], true])
        expect(await due(ahead + 1)).toEqual([])
        await save({ transactions: [check('ahead', NOW + MINUTE, NOW)] })
        const [hour, little] = [NOW - 60 * MINUTE, NOW - BEHIND_MS]
        expect([await due(hour), await isDue(hour)]).toEqual([['ahead'], true])
        expect([await due(little), await isDue(little)]).toEqual([[], false])
      })

      it('of the events, for listeners or for an endpoint, the oldest first', async () => {
        const due = async (now: number, limit = 9, dueBy = now) =>
          await idsOf([['dueEvents', { now, dueBy, limit }]])
        const turn = (at: number) => ({ next_attempt_at: at, leased_until: null })
        await save({
          transactions: [transactionRow()],
          outbox: [
            outboxRow({ id: 'leased', leased_until: NOW + 9, next_attempt_at: 0 }),
            outboxRow({ id: 'sent', created_at: NOW - 2, done_at: NOW, ...turn(NOW - 5) }),
            outboxRow({ id: 'heard', created_at: NOW - 3, done_at: NOW, ...turn(NOW - 5) }),
            outboxRow({ id: 'failed', created_at: NOW - 1, ...turn(NOW + 5) }),
          ],
          deliveries: [
            deliveryRow({ id: 'd', outbox_id: 'heard', ...turn(NOW + 3) }),
            deliveryRow({ id: 'e', outbox_id: 'sent', status: 'delivered', ...turn(NOW) }),
          ],
        })
        expect([await due(NOW + 2), await isDue(NOW + 2)]).toEqual([{}, false])
        const heard = { outbox: ['heard'], deliveries: ['d'] }
        expect([await due(NOW + 3), await isDue(NOW + 3)]).toEqual([heard, true])
        expect((await due(NOW + 9)).outbox).toEqual(['failed', 'heard', 'leased'])
        expect((await due(NOW + 9, 2)).outbox).toEqual(['failed', 'heard'])
        // The clock was set back while they waited: only what is leased is not due.
        expect((await due(NOW, 9, NOW + 9)).outbox).toEqual(['failed', 'heard'])
        // None was leased so far ahead, or put off so long.
        const ago = (ms: number) => NOW - ms - BEHIND_MS
        expect((await due(ago(LEASE_MS - 8))).outbox).toEqual(['leased'])
        expect((await due(ago(MAX_RETRY_MS - 4))).outbox).toEqual(['failed', 'leased'])
      })
    })

    it('forgets settled events before a time, the oldest first, up to a limit, but not their keys', async () => {
      const came = (id: string, received_at: number, outcome: 'applied' | 'parked' = 'applied') =>
        webhookEventRow({ id, event_id: id, received_at, outcome })
      const [old, older] = [came('old', NOW - 1), came('older', NOW - MINUTE)]
      const left = [came('parked', NOW - MINUTE, 'parked'), came('now', NOW)]
      await save({ webhookEvents: [old, older, ...left] })
      const ids = async () => (await queries.webhookEvents({}, { limit: 9 })).map(({ id }) => id)
      expect(await store.dropOldEvents(NOW, 1)).toBe(1)
      expect(await ids()).toEqual(['parked', 'old', 'now'])
      expect([await store.dropOldEvents(NOW, 9), await store.dropOldEvents(NOW, 9)]).toEqual([1, 0])
      expect(await ids()).toEqual(['parked', 'now'])
      const known = async (event_id: string) => {
        const { rows } = await load([['event', 'bank', event_id]])
        return rows.isForgotten('bank', event_id)
      }
      const all = ['old', 'older', 'parked', 'now', 'never']
      const keys = async () => Promise.all(all.map(known))
      expect(await keys()).toEqual([true, true, false, false, false])
      expect(await store.dropOldEvents(NOW, 9, NOW - MINUTE + 1)).toBe(0)
      expect(await keys()).toEqual([true, false, false, false, false])
    })
  })
}
