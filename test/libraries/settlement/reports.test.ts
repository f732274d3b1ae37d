// Whole files as gateways write them, against payments as they are here: each agrees, and each
// thing that is hidden shows.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDifference } from '../../../libraries/settlement/compare.ts'
import { type Booked, DAY, type Shop, shopWith } from '../../support/settled-books.ts'

const MOLLIE = `Date,Payment method,Currency,Amount,Status,ID,Description,Consumer name,Consumer bank account,Consumer BIC,Settlement currency,Settlement amount,Settlement reference,Amount refunded
2026-11-26 10:12:00,ideal,EUR,100.00,paidout,tr_1,Order 1001,J. Novak,NL01BANK0123456789,BANKNL2A,EUR,100.00,1234567.2611.01,20.00
2026-11-26 11:00:00,creditcard,EUR,50.00,paidout,tr_2,Order 1002,E. Mala,,,EUR,50.00,1234567.2611.01,0.00
2026-11-26 12:00:00,somethingnew,EUR,7.50,paidout,tr_3,Order 1003,,,,EUR,7.50,1234567.2611.01,
2026-11-27 09:00:00,refund,EUR,-20.00,refunded,re_1,Refund of order 1001,,,,EUR,-20.00,1234567.2611.01,20.00
2026-11-27 09:30:00,chargeback,EUR,-50.00,,chb_1,Order 1002,,,,EUR,-50.00,1234567.2611.01,
2026-11-28 00:00:00,,EUR,-2.88,,,Withheld fees MOL-NL-R2026.0001206687,,,,EUR,-2.88,1234567.2611.01,
2026-11-28 00:00:00,,EUR,0.06,,,Invoice Compensation MOL-NL-R2026.0001206687,,,,EUR,0.06,1234567.2611.01,
`
const DUTCH_HEAD =
  'Datum,Betaalmethode,Valuta,Bedrag,Status,ID,Omschrijving,Naam consument,Rekening consument,' +
  'BIC consument,Uitbetalingsvaluta,Uitbetalingsbedrag,Uitbetalingsreferentie,Teruggestort bedrag'
/** With a mark, Windows line ends, and its columns in Dutch. */
const MOLLIE_DUTCH = `\ufeff${[DUTCH_HEAD, ...MOLLIE.split('\n').slice(1)].join('\r\n')}`
  .replace('Withheld fees', 'Ingehouden kosten')
  .replace(',refund,', ',terugbetaling,')

const MOLLIE_SHOP: Booked[] = [
  {
    id: 'tr_1',
    amount: 10_000,
    day: '2026-11-26',
    refunds: [{ id: 're_1', amount: 2_000, day: DAY }],
  },
  { id: 'tr_2', amount: 5_000, day: '2026-11-26' },
  { id: 'tr_3', amount: 750, day: '2026-11-26' },
]

const differences = async (shop: Shop, ...given: Parameters<Shop['compared']>) =>
  (await shop.compared(...given)).rows.filter(isDifference).map((each) => [each.line, each.class])

