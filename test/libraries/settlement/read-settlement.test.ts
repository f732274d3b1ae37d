// Settlement files as banks and gateways write them, and as spreadsheets spoil them.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { amountIn, decimalSignOf } from '../../../libraries/settlement/amounts.ts'
import { dateOrderOf, dayIn } from '../../../libraries/settlement/dates.ts'
import {
  type FileRow,
  type Reading,
  readSettlement,
} from '../../../libraries/settlement/read-settlement.ts'
import { FORM, OPTIONS, type Ways } from '../../../libraries/settlement/typed.ts'
import { majorText } from '../../../worker/payments/domain/money.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const read = (text: string | Uint8Array, reading: Reading = {}) => {
  const found = readSettlement(typeof text === 'string' ? utf8(text) : text, reading)
  if (!found.ok) throw new Error(`${found.needs}: ${found.message}`)
  return found.settlement
}
const needs = (text: string, reading: Reading = {}) => {
  const found = readSettlement(utf8(text), reading)
  return found.ok ? 'nothing' : found.needs
}
const first = (text: string | Uint8Array, reading: Reading = {}): Partial<FileRow> =>
  read(text, reading).rows[0] ?? {}

const HEAD = 'Transaction ID,Order ID,Amount,Currency,Date'

it('what cannot be told is asked for as the reader says it: by an option, or in a field', () => {
  const asked = (text: string, ways: Ways) => {
    const found = readSettlement(utf8(text), {}, ways)
    return found.ok ? '' : found.message
  }
  const files = [
    'Bank No,Net\n1,5\n',
    'id,amount\n1,5\n',
    `${HEAD}\nt-1,o,"25,000",USD,2026-11-27\n`,
    `${HEAD}\nt-1,o,25.00,USD,03/04/2026\n`,
  ]
  expect(files.map((text) => asked(text, OPTIONS).match(/with .*?--[a-z]+/)?.[0])).toEqual([
    'with --map',
    'with --map',
    'with --decimal',
    'with --dates',
  ])
  for (const text of files) {
    expect(asked(text, FORM)).toMatch(/under “(?:Columns|Decimals|Dates)”/)
    expect(asked(text, FORM)).not.toContain('--')
  }
})

