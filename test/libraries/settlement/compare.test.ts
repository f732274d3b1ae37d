// A settlement against the books of a real edge: each row in one class, and nothing changes.

import { describe, expect, it } from 'vitest'
import { compare } from '../../../libraries/settlement/compare.ts'
import { readSettlement } from '../../../libraries/settlement/read-settlement.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import { reported, setUpPayments } from '../../support/payments-setup.ts'
import { booksOf } from '../../support/settled-books.ts'

const DAY = '1970-01-01'

async function shop(orders: Record<string, 'open' | 'paid' | 'refunded' | 'late'>) {
  const setup = setUpPayments()
  const edge = processEdge({ payments: setup.payments })
  const ids: Record<string, string> = {}
  for (const [reference, state] of Object.entries(orders)) {
    const request = { gateway: 'bank', amount: 25_000, currency: 'IQD', description: reference }
    await setup.clock.advance(1)
    const charged = await setup.payments.charge({ ...request, reference })
    const { gatewayTransactionId = '', transactionId } = charged
    ids[reference] = gatewayTransactionId
    if (state === 'late') await setup.webhook({ gatewayTransactionId, status: 'Expired' })
    if (state !== 'open') await setup.webhook({ gatewayTransactionId })
    if (state === 'refunded') {
      await setup.payments.refund('bank', { transactionId, amount: 25_000, reason: 'Back' })
    }
  }
  return { setup, ids, ...booksOf(edge) }
}

function settlementOf(...rows: string[]) {
  const text = `id,reference,amount,currency,date,type\n${rows.join('\n')}\n`
  const read = readSettlement(new TextEncoder().encode(text))
  if (!read.ok) throw new Error(read.message)
  return read.settlement
}

const sale = (id = '', own: { amount?: number; reference?: string; type?: string } = {}) =>
  `${id},${own.reference ?? ''},${own.amount ?? 25_000},IQD,${DAY},${own.type ?? 'sale'}`

describe('a comparison', () => {
  it('has each row in one class, and what is here and not there', async () => {
    const { ids, books, setup } = await shop({
      same: 'paid',
      open: 'open',
      late: 'late',
      back: 'refunded',
      here: 'paid',
      amount: 'paid',
    })
    const before = await setup.payments.queries.transactions({}, { limit: 99 })
    const settlement = settlementOf(
      sale(ids.same),
      sale(ids.same),
      sale('1.2E+15'),
      sale('nobody'),
      sale(ids.amount, { amount: 24_000 }),
      sale(ids.open),
      sale(ids.late),
      sale(ids.back),
      sale(ids.back, { type: 'refund' }),
      sale(ids.same, { type: 'refund' }),
      'Total,,250000,,,',
    )
    const { rows, counts, days, skipped } = await compare(settlement, books)
    // biome-ignore format: several rows a line.
    expect(rows.map((each) => [each.line, each.class])).toEqual([
      [2, 'same'], [3, 'twice'], [4, 'unreadable'], [5, 'not_ours'], [6, 'other_amount'],
      [7, 'paid_there'], [8, 'late'], [9, 'same'], [10, 'same'], [11, 'refunded_there'],
      [undefined, 'here_only'],
    ])
    expect(rows.at(-1)?.movement).toMatchObject({ reference: 'here', amount: '25000' })
    expect(counts).toMatchObject({ same: 3, twice: 1, here_only: 1 })
    expect([days, skipped]).toEqual([{ first: DAY, last: DAY }, 1])
    // Reading a file changes nothing.
    expect(await setup.payments.queries.transactions({}, { limit: 99 })).toEqual(before)
  })

  it('asks the gateway about each difference first, once', async () => {
    const { setup, ids, books } = await shop({ open: 'open', same: 'paid' })
    const checked: string[] = []
    setup.script.status = () => reported('Paid')
    const check = async (id: string) => {
      checked.push(id)
      await setup.payments.checkNow(id)
    }
    const settlement = settlementOf(sale(ids.open), sale(ids.same), sale('nobody'))
    const { counts } = await compare(settlement, { ...books, check })
    expect(checked).toHaveLength(1)
    expect(counts).toMatchObject({ same: 2, not_ours: 1, paid_there: 0 })
  })

  it('asks for 5,000 rows at once, and for those of one payment together', async () => {
    const { books, asked } = await shop({})
    const rows = Array.from({ length: 5_002 }, (_, n) => sale(`t${String(n).padStart(5, '0')}`))
    // Two rows of the payment at the border.
    rows[5_000] = sale('t04999', { amount: 1 })
    await compare(settlementOf(...rows), books)
    expect(asked).toEqual([4_999, 3])
  })

  it('says nothing of what a file without dates lacks', async () => {
    const { books } = await shop({ here: 'paid' })
    const read = readSettlement(new TextEncoder().encode('id,amount,currency\nx,1,IQD\n'))
    if (!read.ok) throw new Error(read.message)
    const { rows, days } = await compare(read.settlement, books)
    expect([rows.map((each) => each.class), days]).toEqual([['not_ours'], undefined])
  })
})