describe('a settlement of Mollie', () => {
  it.each([
    ['in English', MOLLIE],
    ['in Dutch', MOLLIE_DUTCH],
  ])(
    'agrees %s: a refund by its own id, fees without one, and what was refunded of a payment',
    async (_language, text) => {
      const found = await shopWith(MOLLIE_SHOP).compared(text)
      expect(found.rows.filter(isDifference)).toEqual([])
      expect(found).toMatchObject({
        counts: { same: 4 },
        skipped: 2,
        chargebacks: 1,
        sums: [
          { kind: 'paid', currency: 'EUR', there: 15_750, here: 15_750 },
          { kind: 'refunded', currency: 'EUR', there: -2_000, here: -2_000 },
          { kind: 'chargebacks', currency: 'EUR', there: -5_000, here: 0 },
          { kind: 'fees', currency: 'EUR', there: -282 },
          { kind: 'paid_out', currency: 'EUR', there: 8_468 },
        ],
        payouts: [
          {
            id: '1234567.2611.01',
            currency: 'EUR',
            rows: 7,
            gross: 8_750,
            fees: -282,
            net: 8_468,
          },
        ],
      })
    },
  )

  it('shows a refund that only the column of its payment has', async () => {
    const without = MOLLIE.split('\n')
      .filter((line) => !line.includes('re_1'))
      .join('\n')
    const none = MOLLIE_SHOP.map(({ refunds: _, ...payment }) => payment)
    expect(await differences(shopWith(none), without)).toEqual([[2, 'refunded_there']])
    expect(await differences(shopWith(MOLLIE_SHOP), without)).toEqual([])
    const more = MOLLIE.replace('1234567.2611.01,20.00', '1234567.2611.01,25.00')
    expect(await differences(shopWith(MOLLIE_SHOP), more)).toEqual([[2, 'refunded_there']])
  })

  it('shows a refund that is not here, one that is settled twice, and one that it lacks', async () => {
    const other = MOLLIE.replace('re_1', 're_9').replaceAll(',20.00\n', ',\n')
    expect(await differences(shopWith(MOLLIE_SHOP), other)).toEqual([
      [5, 'not_ours'],
      [undefined, 'here_only'],
    ])
    const [head, ...rows] = MOLLIE.split('\n')
    const refund = rows.find((line) => line.includes('re_1')) ?? ''
    const twice = [head, ...rows, refund].join('\n')
    expect(await differences(shopWith(MOLLIE_SHOP), twice)).toEqual([[10, 'twice']])
  })

  it('leaves out what was not paid, and shows what is paid here and failed there', async () => {
    const failed = MOLLIE.replace('7.50,paidout', '7.50,failed').replace(
      '50.00,paidout',
      '50.00,open',
    )
    expect(await differences(shopWith(MOLLIE_SHOP.slice(0, 1)), failed)).toEqual([])
    expect(await differences(shopWith(MOLLIE_SHOP), failed)).toEqual([
      [undefined, 'here_only'],
      [undefined, 'here_only'],
    ])
  })
})

/** All that Stripe's API lists, but for those below. */
// biome-ignore format: several names a line.
const OF_STRIPE = [
  'advance', 'advance_funding', 'anticipation_repayment', 'climate_order_purchase',
  'climate_order_refund', 'connect_collection_transfer', 'connect_reserved_funds', 'contribution',
  'fee', 'financing_paydown', 'financing_paydown_reversal', 'financing_payout',
  'financing_payout_reversal', 'issuing_authorization_hold', 'issuing_authorization_release',
  'issuing_dispute', 'issuing_transaction', 'network_cost', 'other_adjustment',
  'partial_capture_reversal', 'payout', 'payout_reversal', 'platform_earning',
  'platform_earning_refund', 'risk_reserved_funds', 'tax', 'topup', 'topup_reversal', 'transfer',
  'transfer_reversal', 'unreconciled_customer_funds',
]
const STRIPE_HEAD =
  'balance_transaction_id,created_utc,created,available_on,currency,gross,fee,net,' +
  'reporting_category,source_id,description,customer_facing_amount,customer_facing_currency,' +
  'payment_metadata[external_reference_id],payment_metadata[reference]'

