// What the words of a settlement file mean, in the languages of its gateways: whether a row is a
// payment, a refund or neither, and whether its money came. A word that is in no list means
// nothing: taken for a payment, it would hide what it is.

import { fold } from '../../worker/payments/domain/fold.ts'

/**
 * `refund_failed`: a refund came back. `payment_failed`: it takes back the row of a payment.
 * `none`: fees, payouts and sums.
 */
export type Kind = 'payment' | 'refund' | 'refund_failed' | 'payment_failed' | 'chargeback' | 'none'

export const TAUGHT = ['payment', 'refund', 'none'] as const
/** Own words, and what each means: of a type or a state. */
export type Words = Readonly<Record<string, (typeof TAUGHT)[number]>>

/** English, German, French, Spanish, Italian, Dutch, Polish, Turkish, Arabic, Kurdish (both). */
const SENSES = {
  pay: `payment, payments, pay, paid, sale, sales, purchase, purchases, charge, charges, capture,
    captures, captured, donation, checkout
    zahlung, zahlungen, bezahlung, kartenzahlung, zahlungseingang, einzahlung, kauf, verkauf, umsatz
    paiement, paiements, achat, achats, vente, ventes, encaissement, règlement
    pago, pagos, compra, compras, venta, ventas, cobro, cobros, cargo
    pagamento, pagamenti, acquisto, acquisti, vendita, vendite, incasso, incassi
    betaling, betalingen, aankoop, aankopen, verkoop, verkopen, koop
    płatność, płatności, zakup, zakupy, sprzedaż, wpłata, zapłata
    ödeme, ödemeler, satış, satışlar, satın alma, tahsilat, alışveriş
    دفع, دفعة, دفعات, مدفوعات, سداد, بيع, مبيعات, شراء, مشتريات, تحصيل
    پارەدان, پارە دان, فرۆشتن, کڕین
    dayîn, dravdan, peredan, firotin, kirîn`,
  back: `refund, refunds, refunded, reversal, reversals, reversed, void, voids, voided, cancel,
    cancelled, canceled, cancellation, return, returns, returned, debit, money back, reimbursement
    rückerstattung, rückerstattungen, erstattung, erstattungen, rückzahlung, rückzahlungen, storno,
    stornos, stornierung, retoure, rückvergütung
    remboursement, remboursements, remboursé, annulation, retour, contrepassation
    reembolso, reembolsos, devolución, devoluciones, anulación, reintegro, reversión, reversa,
    extorno
    rimborso, rimborsi, storni, annullamento, reso, resi, restituzione
    terugbetaling, terugbetalingen, terugbetaald, terugstorting, terugstortingen, teruggestort,
    teruggave, restitutie, annulering, retourbetaling
    zwrot, zwroty, zwrócono, anulowanie, refundacja
    iade, iadeler, iade edildi, geri ödeme, geri ödemesi, iptal
    استرداد, استرجاع, إرجاع, مرتجع, مرتجعات, رد المبلغ, إعادة المبلغ, إعادة, إلغاء, عكس
    گەڕاندنەوە, گەڕاندنەوەی پارە, گەڕانەوە, هەڵوەشاندنەوە
    vegerandin, vegerandina, paşvedan, paşvedayîn, betalkirin`,
  failed: `failed, failure, fail, declined, rejected, bounced
    fehlgeschlagen, fehlgeschlagene, gescheitert, abgelehnt
    échoué, échouée, échec, refusé, refusée, fallido, fallida, rechazado, rechazada
    fallito, fallita, rifiutato, mislukt, mislukte, geweigerd
    nieudany, nieudana, odrzucony, odrzucona, başarısız, reddedildi
    فشل, فاشل, فاشلة, مرفوض, مرفوضة, شکستی هێنا, شکست, سەرنەکەوتوو, biserneket, têkçû`,
  backFailed: 'returned refund, returned refunds, refund returned, refund return',
  payFailed: 'payment failure refund',
  dispute: `chargeback, chargebacks, charge back, dispute, disputes, disputed, rückbuchung,
    rückbuchungen, rücklastschrift, rücklastschriften, rétrofacturation, rétrofacturations, litige,
    contracargo, contracargos, retrocesión, disputa, disputas, riaddebito, storno di addebito,
    contestazione, terugboeking, terugboekingen, obciążenie zwrotne, obciążenia zwrotne, spór,
    ters ibraz, itiraz, اعتراض, نزاع, رد المبالغ المدفوعة, ناڕەزایی, nerazîbûn`,
  fee: `fee, fees, commission, commissions, service charge, service charges, processing charge,
    surcharge, tax, taxes, vat, gst, cost, costs, duty, duties, penalty
    gebühr, gebühren, entgelt, entgelte, provision, provisionen, kosten, steuer, mwst, frais, taxe,
    tva, comisión, comisiones, tarifa, tasa, impuesto, iva, coste, commissione, commissioni, spese,
    costo, imposta, transactiekosten, toeslag, btw, provisie, prowizja, prowizje, opłata, opłaty,
    koszt, podatek, komisyon, ücret, ücreti, masraf, vergi, kdv, kesinti
    رسوم, رسم, عمولة, عمولات, ضريبة, أجور, کرێ, خەرجی, باج, xerc, komîsyon, bac`,
  payout: `payout, payouts, pay out, disbursement, withdrawal, withdrawals, withdraw, cash out,
    cashout, auszahlung, auszahlungen, retrait, retraits, retiro, retiros, desembolso, prelievo,
    prelievi, uitbetaling, uitbetalingen, opname, wypłata, wypłaty, para çekme, çekim
    سحب, سحوبات, ڕاکێشان, vekişandin`,
  out: `out, outgoing, outbound, ausgehend, ausgehende, sortant, saliente, in uscita, uitgaand,
    wychodzący, giden, صادر`,
  sum: `total, totals, subtotal, sub total, grand total, sum, sums, balance, summe, gesamt,
    gesamtsumme, zwischensumme, saldo, somme, solde, totale, totaal, suma, razem, łącznie, toplam,
    bakiye, مجموع, إجمالي, رصيد, کۆ, کۆی گشتی, tevahî`,
  way: `bank, wallet, card, cards, instant, sepa, wire, ach, credit card, creditcard, debit card,
    direct debit, directdebit, bank account, banktransfer, cash, visa, mastercard, maestro, amex,
    american express, mada, ideal, bancontact, mistercash, paypal, applepay, apple pay, googlepay,
    google pay, klarna, sofort, giropay, eps, blik, przelewy24, fib, zaincash, zain cash, fastpay,
    twint, wero, swish, trustly, satispay, alipay, giftcard, gift card, voucher, pix, upi, bizum,
    kbc, belfius, mybank, multibanco, pointofsale, point of sale, in3, riverty, alma, billie
    karte, kreditkarte, debitkarte, lastschrift, banküberweisung, sofortüberweisung,
    echtzeitüberweisung, sepa überweisung, carte, carte bancaire, carte bleue, prélèvement,
    virement bancaire, virement sepa, virement instantané, tarjeta, tarjeta de crédito,
    transferencia bancaria, carta di credito, bonifico bancario, bonifico sepa, kaart,
    bankoverschrijving, bankoverboeking, automatische incasso, karta, karta kredytowa,
    przelew bankowy, kart, kredi kartı, banka kartı, banka havalesi
    بطاقة, محفظة, تحويل بنكي, تحويل مصرفي, حوالة بنكية, کارت, کارتی بانکی, حەواڵەی بانکی`,
  transfer: `transfer, transfers, überweisung, überweisungen, virement, virements, transferencia,
    transferencias, bonifico, bonifici, overboeking, overboekingen, overschrijving, przelew,
    przelewy, havale, eft, تحويل, تحويلات, حوالة, حەواڵە, veguhastin`,
  /** A gateway's own movements (Stripe's reporting categories, Mollie's corrections). */
  own: `advance, advance funding, anticipation repayment, climate order purchase,
    climate order refund, connect collection transfer, connect reserved funds, contribution,
    financing paydown, financing paydown reversal, financing payout, financing payout reversal,
    issuing authorization hold, issuing authorization release, issuing dispute, issuing transaction,
    network cost, other adjustment, partial capture reversal, payment network reserve hold,
    payment network reserve release, payment unreconciled, platform earning,
    platform earning refund, reserve hold, reserve release, reserve transaction, reserved funds,
    risk reserved funds, stripe balance payment debit, stripe balance payment debit reversal, topup,
    topup reversal, transfer reversal, unreconciled customer funds
    rolling reserve, rolling reserve hold, rolling reserve release, invoice compensation,
    invoice rounding, factuurcompensatie, balance correction`,
  /** They do not change what the others mean. */
  plain: `a, the, of, to, by, for, from, on, in, and, via, with, at, online, offline, partial,
    partially, full, customer, merchant, transaction, transactions, trx, txn, order, web, ecommerce,
    commerce, e, pos, terminal, mobile, app, recurring, subscription, manual, automatic, one, time,
    qr, link, money, payer, successful, successfully, completed, approved, settled, domestic,
    international, contactless, withheld, application, processing, stripe, mollie, tr
    de, du, des, la, le, l, d, del, di, al, il, van, von, der, die, das, per, mit, par, en, ligne,
    línea, linea, teilweise, partiel, partielle, parcial, parziale, gedeeltelijk, gedeeltelijke,
    częściowy, częściowa, kısmi, ingehouden, einbehaltene, retenus, bancaire, bancaria, bancario
    جزئي, جزئية, كامل, كاملة, عملية, معاملة, مبلغ, مبالغ, أموال, پارە, drav`,
} as const
type Sense = keyof typeof SENSES

