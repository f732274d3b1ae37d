// What the words of settlement files mean, in ten languages: each kind, and what is none.

import { describe, expect, it } from 'vitest'
import { isOwnMovement, isPaidState, kindOf } from '../../../libraries/settlement/words.ts'

const kindsOf = (...texts: string[]) => new Set(texts.map((text) => kindOf(text)))

// biome-ignore format: several words a line.
describe('a word of type', () => {
  it('is a payment, in each language', () => {
    expect(
      kindsOf(
        'Sale', 'Purchase', 'payment', 'charge', 'PAYMENT_CAPTURED', 'CardPayment', 'Kartenzahlung',
        'Paiement', 'Vente', 'Pago', 'Compra', 'Pagamento', 'Vendita', 'Betaling', 'Płatność',
        'Ödeme', 'Satış', 'دفع', 'المدفوعات', 'عملية شراء', 'پارەدان', 'کڕین', 'firotin',
      ),
    ).toEqual(new Set(['payment']))
  })

  it('is a refund, in each language', () => {
    expect(
      kindsOf(
        'Refund', 'partial refund', 'REVERSAL', 'Void', 'Debit', 'payment_refund', 'Storno',
        'Rückerstattung', 'Erstattung', 'Remboursement', 'Remboursement total', 'Devolución',
        'Reembolso parcial', 'Rimborso', 'Terugbetaling', 'Terugstortingen', 'Zwrot', 'İADE', 'iade',
        'Geri Ödeme', 'استرداد', 'إرجاع', 'استرداد المبلغ', 'گەڕاندنەوەی پارە', 'vegerandin',
        'Bank transfer refund',
      ),
    ).toEqual(new Set(['refund']))
  })

  it('is a way of paying, which a transfer may be; alone, out or with a payout it is none', () => {
    expect(
      kindsOf(
        'Bank transfer', 'wallet transfer', 'Card transfer', 'Instant transfer', 'SEPA Transfer',
        'ideal', 'direct debit', 'Banküberweisung', 'Virement bancaire', 'تحويل بنكي',
      ),
    ).toEqual(new Set(['payment']))
    expect(
      kindsOf(
        'transfer', 'Transfer out', 'Payout transfer', 'Transfer to bank', 'Bank transfer out',
        'transfer_reversal', 'Überweisung', 'Virement', 'تحويل',
      ),
    ).toEqual(new Set(['none']))
    expect(kindOf('Payment transfer')).toBeUndefined()
  })

  it('is a fee, a payout or a sum, which are left out, whatever it is a fee of', () => {
    expect(
      kindsOf(
        'Fee', 'Refund fee', 'chargeback_penalty', 'stripe_fee', 'Gebühr', 'Frais', 'Comisión',
        'Commissione', 'Kosten', 'Prowizja', 'Komisyon', 'رسوم', 'Payout', 'Auszahlung', 'Total',
        'Uitbetaling', 'سحب', 'المجموع', 'کرێ',
      ),
    ).toEqual(new Set(['none']))
  })

  it('is a chargeback, or a failure, which is no refund and no payment', () => {
    expect(kindsOf('Chargeback', 'dispute_reversal', 'Rückbuchung', 'Terugboeking', 'اعتراض')).toEqual(
      new Set(['chargeback']),
    )
    expect(
      kindsOf('Refund failed', 'refund_failure', 'Returned refund', 'Rückerstattung fehlgeschlagen'),
    ).toEqual(new Set(['refund_failed']))
    expect(kindsOf('charge_failure', 'Payment failed', 'payment_failure_refund')).toEqual(
      new Set(['payment_failed']),
    )
  })

  it.each(['Vrac', 'Payment hold', '—'])(
    'is in no list: %s',
    (text) => {
      expect(kindOf(text)).toBeUndefined()
    },
  )

  it('is what it was taught to be, in any case', () => {
    expect(kindOf('VRAC', { Vrac: 'refund' })).toBe('refund')
    expect(kindOf('Sale', { Sale: 'none' })).toBe('none')
    expect(kindOf('Vrac 2', { Vrac: 'refund' })).toBeUndefined()
  })
})

// biome-ignore format: several words a line.
describe('a word of state', () => {
  it('says that the money came', () => {
    const states = [
      'paid', 'paidout', 'Succeeded', 'refunded', 'Partially refunded', 'Charged back', 'Bezahlt',
      'Payé', 'Pagado', 'Pagato', 'Betaald', 'Opłacone', 'Ödendi', 'مدفوع', 'تم الدفع', 'سەرکەوتوو',
    ]
    expect(states.filter((text) => isPaidState(text) !== true)).toEqual([])
  })

  it('says that it did not', () => {
    const states = [
      'failed', 'expired', 'open', 'canceled', 'Cancelled', 'Declined (51)', 'Not paid', 'unpaid',
      'pending', 'authorized', 'Abgelehnt', 'Refusé', 'Rechazado', 'Scaduto', 'Verlopen', 'Odrzucono',
      'Reddedildi', 'غير مدفوع', 'مرفوض', 'هەڵوەشاوە',
    ]
    expect(states.filter((text) => isPaidState(text) !== false)).toEqual([])
  })

  it.each(['Weird', 'paid maybe', ''])('is in no list: %s', (text) => {
    expect(isPaidState(text)).toBeUndefined()
  })
})

describe('a row that names no payment', () => {
  it.each([
    ['Withheld fees MOL-NL-R2026.0001206687', true, true],
    ['Withheld transaction fees', true, true],
    ['Invoice Compensation MOL-NL-R2026.1', false, true],
    // Somebody may have paid one.
    ['Booking fee', false, false],
    ['Order 1001', true, false],
  ])('%s (below 0: %s) is the gateway’s own: %s', (text, isBelow0, isOwn) => {
    expect(isOwnMovement(text, isBelow0)).toBe(isOwn)
  })
})