describe('an itemized report of Stripe', () => {
  let n = 0
  const row = (category: string, gross: string, source: string, facing = ',', payment = '') => {
    const time = `${DAY} 10:00:00`
    const names = payment === '' ? ',' : `ext-${payment},order-${payment}`
    return `txn_${++n},${time},${time},${DAY},eur,${gross},0.00,${gross},${category},${source},,${facing},${names}`
  }
  const shop = shopWith([
    {
      id: 'cs_1',
      amount: 1_900,
      refunds: [
        { id: 're_1', amount: 900, failed: DAY },
        { id: 're_2', amount: 900 },
      ],
    },
    // Paid in yen, settled in euros.
    { id: 'cs_2', amount: 5_000, currency: 'JPY' },
    { id: 'cs_3', amount: 800, status: 'Failed', paid: [] },
  ])

  it('agrees in all its categories, with the currency that each row has', async () => {
    const text = [
      STRIPE_HEAD,
      row('charge', '19.00', 'ch_1', '19.00,eur', 'cs_1'),
      row('charge', '30.50', 'ch_2', '5000,jpy', 'cs_2'),
      row('refund', '-9.00', 're_1', '-9.00,eur', 'cs_1'),
      // Only charges and refunds have what the payer saw.
      row('refund_failure', '9.00', 're_1', ',', 'cs_1'),
      row('refund', '-9.00', 're_2', ',', 'cs_1'),
      row('charge', '8.00', 'py_3', '8.00,eur', 'cs_3'),
      row('charge_failure', '-8.00', 'pyr_3', '-8.00,eur', 'cs_3'),
      row('dispute', '-19.00', 'du_1', ',', 'cs_1'),
      row('dispute_reversal', '19.00', 'du_1', ',', 'cs_1'),
      ...OF_STRIPE.map((category) => row(category, '-5.00', 'x_1')),
    ].join('\n')
    const found = await shop.compared(text)
    expect(found.rows.filter(isDifference)).toEqual([])
    expect(found).toMatchObject({ counts: { same: 5 }, chargebacks: 2, unpaid: 2 })
    expect(found.skipped).toBe(OF_STRIPE.length)
    expect(found.sums).toEqual([
      { kind: 'paid', currency: 'EUR', there: 1_900, here: 1_900 },
      { kind: 'paid', currency: 'JPY', there: 5_000, here: 5_000 },
      { kind: 'refunded', currency: 'EUR', there: -1_800, here: -1_800 },
      { kind: 'refund_failed', currency: 'EUR', there: 900, here: 900 },
      { kind: 'chargebacks', currency: 'EUR', there: 0, here: 0 },
      // Made-up rows: one of each category that is left out.
      { kind: 'fees', currency: 'EUR', there: expect.any(Number) },
      { kind: 'paid_out', currency: 'EUR', there: expect.any(Number) },
    ])
  })

  it('has by payout what came, less its fees, and what was paid out', async () => {
    const head =
      'automatic_payout_id,balance_transaction_id,created,reporting_category,currency,gross,fee,net,' +
      'source_id,payment_metadata[external_reference_id]'
    const rows = [
      'po_1,txn_1,2026-11-26 10:00:00,charge,eur,20.00,0.55,19.45,ch_1,ext-cs_1',
      'po_1,txn_2,2026-11-26 11:00:00,charge,eur,10.00,0.40,9.60,ch_2,ext-cs_2',
      'po_2,txn_3,2026-11-27 10:00:00,refund,eur,-5.00,0.00,-5.00,re_1,ext-cs_1',
      'po_2,txn_4,2026-11-27 11:00:00,charge,eur,30.00,0.70,29.30,ch_3,ext-cs_3',
    ]
    const shop = shopWith([
      {
        id: 'cs_1',
        amount: 2_000,
        day: '2026-11-26',
        refunds: [{ id: 're_1', amount: 500, day: DAY }],
      },
      { id: 'cs_2', amount: 1_000, day: '2026-11-26' },
      { id: 'cs_3', amount: 3_000, day: DAY },
    ])
    const { payouts, sums, rows: compared } = await shop.compared([head, ...rows].join('\n'))
    expect(payouts).toEqual([
      { id: 'po_1', currency: 'EUR', rows: 2, gross: 3_000, fees: -95, net: 2_905 },
      { id: 'po_2', currency: 'EUR', rows: 2, gross: 2_500, fees: -70, net: 2_430 },
    ])
    const named = compared.flatMap(({ row }) => row?.payout ?? [])
    expect(named.join(' ')).toBe('po_1 po_1 po_2 po_2')
    expect(sums.slice(-2)).toEqual([
      { kind: 'fees', currency: 'EUR', there: -165 },
      { kind: 'paid_out', currency: 'EUR', there: 5_335 },
    ])
  })
})

const HEAD = 'id,order,type,amount,currency,date'
const fileOf = (...rows: string[]) =>
  `${HEAD}\n${rows.map((row) => `${row},EUR,${DAY}`).join('\n')}\n`