const STATES = {
  paid: `paid, paid out, paidout, success, successful, successfully, succeeded, complete, completed,
    done, settled, cleared, captured, approved, accepted, confirmed, processed, posted, booked, ok,
    refunded, partially refunded, partial refund, reversed, charged back, chargedback, disputed,
    charged, available, finished, executed, received, credited
    bezahlt, erfolgreich, abgeschlossen, genehmigt, gebucht, ausgezahlt, erstattet, rückerstattet,
    teilweise erstattet, ausgeführt, eingegangen
    payé, payée, réussi, réussie, terminé, terminée, effectué, effectuée, approuvé, validé, validée,
    remboursé, remboursée, encaissé, réglé, accepté, acceptée, confirmé, versé
    pagado, pagada, exitoso, exitosa, completado, completada, aprobado, aprobada, liquidado,
    reembolsado, cobrado, aceptado, acreditado, confirmado, procesado
    pagato, pagata, riuscito, riuscita, completato, completata, approvato, approvata, rimborsato,
    incassato, accettato, confermato, eseguito
    betaald, geslaagd, voltooid, afgerond, goedgekeurd, uitbetaald, terugbetaald, teruggestort,
    gelukt, verwerkt
    opłacone, opłacona, zapłacono, zapłacone, zakończone, zakończona, zrealizowano, zrealizowana,
    zaakceptowana, zwrócono, zwrócone, rozliczone, potwierdzona, udana, wykonano
    ödendi, başarılı, tamamlandı, onaylandı, iade edildi, tahsil edildi
    مدفوع, مدفوعة, ناجح, ناجحة, مكتمل, مكتملة, تم, تمت, تم الدفع, مقبول, مقبولة, معتمد, مسدد,
    مسترد, مستردة, مؤكد
    دراو, پارەدراو, سەرکەوتوو, تەواو, تەواو بوو, serkeftî, qediya, temam`,
  unpaid: `failed, failure, fail, expired, open, canceled, cancelled, cancel, declined, rejected,
    refused, denied, pending, processing, authorized, authorised, created, initiated, started, new,
    unpaid, void, voided, error, timeout, timed out, aborted, abandoned, blocked, queued, waiting,
    incomplete, scheduled, submitted, unsuccessful, in progress, requires action, hold, not
    fehlgeschlagen, abgelaufen, offen, storniert, abgebrochen, abgelehnt, ausstehend, autorisiert,
    unbezahlt, fehler, gescheitert, in bearbeitung, nicht
    échoué, échouée, échec, expiré, expirée, ouvert, ouverte, annulé, annulée, refusé, refusée,
    rejeté, rejetée, en attente, autorisé, autorisée, impayé, impayée, erreur, abandonné, en cours
    fallido, fallida, vencido, vencida, expirado, expirada, caducado, abierto, abierta, cancelado,
    cancelada, anulado, anulada, rechazado, rechazada, denegado, denegada, pendiente, autorizado,
    autorizada, en proceso, no
    fallito, fallita, scaduto, scaduta, aperto, aperta, annullato, annullata, rifiutato, rifiutata,
    respinto, respinta, negato, in attesa, autorizzato, autorizzata, errore, non
    mislukt, verlopen, openstaand, geannuleerd, afgebroken, geweigerd, afgewezen, in afwachting,
    in behandeling, geautoriseerd, onbetaald, fout, niet
    nieudana, nieudane, wygasła, wygasło, otwarta, anulowana, anulowano, anulowane, odrzucona,
    odrzucono, oczekująca, oczekuje, autoryzowana, błąd, niezapłacone, nieopłacone, nie
    başarısız, süresi doldu, açık, iptal, iptal edildi, reddedildi, bekliyor, beklemede, hata,
    ödenmedi
    فشل, فاشل, فاشلة, منتهي, منتهية, مفتوح, مفتوحة, ملغي, ملغاة, ملغى, مرفوض, مرفوضة, معلق, معلقة,
    قيد, انتظار, خطأ, غير, لم
    شکستی, شکست, سەرنەکەوتوو, بەسەرچوو, کراوە, هەڵوەشاوە, ڕەتکرایەوە, ڕەتکراوە, چاوەڕوان, هەڵە
    biserneket, têkçû, derbasbûyî, vekirî, betalkirî, redkirî, li bendê`,
  plain: `a, the, by, bank, payment, transaction, status, order, refund, and, edildi, zahlung,
    paiement, pago, pagamento, betaling, płatność, ödeme, دفع, الدفع`,
} as const
type State = keyof typeof STATES

