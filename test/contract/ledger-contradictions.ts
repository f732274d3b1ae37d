// Events whose ids are not those of one payment: they change nothing, and the gateway is asked.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { MINUTE, T0 } from './ledger-world.ts'

export function contradictionContract(on: On): void {
  describe('an event whose ids contradict', () => {
    it(
      'each other changes neither payment, raises one alert, and both are asked about',
      on(async (w) => {
        const one = await w.charged()
        const other = await w.charged({ request: { reference: 'order-2' } })
        const { externalReferenceId } = other
        const first = await w.webhook(one, { status: 'Paid', externalReferenceId })
        expect(first).toMatchObject({ outcome: 'rejected', transactionId: one.id })
        expect((await w.read(one)).status).toBe('Pending')
        expect((await w.read(other)).status).toBe('Pending')
        const due = await w.ledger.claimChecks({ now: T0 + MINUTE, until: T0, limit: 9 })
        expect(due).toHaveLength(2)
        await w.webhook(one, { status: 'Failed', externalReferenceId })
        const alerts = await w.queries.alerts({}, { limit: 9 })
        expect(alerts).toMatchObject([
          {
            kind: 'id_mismatch',
            transactionId: one.id,
            detail: { reference: 'order-1', otherTransactionId: other.id, externalReferenceId },
          },
        ])
      }),
    )

    it(
      'what is stored changes nothing: a second payment at the gateway with our name',
      on(async (w) => {
        const one = await w.charged()
        const wish = { status: 'Paid', gatewayTransactionId: 'gateway-other' } as const
        expect(
          await w.webhook(one, { ...wish, externalReferenceId: one.externalReferenceId }),
        ).toMatchObject({ outcome: 'rejected', transactionId: one.id })
        expect((await w.read(one)).status).toBe('Pending')
      }),
    )

    it(
      'only in kind is applied: its driver says that it is no id of the charge',
      on(async (w) => {
        const one = await w.charged()
        const wish = { status: 'Paid', gatewayTransactionId: 'pi_1', isOtherId: true } as const
        expect(
          await w.webhook(one, { ...wish, externalReferenceId: one.externalReferenceId }),
        ).toMatchObject({ outcome: 'applied' })
      }),
    )
  })

  describe('an event of another system at the same account', () => {
    it(
      'stays parked, although its orders are numbered as ours are',
      on(async (w) => {
        const one = await w.pending()
        const foreign = { status: 'Paid', gatewayTransactionId: 'foreign-1' } as const
        const { reference } = one
        for (const wish of [
          { ...foreign, reference, externalReferenceId: 'foreign-name' },
          { ...foreign, reference, externalReferenceId: '', amount: 24_000 },
          { ...foreign, reference, externalReferenceId: '', currency: 'USD' },
        ]) {
          expect(await w.webhook(one, wish)).toMatchObject({ outcome: 'parked' })
        }
        await w.ledger.applyParked({ now: T0 + MINUTE, limit: 9 })
        expect((await w.read(one)).status).toBe('Pending')
      }),
    )

    it(
      'without a name of ours is taken by the order, if the money agrees, also as `iqd`',
      on(async (w) => {
        const one = await w.pending()
        const wish = { status: 'Paid', gatewayTransactionId: 'gateway-1', currency: 'iqd' } as const
        const { reference } = one
        expect(await w.webhook(one, { ...wish, reference, externalReferenceId: '' })).toMatchObject(
          { outcome: 'applied', isMismatch: false },
        )
        expect((await w.read(one)).paid).toEqual({ amount: 25_000, currency: 'IQD' })
      }),
    )
  })
}