describe('a file of a bank', () => {
  it('of a payment that was settled twice differs, and both sums say so', async () => {
    const shop = shopWith([{ id: 't1', amount: 2_000 }])
    const found = await shop.compared(fileOf('t1,,Sale,20.00', 't1,,Sale,20.00'))
    expect(found.rows.map((each) => [each.line, each.class, each.first])).toEqual([
      [2, 'same', undefined],
      [3, 'twice', 2],
    ])
    expect(found.sums).toEqual([{ kind: 'paid', currency: 'EUR', there: 4_000, here: 2_000 }])
  })

  it('agrees with a payment, a refund, its failure and a second refund: four movements', async () => {
    const refunds = [
      { id: 'r1', amount: 500, failed: DAY },
      { id: 'r2', amount: 500 },
    ]
    const shop = shopWith([{ id: 't1', amount: 2_000, refunds }])
    const rows = ['t1,,Sale,20.00', 't1,,Refund,5.00', 't1,,Refund failed,5.00', 't1,,Refund,5.00']
    expect(await differences(shop, fileOf(...rows))).toEqual([])
    // Neither the refund that failed nor its failure need a row.
    expect(await differences(shop, fileOf('t1,,Sale,20.00', 't1,,Refund,5.00'))).toEqual([])
    expect(await differences(shop, fileOf(...rows.slice(0, 3)))).toEqual([[undefined, 'here_only']])
    expect(await differences(shop, fileOf(rows[0] ?? '', rows[1] ?? '', rows[3] ?? ''))).toEqual([
      [undefined, 'here_only'],
    ])
    const never = shopWith([{ id: 't1', amount: 2_000 }])
    const failed = fileOf('t1,,Sale,20.00', 't1,,Refund failed,5.00')
    expect(await differences(never, failed)).toEqual([[3, 'refund_failed']])
  })

  it('agrees without a refund that failed long after the file', async () => {
    const late = { id: 'r1', amount: 500, failed: '2026-12-24' }
    const shop = shopWith([{ id: 't1', amount: 2_000, refunds: [late] }])
    expect(await differences(shop, fileOf('t1,,Sale,20.00'))).toEqual([])
    const made = shopWith([{ id: 't1', amount: 2_000, refunds: [{ id: 'r1', amount: 500 }] }])
    expect(await differences(made, fileOf('t1,,Sale,20.00'))).toEqual([[undefined, 'here_only']])
  })

  it('has the failure of a refund of an earlier file', async () => {
    const early = { id: 'r1', amount: 500, day: '2026-11-02', failed: DAY }
    const old = { id: 't1', amount: 2_000, day: '2026-11-01', refunds: [early] }
    const shop = shopWith([old, { id: 't2', amount: 100 }])
    expect(await differences(shop, fileOf('t2,,Sale,1.00', 't1,,Refund failed,5.00'))).toEqual([])
    expect(await differences(shop, fileOf('t2,,Sale,1.00'))).toEqual([[undefined, 'here_only']])
  })

  it('agrees with two equal refunds of one day if both were made', async () => {
    const refunds = [
      { id: 'r1', amount: 500 },
      { id: 'r2', amount: 500 },
    ]
    const shop = shopWith([{ id: 't1', amount: 2_000, refunds }])
    const rows = ['t1,,Sale,20.00', 't1,,Refund,5.00', 't1,,Refund,5.00']
    expect(await differences(shop, fileOf(...rows))).toEqual([])
    const one = shopWith([{ id: 't1', amount: 2_000, refunds: refunds.slice(0, 1) }])
    expect(await differences(one, fileOf(...rows))).toEqual([[4, 'twice']])
  })

  it('agrees with late money that was given back whole, and not with a part of it', async () => {
    const late = (amount: number): Booked => ({
      id: 't1',
      amount: 2_000,
      status: 'Cancelled',
      paid: [['late_paid', 2_000]],
      refunds: [{ id: 'r1', amount }],
    })
    const whole = fileOf('t1,,Sale,20.00', 't1,,Refund,20.00')
    expect(await differences(shopWith([late(2_000)]), whole)).toEqual([])
    const part = fileOf('t1,,Sale,20.00', 't1,,Refund,15.00')
    expect(await differences(shopWith([late(1_500)]), part)).toEqual([
      [2, 'late'],
      [3, 'late'],
    ])
  })

  it('tells an unknown word once, and its rows agree with nothing until it is taught', async () => {
    const shop = shopWith([
      { id: 't1', amount: 2_000 },
      { id: 't2', amount: 100 },
      { id: 't3', amount: 300 },
    ])
    const text = fileOf('t1,,Sale,20.00', 't2,,Vrac,1.00', 't3,,Vrac,3.00')
    const found = await shop.compared(text)
    expect(found.words).toEqual([{ word: 'Vrac', column: 'type', rows: 2 }])
    expect(found.counts).toMatchObject({ same: 1, unknown_word: 2, here_only: 2 })
    expect(await differences(shop, text, { words: { vrac: 'payment' } })).toEqual([])
    // Left out, so both payments have no row.
    expect(await differences(shop, text, { words: { Vrac: 'none' } })).toHaveLength(2)
    expect(await differences(shop, text, { words: { Vrac: 'refund' } })).toHaveLength(4)
  })

  it('has what was given back in a second column, of payments and alone', async () => {
    const shop = shopWith([
      {
        id: 't1',
        amount: 2_000,
        refunds: [
          { id: 'r1', amount: 500 },
          { id: 'r2', amount: 100 },
        ],
      },
      { id: 't2', amount: 300, day: '2026-11-01', refunds: [{ id: 'r3', amount: 300, day: DAY }] },
    ])
    const text = `id,amount,Refunded,currency,date\nt1,20.00,6.00,EUR,${DAY}\nt2,,3.00,EUR,${DAY}\n`
    expect(await differences(shop, text)).toEqual([])
    expect(await differences(shop, text.replace('6.00', ''))).toHaveLength(2)
    expect(await differences(shop, text.replace('6.00', '7.00'))).toEqual([
      [2, 'other_amount'],
      [undefined, 'here_only'],
    ])
  })

  it('that names one payment in two ways has its rows compared together', async () => {
    const two = {
      id: 'zz',
      amount: 2_000,
      paid: [
        ['paid', 1_200],
        ['paid', 800],
      ],
    } as const
    const others = Array.from({ length: 5_000 }, (_, n) => `t${n},,Sale,1.00`)
    const shop = shopWith([two])
    const rows = [',order-zz,Sale,8.00', ...others, 'zz,,Sale,12.00']
    const found = await shop.compared(fileOf(...rows))
    expect(found.counts).toMatchObject({ same: 2, not_ours: 5_000, here_only: 0 })
    expect(shop.asked.at(-1)).toBe(2)
  })
})