/** The longest text of a list has four words. */
const MAX_WORDS = 4

/** `RefundFailed`, `refund_failed` and `Refund failed` are two words each. */
const wordsIn = (text: string): string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map((word) => fold(word).replace(/^ال(?=..)/, ''))
    .filter((word) => /\D/.test(word))

function listed<Name extends string>(lists: Readonly<Record<Name, string>>): Map<string, Name> {
  const texts = new Map<string, Name>()
  for (const name of Object.keys(lists) as Name[]) {
    for (const text of lists[name].split(/[,\n]/)) texts.set(wordsIn(text).join(' '), name)
  }
  texts.delete('')
  return texts
}

const SENSE_OF = listed<Sense>(SENSES)
const STATE_OF = listed<State>(STATES)

/** What each part means, the longest first. Undefined: a part that is in no list. */
function partsOf<Name>(text: string, known: ReadonlyMap<string, Name>): (Name | undefined)[] {
  const words = wordsIn(text)
  const parts: (Name | undefined)[] = []
  for (let at = 0; at < words.length; ) {
    let length = Math.min(MAX_WORDS, words.length - at)
    while (length > 1 && !known.has(words.slice(at, at + length).join(' '))) length--
    parts.push(known.get(words.slice(at, at + length).join(' ')))
    at += length
  }
  return parts
}

