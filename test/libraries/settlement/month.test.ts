// A month of a shop against files that another program wrote: what differs is found, and explains
// the difference of the sums to the minor unit.

import papa from 'papaparse'
import { describe, expect, it } from 'vitest'
import { isDifference, weightOf } from '../../../libraries/settlement/compare.ts'
import { majorText } from '../../../worker/payments/domain/money.ts'
import { type Booked, shopWith } from '../../support/settled-books.ts'

const PAYMENTS = 1_000

interface Paid {
  id: string
  amount: number
  currency: string
  day: string
  /** The Monday of its week. */
  payout: string
  fee: number
}

const dayOf = (n: number) => `2026-11-${String(1 + (n % 28)).padStart(2, '0')}`

/** The gateways’ side of a month: one payment in fifty is given back, one is disputed. */
const monthOf = (currencies: readonly string[]): Paid[] =>
  Array.from({ length: PAYMENTS }, (_, n) => ({
    id: `pay_${n}`,
    amount: 1_000 + ((n * 7_919) % 90_000),
    currency: currencies[n % currencies.length] ?? '',
    day: dayOf(n),
    payout: `po_${Math.floor((n % 28) / 7)}`,
    fee: 25 + (n % 40),
  }))

const isRefunded = (n: number) => n % 50 === 7
const DISPUTED = 11

/** What is here: two payments are unknown, one has another amount, and one of ours is not there. */
function hereOf(month: readonly Paid[]): Booked[] {
  const known = month.flatMap(({ id, amount, currency, day }, n): Booked[] => {
    if (n === 100 || n === 101) return []
    const refunds = isRefunded(n) ? [{ id: `re_${n}`, amount: 500, day }] : []
    return [{ id, amount: n === 200 ? amount + 1 : amount, currency, day, refunds }]
  })
  const [first] = month
  return [...known, { id: 'pay_ours', amount: 777, currency: first?.currency ?? '', day: dayOf(3) }]
}

const money = (amount: number, currency: string) => majorText(amount, currency)

const asStripe = (month: readonly Paid[]): object[] =>
  month.flatMap(({ id, amount, currency, day, payout, fee }, n) => {
    const row = (category: string, sum: number, cost: number, source = id) => ({
      automatic_payout_id: payout,
      created: `${day} 10:00:00`,
      reporting_category: category,
      currency: currency.toLowerCase(),
      gross: money(sum, currency),
      fee: money(cost, currency),
      net: money(sum - cost, currency),
      source_id: source,
      'payment_metadata[external_reference_id]': `ext-${id}`,
    })
    return [
      row('charge', amount, fee),
      ...(isRefunded(n) ? [row('refund', -500, 0, `re_${n}`)] : []),
      ...(n === DISPUTED ? [row('dispute', -amount, 0)] : []),
    ]
  })

const asMollie = (month: readonly Paid[]): object[] =>
  month.flatMap(({ id, amount, currency, day, payout, fee }, n) => {
    const row = (method: string, sum: number, name: string, text: string) => ({
      Date: `${day} 10:00:00`,
      'Payment method': method,
      Currency: currency,
      Amount: money(sum, currency),
      Status: '',
      ID: name,
      Description: text,
      'Settlement currency': currency,
      'Settlement amount': money(sum, currency),
      'Settlement reference': payout,
      'Amount refunded': '',
    })
    return [
      row('ideal', amount, id, `Order ${n}`),
      row('', -fee, '', `Withheld fees ${n}`),
      ...(isRefunded(n) ? [row('refund', -500, `re_${n}`, 'Refund')] : []),
      ...(n === DISPUTED ? [row('chargeback', -amount, `chb_${n}`, 'Chargeback')] : []),
    ]
  })

describe.each([
  ['Stripe', ['USD', 'JPY'], asStripe],
  ['Mollie', ['EUR', 'GBP'], asMollie],
] as const)('a month at %s', (_, currencies, fileOf) => {
  it('differs by what is listed, by kind and currency, to the minor unit, and by payout', async () => {
    const month = monthOf(currencies)
    const { rows, sums, payouts } = await shopWith(hereOf(month)).compared(
      papa.unparse(fileOf(month)),
    )
    const different = rows.filter(isDifference)
    const named = different.map(({ class: name, row, movement }) => [
      name,
      row?.id ?? row?.ours ?? movement?.gatewayTransactionId,
    ])
    expect(new Set(named.map(([name]) => name))).toEqual(
      new Set(['not_ours', 'other_amount', 'here_only']),
    )
    for (const currency of currencies) {
      const [paid] = sums.filter((sum) => sum.kind === 'paid' && sum.currency === currency)
      const explained = different
        .filter(({ row, movement }) => (row ?? movement)?.currency === currency)
        .reduce((sum, each) => sum + weightOf(each), 0)
      expect((paid?.there ?? 0) - (paid?.here ?? 0)).toBe(explained)
      const [refunded] = sums.filter((sum) => sum.kind === 'refunded' && sum.currency === currency)
      expect(refunded?.there).toBe(refunded?.here)
      const fees = month.filter((each) => each.currency === currency)
      const cost = fees.reduce((sum, { fee }) => sum - fee, 0)
      expect(sums.find((sum) => sum.kind === 'fees' && sum.currency === currency)?.there).toBe(cost)
    }
    // A payout each week, of each currency.
    expect(payouts).toHaveLength(8)
    const gross = payouts.reduce((sum, each) => sum + each.gross, 0)
    const came = month.reduce((sum, { amount }) => sum + amount, 0)
    const back = 500 * month.filter((_, n) => isRefunded(n)).length
    expect(gross).toBe(came - back - (month[DISPUTED]?.amount ?? 0))
    for (const { gross, fees, net } of payouts) expect(net).toBe(gross + fees)
  })
})