describe('a file with a row for each movement', () => {
  const amount = fc.integer({ min: 1, max: 40 })
  const payment = fc.record({
    paid: fc.array(amount, { minLength: 1, maxLength: 3 }),
    backs: fc.array(fc.record({ amount, isFailed: fc.boolean() }), { maxLength: 3 }),
  })
  /** Both ways in which files name a refund. */
  const file = fc.record({
    payments: fc.array(payment, { minLength: 1, maxLength: 3 }),
    byOwnId: fc.boolean(),
    order: fc.infiniteStream(fc.nat()),
    changed: fc.nat(),
  })

  it('agrees in any order, with equal sums; one row more or less shows', async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ payments, byOwnId, order, changed }) => {
        const booked = payments.map(({ paid, backs }, n): Booked => {
          const sum = paid.reduce((total, each) => total + each, 0)
          const refunds = backs.map((back, at) => ({
            id: `r${n}-${at}`,
            amount: back.amount,
            ...(back.isFailed && { failed: DAY }),
          }))
          return {
            id: `t${n}`,
            amount: sum,
            paid: paid.map((each) => ['paid', each] as const),
            refunds,
          }
        })
        const rows = booked.flatMap(({ id, paid = [], refunds = [] }) => [
          ...paid.map(([, each]) => `${id},Sale,${each}`),
          ...refunds.flatMap((refund) => {
            const name = byOwnId ? refund.id : id
            const failure = `${name},Refund failed,${refund.amount}`
            return [`${name},Refund,${refund.amount}`, ...(refund.failed ? [failure] : [])]
          }),
        ])
        const places = new Map(rows.map((row, at) => [`${row} ${at}`, order.next().value ?? 0]))
        const shuffled = rows
          .map((row, at) => ({ row, place: places.get(`${row} ${at}`) ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ row }) => row)
        const shop = shopWith(booked.map((each) => ({ ...each, currency: 'IQD' })))
        const of = (some: readonly string[]) =>
          shop.compared(
            `id,type,amount,currency,date\n${some.map((row) => `${row},IQD,${DAY}`).join('\n')}\n`,
          )
        const whole = await of(shuffled)
        expect(whole.rows.filter(isDifference)).toEqual([])
        expect(whole.sums.every(({ there, here }) => there === here)).toBe(true)
        const at = changed % shuffled.length
        const more = await of([...shuffled, shuffled[at] ?? ''])
        expect(more.rows.filter(isDifference)).toHaveLength(1)
        if (shuffled.length === 1) return
        const less = await of(shuffled.toSpliced(at, 1))
        expect(less.rows.filter(isDifference)).toHaveLength(1)
      }),
      { numRuns: 40 },
    )
  })
})
