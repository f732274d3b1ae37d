// The routes of the books: which spans of time they take, and the rows of a settlement.

import { describe, expect, it } from 'vitest'
import type { Settled } from '../../../../libraries/api/types.ts'
import { cpuMs } from '../../../support/cpu-time.ts'
import { token } from '../../../support/edge.ts'
import { processEdge } from '../../../support/in-process-edge.ts'
import { setUpPayments } from '../../../support/payments-setup.ts'
import { DAY, shopWith } from '../../../support/settled-books.ts'

describe('movements', () => {
  const edge = processEdge({ payments: setUpPayments().payments })
  const statusOf = async (path: string) => {
    const Authorization = `Bearer ${await token({ scope: 'payments:read', repos: [] })}`
    const answer = await edge.fetch(`/api/payments/movements${path}`, {
      headers: { Authorization },
    })
    const { code } = (await answer.json().catch(() => ({}))) as { code?: string }
    return code === undefined ? answer.status : `${answer.status} ${code}`
  }

  it.each([
    '?after=2026-11-27&before=2026-11-27',
    '?after=2026-11-27&before=2026-11-26&format=csv',
    '?after=2026-11-27T10:00:00Z&before=2026-11-27T12:00:00%2B02:00',
    '?after=2026-11-27T12:00:00Z&before=2026-11-27&zone=Asia/Baghdad',
    '/days?after=2026-11-27&before=2026-11-27',
    '/days?after=2026-11-27&before=2026-11-20',
  ])('are refused for a span that ends before it began: %s', async (path) => {
    expect(await statusOf(path)).toBe('422 invalid_argument')
  })

  it('are refused for more days than an answer has, before they are listed', async () => {
    const first = statusOf('/days?after=2026-01-01&before=2026-04-12')
    expect(await first).toBe('422 invalid_argument')
    const ever = () => statusOf('/days?after=0001-01-01&before=9999-12-31')
    expect(await cpuMs(ever)).toBeLessThan(2_000)
    expect(await ever()).toBe('422 invalid_argument')
  })

  it.each([
    '?after=2026-11-27&before=2026-11-28',
    '?before=1970-01-01',
    '?after=2026-11-27',
    '/days?after=2026-11-27&before=2026-11-28',
    '/days?after=2026-01-01&before=2026-04-11',
  ])('are read for any other: %s', async (path) => {
    expect(await statusOf(path)).toBe(200)
  })
})

describe('movements as CSV', () => {
  const setup = setUpPayments()
  const edge = processEdge({ payments: setup.payments })
  const csvOf = async (query: string) => {
    const Authorization = `Bearer ${await token({ scope: 'payments:read', repos: [] })}`
    const answer = await edge.fetch(`/api/payments/movements?${query}`, {
      headers: { Authorization },
    })
    // With its mark.
    const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
    return [answer.status, utf8.decode(await answer.arrayBuffer())] as const
  }

  it('have the day of the zone, and for a spreadsheet a mark, its separators and its decimals', async () => {
    const order = { gateway: 'bank', reference: 'order-1', amount: 25_000, currency: 'IQD' }
    // Paid in another currency, which has decimals.
    const { gatewayTransactionId = '' } = await setup.payments
      .chargeOrFind({ ...order, description: 'A lamp' }, { correlationId: 'x', origin: '' })
      .then(({ response }) => response)
    await setup.webhook({ gatewayTransactionId, amount: 1_250, currency: 'USD' })
    const [, plain] = await csvOf('format=csv&zone=America/Lima')
    const head = 'id,day,kind,transactionId,reference,gateway,gatewayTransactionId,refundId,amount'
    expect(plain).toMatch(new RegExp(`^${head},amountMinor,currency,`))
    expect(plain).toMatch(/,"1969-12-31","paid",.*,12\.50,1250,"USD",/)
    const [, sheet] = await csvOf('format=csv&for=spreadsheet&decimal=,')
    expect(sheet).toMatch(/^\ufeffid;day;kind;/)
    expect(sheet).toMatch(/;12,50;1250;"USD";/)
    const [, english] = await csvOf('format=csv&for=spreadsheet')
    expect(english).toMatch(/,12\.50,1250,"USD",/)
    for (const wrong of [
      'format=csv&decimal=,',
      'for=spreadsheet',
      'format=jsonl&for=spreadsheet',
    ]) {
      expect((await csvOf(wrong))[0], wrong).toBe(422)
    }
  })
})

describe('rows of a settlement', () => {
  const refunds = [{ id: 're_1', amount: 500, failed: DAY }]
  const { books } = shopWith([
    { id: 't1', amount: 2_000, refunds },
    {
      id: 't2',
      amount: 900,
      paid: [
        ['paid', 600],
        ['paid', 300],
      ],
    },
  ])
  const money = { amount: 500, currency: 'EUR' }

  it('are found by the gateway’s id of a refund alone, and name the movement that they are', async () => {
    const settled = (await books.settle([
      { type: 'refund', id: 're_1', ...money },
      { type: 'refund_failed', refund: 're_1', ...money },
      { type: 'refund', refund: 're_2', ...money },
    ])) as Settled['rows']
    expect(settled).toMatchObject([
      { as: 'same', reference: 'order-t1', movementId: 'MTX000000001', refundId: 'RETX000000re_1' },
      { as: 'same', movementId: 'MTX000000002', amount: 500 },
      { as: 'not_ours' },
    ])
  })

  it('name all movements of a sum', async () => {
    const [sum, more] = await books.settle([
      { type: 'payment', id: 't2', amount: 900, currency: 'EUR' },
      { type: 'payment', id: 't2', amount: 900, currency: 'EUR' },
    ])
    expect(sum).toMatchObject({
      as: 'same',
      amount: 900,
      movementId: 'MTX000001000',
      moreMovementIds: ['MTX000001001'],
    })
    expect(more).toMatchObject({ as: 'twice', amount: 900 })
    expect(more).not.toHaveProperty('movementId')
  })
})
