// A gateway that can cancel a charge cancels it before it is replaced.

import { describe, expect, it } from 'vitest'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { reported } from '../../../support/payments-room.ts'
import { again, attemptsOf, keyed, pageLost, tryCharge } from './lost-charge.ts'

describe('a gateway that can cancel', () => {
  const cancelling = (cancel: () => Promise<void>, statuses: PaymentStatus[]) => {
    const cancelled: unknown[] = []
    const gateway = {
      cancel: async (names: unknown) => {
        cancelled.push(names)
        await cancel()
      },
      checkStatus: async () => reported(statuses.shift() ?? 'Failed'),
    }
    return { gateway, cancelled }
  }

  it.each(['Cancelled', 'Pending', 'Expired'] as const)(
    'cancels the charge, which is then %s and is replaced',
    async (after) => {
      const { gateway, cancelled } = cancelling(() => Promise.resolve(), ['Pending', after])
      const { room } = await pageLost(gateway)
      expect(await tryCharge(room, again, keyed)).toMatchObject({ isNew: true })
      expect(cancelled).toMatchObject([{ gatewayTransactionId: 'gateway-1', amount: 25_000 }])
    },
  )

  it('cannot cancel a charge that was paid in the meantime, which is then Paid', async () => {
    const no = () => Promise.reject(new GatewayRefusedException({ code: 'no', message: 'No.' }))
    const { gateway } = cancelling(no, ['Pending', 'Paid'])
    const { room, first } = await pageLost(gateway)
    const answer = await tryCharge(room, again, keyed)
    expect(answer).toMatchObject({ isNew: false, status: 'Paid', transactionId: first })
  })

  it.each([
    ['refuses to cancel', new GatewayRefusedException({ code: 'no', message: 'No.' })],
    ['does not answer', new GatewayUnavailableException('Nobody answers.')],
  ])('that %s leaves the charge unchanged', async (_what, error) => {
    const { gateway } = cancelling(() => Promise.reject(error), ['Pending', 'Pending'])
    const { room, first } = await pageLost(gateway)
    expect(await tryCharge(room, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(room)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
  })

  it('is not asked to cancel a charge that is paid, or is being paid', async () => {
    for (const status of [reported('Paid'), reported('Pending', { isBeingPaid: true })]) {
      const { gateway, cancelled } = cancelling(() => Promise.resolve(), [])
      const { room } = await pageLost({ ...gateway, checkStatus: async () => status })
      await tryCharge(room, again, keyed)
      expect(cancelled).toEqual([])
    }
  })
})