/** Undefined: it is in no list. */
export function kindOf(text: string, words: Words = {}): Kind | undefined {
  const taught = taughtOf(text, words)
  if (taught) return taught
  const parts = partsOf(text, SENSE_OF)
  if (parts.includes(undefined)) return undefined
  const has = (...senses: Sense[]) => senses.some((sense) => parts.includes(sense))
  if (has('fee', 'own')) return 'none'
  if (has('dispute')) return 'chargeback'
  if (has('payout', 'out')) return 'none'
  if (has('backFailed')) return 'refund_failed'
  if (has('payFailed')) return 'payment_failed'
  const transfer = parts.indexOf('transfer')
  const isByTransfer = transfer > 0 && parts.slice(0, transfer).includes('way')
  if (transfer >= 0 && !isByTransfer && !has('back')) return has('pay') ? undefined : 'none'
  if (transfer === 0) return 'none'
  if (has('failed')) return has('back') ? 'refund_failed' : 'payment_failed'
  if (has('back')) return 'refund'
  if (has('pay', 'way')) return 'payment'
  return has('sum') ? 'none' : undefined
}

/** What of a row that is left out is the gateway's: what it keeps, or has paid out. */
export type OwnKind = 'fee' | 'payout'

export function ownKindOf(text: string): OwnKind | undefined {
  const parts = partsOf(text, SENSE_OF)
  if (parts.includes('fee') || parts.includes('own')) return 'fee'
  return parts.some((part) => part === 'payout' || part === 'out' || part === 'transfer')
    ? 'payout'
    : undefined
}

/** Whether the money of a row came. Undefined: it is in no list. */
export function isPaidState(text: string): boolean | undefined {
  const parts = partsOf(text, STATE_OF)
  if (parts.includes('unpaid')) return false
  return parts.includes('paid') && !parts.includes(undefined) ? true : undefined
}

/** In any case, and with the numbers in it. */
export function taughtOf(text: string, words: Words): Words[string] | undefined {
  const own = fold(text)
  return Object.entries(words).find(([word]) => fold(word) === own && own !== '')?.[1]
}

/** Of a row that names no payment: it is a fee, or another movement of the gateway's own. */
export function isOwnMovement(text: string, isBelow0: boolean): boolean {
  const named = text.split(/\s+/).filter((word) => !/\d/.test(word))
  const parts = partsOf(named.join(' '), SENSE_OF)
  if (parts.includes(undefined)) return false
  return parts.includes('own') || (isBelow0 && parts.some((it) => it === 'fee' || it === 'payout'))
}