describe('a settlement file', () => {
  it('is read with what is in each column', () => {
    expect(read(`${HEAD},Type\nt-1,order-1,25000,IQD,2026-11-27 10:00,Sale\n`)).toEqual({
      rows: [
        {
          line: 2,
          type: 'payment',
          id: 't-1',
          reference: 'order-1',
          amount: 25_000,
          currency: 'IQD',
          day: '2026-11-27',
        },
      ],
      unreadable: [],
      unknown: [],
      chargebacks: [],
      skipped: 0,
      unpaid: 0,
      kept: { payouts: [], fees: new Map(), paidOut: new Map() },
      days: { first: '2026-11-27', last: '2026-11-27' },
    })
  })

  it.each([
    ['semicolons', (text: string) => text.replaceAll(',', ';')],
    ['pipes', (text: string) => text.replaceAll(',', '|')],
    ['Windows line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    ['empty lines', (text: string) => text.replaceAll('\n', '\n\n')],
    ['titles above', (text: string) => `First Iraqi Bank\nNovember,,,\n${text}`],
  ])('is read with %s', (_what, change) => {
    const text = change(
      `${HEAD}\nt-1,order-1,25000,IQD,2026-11-27\nt-2,order-2,500,IQD,2026-11-27\n`,
    )
    expect(read(text).rows).toMatchObject([
      { id: 't-1', amount: 25_000 },
      { id: 't-2', reference: 'order-2', amount: 500 },
    ])
  })

  it('is read in UTF-16, as Excel writes Unicode text', () => {
    const text = '\ufeffid\tamount\tcurrency\nt-1\t500\tIQD\n'
    const bytes = new Uint8Array(text.length * 2)
    for (const [at, sign] of [...text].entries()) bytes[2 * at] = sign.charCodeAt(0)
    bytes.set([0xff, 0xfe])
    expect(first(bytes)).toMatchObject({ id: 't-1', amount: 500 })
  })

  it.each([
    ['utf-16le', 0],
    ['utf-16be', 1],
  ])('is read in %s without a mark', (_encoding, low) => {
    const text = 'id\tamount\tcurrency\treference\nt-1\t500\tIQD\tمبلغ\n'
    const bytes = new Uint8Array(text.length * 2)
    for (const [at, sign] of [...text].entries()) {
      bytes[2 * at + low] = sign.charCodeAt(0) & 0xff
      bytes[2 * at + 1 - low] = sign.charCodeAt(0) >> 8
    }
    expect(first(bytes)).toMatchObject({ id: 't-1', amount: 500, reference: 'مبلغ' })
  })

  it('keeps the zeros of an id that a spreadsheet was told to keep', () => {
    expect(first('id,amount,currency\n="0001",500,IQD\n')).toHaveProperty('id', '0001')
    expect(first('id,amount,currency\n"=""0001""",500,IQD\n')).toHaveProperty('id', '0001')
  })

  it.each([
    ['', ''],
    ['Bank of Somewhere; Ltd.\nNovember, 2026\n', ''],
    ['Statement, of all, payments, in November, 2026\n\n', ''],
  ])('with titles above, semicolons and decimal commas is read: %j', (titles, sums) => {
    const rows = Array.from({ length: 9 }, (_, n) => `t-${n};o-${n};1.234,5${n};EUR;27.11.2026\n`)
    const text = `${titles}Transaction ID;Order ID;Amount;Currency;Date\n${rows.join('')}${sums}`
    expect(read(text).rows.map(({ amount }) => amount)).toEqual(rows.map((_, n) => 123_450 + n))
  })

  it('has the words of type and state: what is left out, and what nobody knows', () => {
    const text = `id,type,status,amount,currency,date
t-1,Sale,paid,500,IQD,2026-11-27
t-2,Sale,failed,500,IQD,2026-11-25
t-3,Sale,Weird,500,IQD,2026-11-28
t-4,Vrac,paid,500,IQD,2026-11-29
t-5,Chargeback,,500,IQD,2026-11-30
t-6,Fee,Weird,5,IQD,2026-12-30
t-7,Refund,canceled,500,IQD,2026-11-27
t-8,Refund failed,,500,IQD,2026-11-27
t-9,,Weird,x,IQD,2026-11-27`
    expect(read(text)).toMatchObject({
      rows: [
        { id: 't-1', type: 'payment' },
        { id: 't-8', type: 'refund_failed' },
      ],
      unknown: [
        { line: 4, word: 'Weird', column: 'status' },
        { line: 5, word: 'Vrac', column: 'type' },
        { line: 10, word: 'Weird', column: 'status' },
      ],
      chargebacks: [{ line: 6, amount: -500, currency: 'IQD' }],
      unpaid: 2,
      skipped: 1,
      // Of what was not paid, too; not of fees.
      days: { first: '2026-11-25', last: '2026-11-29' },
    })
    const words = { weird: 'payment', Vrac: 'refund' } as const
    const taught = read(text.replace('t-9,,Weird,x', 't-9,,Weird,9'), { words })
    expect(taught.rows.map(({ id, type }) => `${id} ${type}`)).toEqual([
      't-1 payment',
      't-3 payment',
      't-4 refund',
      't-8 refund_failed',
      't-9 payment',
    ])
    expect(taught.unknown).toEqual([])
  })

  it('names a second column of money that it cannot read, and reads one by a map', () => {
    const of = (name: string, value: string) => `id,amount,${name},currency\nt-1,500,${value},IQD\n`
    for (const name of ['Refund', 'Refunded', 'Amount refunded', 'Rückerstattet']) {
      expect(first(of(name, '200'))).toMatchObject({ amount: 500, refunded: 200 })
      expect(first(of(name, '(200)'))).toHaveProperty('refunded', 200)
    }
    for (const nothing of ['', '0', '0.00', 'IQD 0', '-', 'No']) {
      expect(first(of('Refunded', nothing))).not.toHaveProperty('refunded')
      expect(first(of('Debit', nothing))).toMatchObject({ amount: 500 })
      const { rows } = read(`${of('Refunded', nothing)}t-2,500,200,IQD\n`)
      expect(rows.map(({ refunded }) => refunded)).toEqual([undefined, 200])
    }
    const message = (text: string, reading: Reading = {}) => {
      const found = readSettlement(utf8(text), reading)
      return found.ok ? found.settlement : found.message
    }
    expect(message(of('Refunded', 'Yes'))).toMatch(/column Refunded has "Yes" in line 2/)
    expect(message(of('Debit', '200'))).toMatch(/in the column Debit/)
    expect(message(of('Refund,Refunded', '1,2'))).toMatch(/in the columns Refund, Refunded/)
    expect(first(of('Debit', '200'), { map: { refunded: 'Debit' } })).toHaveProperty(
      'refunded',
      200,
    )
    expect(first(of('Refunded', 'Yes'), { map: { refunded: 'none' } })).toMatchObject({
      amount: 500,
    })
    // About a refund, and no amount of it.
    for (const name of ['Refund date', 'refund_metadata[why]', 'Refund fee', 'Is refunded']) {
      expect(first(of(name, '2026-11-27'))).toMatchObject({ amount: 500 })
    }
    const back = 'id,amount,Refunded,currency\nt-1,-500,500,IQD\nt-2,,300,IQD\n'
    expect(read(back).rows).toMatchObject([
      { id: 't-1', type: 'refund', amount: 500 },
      { id: 't-2', type: 'refund', amount: 300 },
    ])
    expect(read(back).rows[0]).not.toHaveProperty('refunded')
  })

  it('is read in Windows-1256 and Windows-1252, which it recognizes', () => {
    // مبلغ, as a merchant's name; café.
    const withBytes = (name: number[]) => {
      const [before, after] = ['id,amount,currency,reference\nt-1,500,IQD,', '\n'].map(utf8)
      return new Uint8Array([...(before ?? []), ...name, ...(after ?? [])])
    }
    expect(first(withBytes([0xe3, 0xc8, 0xe1, 0xdb]))).toHaveProperty('reference', 'مبلغ')
    expect(first(withBytes([0x63, 0x61, 0x66, 0xe9]))).toHaveProperty('reference', 'café')
    const given = { encoding: 'windows-1252' } as const
    expect(first(withBytes([0xe3, 0xc8, 0xe1, 0xdb]), given)).toHaveProperty('reference', 'ãÈáÛ')
  })

  it('keeps a cell with a delimiter and a line break whole, and counts its lines', () => {
    const text = `${HEAD}\nt-1,"order, 1\nnote",500,IQD,2026-11-27\nt-2,order-2,x,IQD,2026-11-27\n`
    expect(read(text)).toMatchObject({
      rows: [{ line: 2, reference: 'order, 1\nnote' }],
      unreadable: [{ line: 4 }],
    })
  })

  it('names columns by a map, also where others look right', () => {
    const text = 'id,Bank No,amount,Net,currency\nx,t-1,500,480,IQD\n'
    expect(first(text, { map: { id: 'Bank No', amount: 'net' } })).toMatchObject({
      id: 't-1',
      amount: 480,
    })
    expect(needs('No,Sum,currency\n1,2,IQD\n')).toBe('map')
    expect(needs(text, { map: { id: 'No such' } })).toBe('map')
  })

  it('needs a currency, from a column or given', () => {
    expect(needs('id,amount\nt-1,500\n')).toBe('currency')
    expect(first('id,amount,Cur\nt-1,500,USD\n', { currency: 'IQD' })).toMatchObject({
      currency: 'USD',
    })
    expect(first('id,amount\nt-1,500\n', { currency: 'iqd' })).toMatchObject({ currency: 'IQD' })
  })

  it('takes a refund by its type or its sign, and skips fees, payouts and totals', () => {
    const text = `id,type,amount,currency
t-1,Refund,500,IQD
t-2,sale,-700,IQD
t-3,sale,(800),IQD
,Fee,20,IQD
,payout,90,IQD
Total,,2110,IQD
المجموع,,2110,IQD`
    expect(read(text)).toMatchObject({
      rows: [
        { id: 't-1', type: 'refund', amount: 500 },
        { id: 't-2', type: 'refund', amount: 700 },
        { id: 't-3', type: 'refund', amount: 800 },
      ],
      unreadable: [],
      skipped: 4,
    })
  })

  it.each([
    ['an id in scientific notation', '1.23457E+15,o-1,500,IQD,2026-11-27', /shortened/],
    ['no amount', 't-1,o-1,,IQD,2026-11-27', /no amount/],
    ['a sign that is unknown', 't-1,o-1,500 X,IQD,2026-11-27', /the sign of 500 X in IQD/],
    ['an amount of nothing', 't-1,o-1,0,IQD,2026-11-27', /no amount/],
    ['more decimals than its currency', 't-1,o-1,500.5,IQD,2026-11-27', /no amount in IQD/],
    ['an amount that a spreadsheet has shortened', 't-1,o-1,1.5E+05,IQD,2026-11-27', /no amount/],
    ['no currency', 't-1,o-1,500,,2026-11-27', /no currency/],
    ['no id and no reference', ',,500,IQD,2026-11-27', /no id/],
    ['a day that there is not', 't-1,o-1,500,IQD,2026-02-30', /no date/],
  ])('has an unreadable row: %s', (_what, row, why) => {
    const { rows, unreadable } = read(`${HEAD}\nt-9,o-9,700,IQD,2026-11-27\n${row}\n`)
    expect(rows).toMatchObject([{ id: 't-9' }])
    expect(unreadable).toEqual([{ line: 3, why: expect.stringMatching(why) }])
  })

  it('has an unreadable row where quotes are wrong', () => {
    const { unreadable } = read(
      `${HEAD}\nt-1,o-1,500,IQD,2026-11-27\n"t-2,o-2,500,IQD,2026-11-27\n`,
    )
    expect(unreadable).toEqual([{ line: 3, why: 'its quotes are wrong' }])
  })

  it('is that of Stripe, without a map', () => {
    const text = `balance_transaction_id,created_utc,created,currency,gross,fee,net,reporting_category,source_id,customer_facing_amount,customer_facing_currency,payment_metadata[external_reference_id],payment_metadata[reference]
txn_1,2026-11-27 10:00:00,2026-11-27 10:00:00,usd,19.00,0.85,18.15,charge,ch_1,19.00,usd,ext-1,order-1
txn_2,2026-11-27 11:00:00,2026-11-27 11:00:00,usd,-19.00,0.00,-19.00,refund,re_1,-19.00,usd,ext-1,order-1
txn_3,2026-11-27 12:00:00,2026-11-27 12:00:00,usd,-18.15,0.00,-18.15,payout,po_1,,,,`
    expect(read(text)).toMatchObject({
      rows: [
        { type: 'payment', ours: 'ext-1', reference: 'order-1', amount: 1_900, currency: 'USD' },
        { type: 'refund', ours: 'ext-1', amount: 1_900, day: '2026-11-27' },
      ],
      skipped: 1,
    })
  })

  it('of any bytes is read, or says what it needs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (noise, isHeaded) => {
        const head = isHeaded ? utf8(`${HEAD}\n`) : []
        const found = readSettlement(new Uint8Array([...head, ...noise]))
        const rows = found.ok ? found.settlement.rows : []
        expect(rows.every(({ amount }) => Number.isSafeInteger(amount) && amount > 0)).toBe(true)
      }),
    )
  })
})

