// A payment with more than one answer of libSQL's server can hold, on both engines.

import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../../../../worker/payments/domain/types.ts'
import { atATime } from '../../../support/at-a-time.ts'
import { MINUTE } from '../../../support/ledger-setup.ts'
import { setupOver } from '../ledger/memory-ledger.ts'
import { emptyDatabases } from './engines.ts'

const EVENTS = 230
/** As many quotes as a gateway's JSON has: each is two characters in the server's answer. */
const RAW = { lines: Array.from({ length: 4_000 }, (_, n) => ({ sku: `lamp-${n}` })) }
const RAW_BYTES = JSON.stringify(RAW).length
const FITS = Math.floor((4 << 20) / RAW_BYTES)

const isWhole = ({ raw, rawBytes }: EventRecord) => raw !== undefined && rawBytes === undefined
const isBare = ({ raw, rawBytes }: EventRecord) => raw === undefined && rawBytes === RAW_BYTES

/** The ledger saves them together: alone, each would send its long rows alone. */
const AT_ONCE = 20
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

describe.each(emptyDatabases())('a large story %s', (_, make) => {
  it(
    'has every event, in order, and what the gateway sent up to 4 MiB',
    async () => {
      const w = setupOver(await make())
      // Long metadata is in every stored event of the payment, too.
      const metadata = { note: 'x'.repeat(20_000) }
      const payment = await w.charged({ request: { metadata } })
      await atATime(AT_ONCE, upTo(EVENTS), (n) => {
        const refunded = { status: 'PartiallyRefunded', amount: n } as const
        return w.webhook(payment, { eventId: `event-${n}`, raw: RAW, ...(n > 0 && refunded) })
      })
      const { webhookEvents, events } = await w.story(payment)
      expect(webhookEvents.map(({ eventId }) => eventId)).toEqual(
        upTo(EVENTS).map((n) => `event-${n}`),
      )
      expect(webhookEvents.slice(0, FITS).every(isWhole)).toBe(true)
      expect(webhookEvents.slice(FITS).every(isBare)).toBe(true)
      expect(events.map(({ type }) => type)).toEqual([
        'PaymentInitiated',
        'PaymentSucceeded',
        'PaymentRefunded',
        ...Array.from({ length: EVENTS - 2 }, () => 'RefundAmountChanged'),
      ])
      const [first, ...others] = await w.queries.webhookEvents({}, { limit: 200 })
      expect(first).toMatchObject({ eventId: `event-${EVENTS - 1}`, raw: RAW })
      expect(others).toHaveLength(199)
      expect((others as EventRecord[]).slice(FITS - 1).every(isBare)).toBe(true)
      const last = webhookEvents.at(-1)?.id ?? ''
      expect(await w.queries.webhookEvent(last)).toMatchObject({ id: last, raw: RAW })
      expect(await w.queries.webhookEvent('none')).toBeUndefined()
    },
    10 * MINUTE,
  )

  it('is a page of payments with much metadata, too', async () => {
    const w = setupOver(await make())
    const metadata = { note: 'x'.repeat(60_000) }
    const made = await atATime(AT_ONCE, upTo(200), (n) =>
      w.pending({ request: { reference: `order-${n}`, metadata } }),
    )
    const all = made.map(({ id }) => id).reverse()
    for (const filter of [{}, { q: 'order' }]) {
      const page = await w.queries.transactions(filter, { limit: 200 })
      expect(page.map(({ id }) => id)).toEqual(all)
      expect(page[199]).toMatchObject({ reference: 'order-0', metadata })
    }
  })
})
