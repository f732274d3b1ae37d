import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../../../worker/payments/domain/fold.ts'
import { searchOf } from '../../../../worker/payments/domain/search.ts'
import { searchText } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'

describe('a folded text', () => {
  it.each([
    ['ORD-10231', 'ORD10231'],
    ['#ord 10231', 'ORD10231'],
    ['١٠٢٣١', '10231'],
    ['۱۰۲۳۱', '10231'],
    ['１０２３１', '10231'],
    ['+964 (770) 123-45.67', '9647701234567'],
    ['Straße', 'STRASSE'],
    ['Ὀδυσσεύς ΟΔΥΣΣΕΥΣ', 'ΟΔΥΣΣΕΥΣΟΔΥΣΣΕΥΣ'],
    ['زَيْنَب', 'زينب'],
    ['ﬁne', 'FINE'],
    ['İstanbul', 'ISTANBUL'],
    ['على علی علي', 'عليعليعلي'],
    ['كريم کریم', 'كريمكريم'],
    ['فاطمة فاطمه فاتمە', 'فاطمهفاطمهفاتمه'],
    ['ڕۆژ روژ', 'روژروژ'],
    ['هەڵمەت هێمن', 'ههلمهتهيمن'],
    ['محـــمد ٱلله', 'محمدالله'],
    ['Łódź Ærø Đorđe', 'LODZAERODORDE'],
    ['*?[]"\n%_', ''],
    ['\ud83d', ''],
  ])('of %j is %j', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })

  it('has the folded form of each of its parts, and folding it again changes nothing', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(text, text, text, (before, part, after) => {
        expect(fold(before + part + after)).toContain(fold(part))
        expect(fold(fold(part))).toBe(fold(part))
      }),
    )
  })
})

describe('what a payment is found by', () => {
  it('is a line each of its reference, its description and the values of its metadata', () => {
    const metadata = JSON.stringify({ phone: '0770 123', table: 4, isGift: true, note: null })
    const row = { reference: 'ORD-1', description: 'Two lamps', metadata }
    expect(searchText(row)).toBe('\nORD1\nTWOLAMPS\n0770123\n4\n')
    expect(searchText({ ...row, description: null, metadata: null })).toBe('\nORD1\n\n')
  })
})

describe('what was typed', () => {
  it('finds any part from three letters or digits on, and less by its beginning', () => {
    expect(searchOf('10231')).toMatchObject({ patterns: ['*10231*'], end: '10231' })
    expect(searchOf('1-0')).toEqual({
      patterns: ['*\n10*'],
      beginnings: ['1-0'],
      amounts: [],
    })
  })

  it.each([
    ['each word by itself, the longest first', 'Ali al-Jubouri', ['*ALJUBOURI*', '*ALI*']],
    ['a short word as a part beside a long one', ' ord 1 ', ['*ORD*', '*1*']],
    ['the whole of short words alone', '07 70 12', ['*077012*']],
    ['no word twice, and none that is no text', 'ord — ORD', ['*ORD*']],
    [
      'eight words at most',
      'a b c d e f g h i jklm',
      [...'*JKLM*|*A*|*B*|*C*|*D*|*E*|*F*|*G*'.split('|')],
    ],
  ])('is %s', (_what, q, patterns) => {
    expect(searchOf(q)?.patterns).toEqual(patterns)
  })

  it.each([
    ['whole units', '٢٠', [{ 0: 20, 2: 2_000, 3: 20_000 }]],
    ['with a decimal comma', '20,00', [{ 0: 20, 2: 2_000, 3: 20_000 }]],
    ['with an Arabic one', '٢٠٫٥', [{ 2: 2_050, 3: 20_500 }]],
    [
      'in both ways, where its digits may be thousands',
      '25,000',
      [
        { 0: 25_000, 2: 2_500_000, 3: 25_000_000 },
        { 0: 25, 2: 2_500, 3: 25_000 },
      ],
    ],
    ['with thousands and decimals', '1’234.50', [{ 2: 123_450, 3: 1_234_500 }]],
    ['none, where it is a number with other signs', '1-0', []],
    ['none of nothing', '0', [{}]],
  ])('may be an amount: %s', (_what, q, amounts) => {
    expect(searchOf(q)?.amounts).toEqual(amounts)
  })

  it('is as it was typed for an id, and in one case', () => {
    expect(searchOf('01kA')?.beginnings).toEqual(['01kA', '01ka', '01KA'])
    expect(searchOf('٠١kA')?.beginnings).toEqual(['01kA', '01ka', '01KA'])
  })

  it('is no text where it has neither letters nor digits, and nothing where it is empty', () => {
    expect(searchOf('*?[')).toEqual({ beginnings: ['*?['], patterns: [], amounts: [] })
    expect(searchOf(' \n ')).toBeUndefined()
  })
})
