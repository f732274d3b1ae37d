import { describe, expect, it } from 'vitest'
import { GatewayRefusedException } from '../../../../worker/payments/domain/exceptions.ts'
import { request } from '../../../support/payments.ts'
import { reported, setUpPayments } from '../../../support/payments-setup.ts'

const order = request()

/** A charge, and the driver that the host application uses for it. */
async function charged(gateway: object = {}) {
  const setup = setUpPayments({ gateway })
  const { transactionId, gatewayTransactionId = '' } = await setup.payments.charge(order)
  const current = async () => (await setup.payments.queries.story(transactionId))?.transaction
  const bank = setup.payments.driver('bank')
  return { ...setup, bank, transactionId, gatewayTransactionId, current }
}

describe('a driver for the host application', () => {
  it('has the methods that its gateway supports, and no others', async () => {
    const none = { refund: undefined, checkStatus: undefined, cancel: undefined }
    expect(setUpPayments({ gateway: none }).payments.driver('bank')).toEqual({ key: 'bank' })
    const all = setUpPayments({ gateway: { cancel: async () => undefined } }).payments.driver(
      'bank',
    )
    expect(Object.keys(all)).toEqual(['key', 'refund', 'status', 'cancel'])
  })

  it('returns the gateway’s status by either id, and the payment is updated', async () => {
    const { bank, script, payments, transactionId, gatewayTransactionId, current } = await charged()
    expect(await bank.status?.(transactionId)).toBeUndefined()
    script.status = () => reported('Paid')
    const paid = { status: 'Paid', amount: 25_000, currency: 'IQD' }
    for (const name of [transactionId, gatewayTransactionId]) {
      expect(await bank.status?.(name)).toEqual(paid)
    }
    await payments.sweeper.sweep()
    expect((await current())?.status).toBe('Paid')
  })

  it('throws if its gateway answers about another payment, which moves nothing', async () => {
    const { bank, script, payments, transactionId, current } = await charged()
    let asked = 0
    script.status = () => {
      asked++
      return reported('Paid', { gatewayTransactionId: 'another' })
    }
    await expect(bank.status?.(transactionId)).rejects.toMatchObject({
      code: 'gateway_unavailable',
    })
    expect(await payments.queries.alerts({}, { limit: 9 })).toMatchObject([
      { kind: 'id_mismatch', transactionId, detail: { gatewayTransactionId: 'another' } },
    ])
    // It has just answered: it is asked again when its check is due.
    await payments.sweeper.sweep()
    expect(asked).toBe(1)
    expect((await current())?.status).toBe('Pending')
  })

  it('cancels a Pending payment, and returns it as it is then', async () => {
    const cancelled: unknown[] = []
    const cancel = async (names: unknown) => void cancelled.push(names)
    const { bank, script, transactionId, current } = await charged({ cancel })
    script.status = () => reported(cancelled.length === 0 ? 'Pending' : 'Cancelled')
    const returned = await bank.cancel?.(transactionId)
    const ended = await current()
    expect(returned).toEqual(ended)
    expect(ended).toMatchObject({ status: 'Cancelled', error: { code: 'cancelled' } })
    const { gatewayTransactionId, externalReferenceId, reference } = ended ?? {}
    expect(cancelled).toMatchObject([{ gatewayTransactionId, externalReferenceId, reference }])
    expect(await bank.cancel?.(transactionId)).toEqual(ended)
    expect(cancelled).toHaveLength(1)
  })

  it('throws if its gateway refuses to cancel, and for an unknown payment', async () => {
    const cancel = () => {
      throw new GatewayRefusedException({ code: 'gateway_refused', message: 'It is being paid.' })
    }
    const { bank, script, transactionId } = await charged({ cancel })
    script.status = () => reported('Pending')
    await expect(bank.cancel?.(transactionId)).rejects.toMatchObject({
      code: 'not_cancellable',
      message: 'bank does not cancel it: It is being paid.',
    })
    for (const ask of [bank.status, bank.cancel]) {
      await expect(ask?.('nobody')).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })
})