describe('an amount', () => {
  const iqd = (...texts: string[]) => texts.map((text) => ({ text, currency: 'IQD' }))
  const usd = (...texts: string[]) => texts.map((text) => ({ text, currency: 'USD' }))

  it.each([
    ['both signs', usd('1.234,50'), ','],
    ['both signs, the other way', usd('1,234.50'), '.'],
    ['two decimals', usd('12,50'), ','],
    ['what the currency cannot have as decimals', iqd('25,500'), '.'],
    ['another row of the column', iqd('25.500', '25.000'), ','],
    ['nothing, where both are the same', iqd('500', '25000'), 'either'],
  ])('shows its decimal sign by %s', (_what, amounts, sign) => {
    expect(decimalSignOf(amounts)).toBe(sign)
  })

  it.each([iqd('25,000'), iqd('25.000', '1.000'), usd('1,900'), usd('1.950')])(
    'can be read in two ways: %j',
    (...amounts) => {
      expect(decimalSignOf(amounts)).toBeUndefined()
    },
  )

  it('has the sign that its own currency shows: yen beside euros', () => {
    const rows = (...texts: [string, string][]) => {
      const lines = texts.map(([text, currency], n) => `t-${n};${text};${currency}`)
      return read(`id;amount;currency\n${lines.join('\n')}`).rows.map(({ amount }) => amount)
    }
    expect(rows(['1,500', 'JPY'], ['20.00', 'EUR'])).toEqual([1_500, 2_000])
    expect(rows(['1,500', 'JPY'], ['20,00', 'EUR'])).toEqual([1_500, 2_000])
    expect(rows(['1.500', 'JPY'], ['1,000.50', 'EUR'])).toEqual([1_500, 100_050])
    expect(rows(['1,000', 'JPY'], ['20.00', 'EUR'])).toEqual([1_000, 2_000])
    expect(needs('id;amount;currency\na;20,00;EUR\nb;1.00;USD\nc;1,000;GBP\n')).toBe('decimal')
  })

  it('asks in the file, and takes what is given', () => {
    const text = 'id,amount,currency\nt-1,"25,000",IQD\n'
    expect(needs(text)).toBe('decimal')
    expect(first(text, { decimal: '.' })).toHaveProperty('amount', 25_000)
    expect(first(text, { decimal: ',' })).toHaveProperty('amount', 25)
  })

  it.each([
    ['IQD 25,000', 'IQD', 25_000],
    ['25,000 د.ع', 'IQD', 25_000],
    ['-$1,234.50', 'USD', -123_450],
    ['(12.50)', 'USD', -1_250],
    ['1 234.50', 'USD', 123_450],
    ["1'234.50", 'USD', 123_450],
    ['٢٥٬٠٠٠', 'IQD', 25_000],
    ['١٢٫٥٠', 'USD', 1_250],
    ['1.234', 'KWD', 1_234],
    ['1,25,000.00', 'INR', 12_500_000],
    ['\u201320.00', 'EUR', -2_000],
    ['20.00-', 'EUR', -2_000],
    ['€(20.00)', 'EUR', -2_000],
    ['(20.00) EUR', 'EUR', -2_000],
    ['(EUR 20.00)', 'EUR', -2_000],
    ['20.00 DR', 'EUR', -2_000],
    ['20.00 Cr.', 'EUR', 2_000],
    ['+20.00', 'EUR', 2_000],
    ['20.00 (EUR)', 'EUR', 2_000],
    ['.50', 'EUR', 50],
    ['-.50', 'EUR', -50],
    ['د.ع.25', 'IQD', 25],
    ['\u200f-20.00\u200e', 'EUR', -2_000],
    ['A$20.00', 'AUD', 2_000],
    ['DR$20.00', 'USD', -2_000],
    ['12,34.50', 'USD', undefined],
    // Signs that cannot be told.
    ['-(20.00)', 'EUR', undefined],
    ['-20.00 CR', 'EUR', undefined],
    ['20.00 X', 'EUR', undefined],
    ['20.00 R', 'EUR', undefined],
    ['(20.00', 'EUR', undefined],
    ['[20.00]', 'EUR', undefined],
    ['20.00 refunded', 'EUR', undefined],
    ['20.00 USD', 'EUR', undefined],
    ['~20.00', 'EUR', undefined],
    ['1.5E+05', 'IQD', undefined],
    ['12.505', 'USD', undefined],
    ['twelve', 'USD', undefined],
  ])('%s in %s is %s', (text, currency, amount) => {
    expect(amountIn({ text, currency }, '.')).toBe(amount)
  })

  it('that we write is read as it was, with any grouping', () => {
    const amount = fc.integer({ min: -999_999_999, max: 999_999_999 })
    fc.assert(
      fc.property(amount, fc.constantFrom('IQD', 'USD', 'KWD'), (minor, currency) => {
        const text = majorText(minor, currency)
        expect(amountIn({ text, currency }, '.')).toBe(minor === 0 ? 0 : minor)
        const grouped = text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',')
        expect(amountIn({ text: grouped, currency }, '.')).toBe(minor)
        const german = grouped.replaceAll(/[.,]/g, (sign) => (sign === '.' ? ',' : '.'))
        expect(amountIn({ text: german, currency }, ',')).toBe(minor)
      }),
    )
  })
})

describe('a date', () => {
  it.each([
    ['2026-11-27', 'dmy', '2026-11-27'],
    ['2026/1/2 10:00', 'dmy', '2026-01-02'],
    ['2026-11-27T10:00:00Z', 'mdy', '2026-11-27'],
    ['03/04/2026', 'dmy', '2026-04-03'],
    ['03/04/2026', 'mdy', '2026-03-04'],
    ['27.11.26', 'dmy', '2026-11-27'],
    ['27 Nov 2026', 'mdy', '2026-11-27'],
    ['٢٧/١١/٢٠٢٦', 'dmy', '2026-11-27'],
    ['۲۰۲۶/۱۱/۲۷', 'dmy', '2026-11-27'],
    ['Nov 27, 2026', 'dmy', '2026-11-27'],
    ['November 27, 2026 10:00', 'mdy', '2026-11-27'],
    ['27. November 2026', 'dmy', '2026-11-27'],
    ['27 févr. 2026', 'dmy', '2026-02-27'],
    ['3 mrt 2026', 'mdy', '2026-03-03'],
    ['20261127', 'ymd', '2026-11-27'],
    ['20261127', 'dmy', '2026-11-27'],
    ['27112026', 'dmy', '2026-11-27'],
    ['26/11/27', 'ymd', '2026-11-27'],
    ['20261327', 'ymd', undefined],
    ['27 Brumaire 2026', 'dmy', undefined],
    ['31/06/2026', 'dmy', undefined],
    ['yesterday', 'dmy', undefined],
  ] as const)('%s (%s) is %s', (text, order, day) => {
    expect(dayIn(text, order)).toBe(day)
  })

  it('shows its order by a day after the twelfth, else it is asked for', () => {
    expect(dateOrderOf(['03/04/2026', '13/04/2026'])).toBe('dmy')
    expect(dateOrderOf(['03/04/2026', '04/13/2026'])).toBe('mdy')
    expect(dateOrderOf(['05/05/2026'])).toBe('dmy')
    expect(dateOrderOf(['03/04/2026'])).toBeUndefined()
    expect(needs(`${HEAD}\nt-1,o-1,500,IQD,03/04/2026\n`)).toBe('dates')
    const row = first(`${HEAD}\nt-1,o-1,500,IQD,03/04/2026\n`, { dates: 'mdy' })
    expect(row).toHaveProperty('day', '2026-03-04')
  })
})

describe('what could not be read', () => {
  const long = 'x'.repeat(100_000)
  const row = (own: Record<string, string>) => {
    const cells = { id: 't-1', order: 'o-1', amount: '25000', currency: 'IQD', date: '2026-11-27' }
    return `${HEAD}\n${Object.values({ ...cells, ...own }).join(',')}\n`
  }

  it.each([
    ['an amount', row({ amount: long })],
    ['a currency', row({ currency: long })],
    ['a date', row({ date: long })],
    ['an id', row({ id: `1E+${'1'.repeat(100_000)}` })],
  ])('is shown with 200 characters of %s', (_, text) => {
    const { unreadable } = read(text, { decimal: '.' })
    expect(unreadable.map(({ why }) => why.length < 260)).toEqual([true])
  })

  it('is so where a column is asked for, or which numbers have decimals', () => {
    const asked = (text: string, reading: Reading = {}) => {
      const found = readSettlement(utf8(text), reading)
      return found.ok ? '' : found.message
    }
    for (const text of [`${long},b\n1,2\n`, row({ amount: `1.${'0'.repeat(99_999)}` })]) {
      expect(asked(text).length).toBeLessThan(500)
    }
    expect(asked(`${long},b\n1,2\n`)).toContain(`${'x'.repeat(199)}….`)
  })
})
