// Which column of a settlement file is what: by its name in known reports, or as given.

import { fold } from '../../worker/payments/domain/fold.ts'
import { brief, type Line } from './table.ts'

/**
 * `id`: the gateway's; `ours`: our id, or the external reference that the gateway got. `refund`:
 * the gateway's id of a refund; `refunded`: what was given back of the payment in the same row.
 */
export const FIELDS = [
  'id',
  'ours',
  'reference',
  'amount',
  'currency',
  'date',
  'type',
  'status',
  'refund',
  'refunded',
] as const
export type Field = (typeof FIELDS)[number]
/** The name of a column in the file, by field. */
export type ColumnMap = Partial<Record<Field, string>>

/** In place of a column: the file has none of it. */
const NO_COLUMN = 'none'

/**
 * Columns that no map names. `method`: the way of paying, which some reports have for a type.
 * `payout`: the gateway's id of what it paid out, where each row has it; `settled` and
 * `settledCurrency`: what of the row is in that, `fee`: what the gateway kept of it.
 */
const FURTHER = ['method', 'payout', 'settled', 'settledCurrency', 'fee'] as const
export type Column = Field | (typeof FURTHER)[number]

export interface Columns {
  /** The index of each column. */
  at: Partial<Record<Column, number>>
  /** Amounts and their currencies, the best first: a row may have only another pair. */
  money: readonly { amount: number; currency: number | undefined }[]
  /** Columns that may have what was given back, if no map names one. */
  maybeRefunded: readonly { at: number; name: string; isKnown: boolean }[]
  rows: readonly Line[]
}

/**
 * The best name first. Those of Stripe are of its itemized reports of balance changes
 * (docs.stripe.com/reports/report-types): what the payer paid comes before what was settled. Those
 * of Mollie are of its settlement report, in English and Dutch.
 */
const NAMES: Readonly<Record<Column, readonly string[]>> = namesOf({
  id: `gateway transaction id, transaction id, txn id, payment id, operation id, id,
    transaktions id, transaktionsnummer, id transaction, numéro de transaction, id transacción,
    id transazione, transactie id, transactienummer, id transakcji, işlem no, رقم العملية,
    رقم المعاملة`,
  ours: `payment_metadata[external_reference_id], external reference id, merchant reference id,
    our id`,
  reference: `payment_metadata[reference], client reference id, order id, order reference,
    merchant order id, reference, order, invoice, bestellnummer, referenz, référence, referencia,
    riferimento,
    referentie, bestelnummer, sipariş no, رقم الطلب, المرجع`,
  amount: `customer_facing_amount, gross amount, gross, transaction amount, amount, value, betrag,
    bruttobetrag, montant, montant brut, importe, importo, bedrag, kwota, tutar, المبلغ, بڕ`,
  currency: `customer_facing_currency, transaction currency, currency, ccy, cur, währung, devise,
    monnaie, moneda, divisa, valuta, waluta, para birimi, العملة, دراو`,
  date: `transaction date, created at, created, paid at, datetime, date, time, value date,
    booking date, posting date, settlement date, datum, buchungsdatum, fecha, data, tarih, التاريخ,
    بەروار`,
  type: `reporting_category, transaction type, type, kind, typ, art, buchungsart, transaktionstyp,
    tipo, soort, transactietype, rodzaj, tür, işlem türü, النوع, جۆر`,
  status: `transaction status, payment status, status, state, zustand, statut, état, estado, stato,
    stan, durum, الحالة, دۆخ`,
  refund: `refund id, gateway refund id, refund reference, source_id, rückerstattungs id,
    id remboursement, id reembolso, id rimborso, terugbetalings id, id zwrotu, iade no`,
  refunded: `amount refunded, refunded amount, refund amount, refunded, refund, refunds,
    teruggestort bedrag, terugbetaald bedrag, terugbetaald, teruggestort, erstattet, rückerstattet,
    erstatteter betrag, remboursé, montant remboursé, reembolsado, importe reembolsado, rimborsato,
    importo rimborsato, zwrócono, kwota zwrotu, iade tutarı, iade, المبلغ المسترد, المسترد`,
  method: `payment method, betaalmethode, zahlungsmethode, zahlungsart, méthode de paiement,
    mode de paiement, método de pago, metodo di pagamento, metoda płatności, ödeme yöntemi,
    طريقة الدفع`,
  payout: `automatic_payout_id, payout id, settlement reference, settlement id,
    uitbetalingsreferentie`,
  settled: 'gross, settlement amount, uitbetalingsbedrag',
  settledCurrency: 'settlement currency, uitbetalingsvaluta, currency',
  fee: 'fee',
})

function namesOf<Name extends string>(lists: Record<Name, string>): Record<Name, string[]> {
  const names = {} as Record<Name, string[]>
  for (const name of Object.keys(lists) as Name[]) names[name] = lists[name].split(',').map(fold)
  return names
}

/** Its own pair: a row without it has only what was settled. */
const [FACING_AMOUNT, FACING_CURRENCY] = [NAMES.amount[0], NAMES.currency[0]]

const GIVEN_BACK =
  /REFUND|RETURNED|REVERSED|ERSTATT|REMBOURS|REEMBOLS|DEVOL|RIMBORS|TERUGB|TERUGG|ZWROT|ZWROC|IADE/
/** Money that went out, which may be refunds. */
const WENT_OUT = /^(?:DEBITS?|DEBITAMOUNT|WITHDRAWN|WITHDRAWALS?|PAIDOUT|MONEYOUT|SOLL)$/
/** It is about a refund, and no amount of it. */
const ABOUT = new RegExp(
  'DATE|DATUM|TIME|ID$|REASON|STATUS|STATE|BY$|AT$|REF(ERENCE)?$|NOTE|TYPE|COUNT|CONVERTED|' +
    'METADATA|ABLE|FEE|COST|KOSTEN|METHOD|CURRENCY|DESCR|COMMENT|^IS',
)

/** A title or two may be above the names. */
const MAX_TITLES = 30

/** A sentence: what is missing, and what there is. */
export function findColumns(
  lines: readonly Line[],
  map: ColumnMap,
  nameIt: string,
): Columns | string {
  const heads = lines.slice(0, MAX_TITLES).map(({ cells }) => placesIn(cells, map))
  const found = heads.findIndex((at) => isWhole(at, map))
  const at = heads[found]
  if (at) {
    const cells = lines[found]?.cells ?? []
    const maybeRefunded = map.refunded === undefined ? givenBackIn(cells, at) : []
    return { at, money: moneyIn(cells, at, map), maybeRefunded, rows: lines.slice(found + 1) }
  }
  const best = heads.reduce((most, head, n) => (sizeOf(head) > sizeOf(heads[most]) ? n : most), 0)
  const names = brief(lines[best]?.cells.filter(Boolean).join(', ') ?? '')
  const lacking = FIELDS.filter((field) => isNeeded(field, map))
    .filter((field) => heads[best]?.[field] === undefined)
    .map((field) => (map[field] === undefined ? field : `${field} (${map[field]})`))
  const what = lacking.length > 0 ? lacking.join(', ') : 'id, ours or reference'
  return `There is no column of ${what}. Name it ${nameIt}, such as amount=…; there are: ${names}.`
}

/** How many columns are found: none, if one that is needed is missing. */
export function columnsFound(lines: readonly Line[], map: ColumnMap): number {
  const columns = findColumns(lines, map, '')
  return typeof columns === 'string' ? 0 : sizeOf(columns.at)
}

const sizeOf = (at: Columns['at'] | undefined): number => Object.keys(at ?? {}).length

const isNeeded = (field: Field, map: ColumnMap): boolean =>
  map[field] === undefined ? field === 'amount' : map[field] !== NO_COLUMN

function isWhole(at: Columns['at'], map: ColumnMap): boolean {
  const names = ['id', 'ours', 'reference'] as const
  return (
    (names.some((field) => at[field] !== undefined) || map.refund !== undefined) &&
    FIELDS.every((field) => !isNeeded(field, map) || at[field] !== undefined)
  )
}

function placesIn(cells: readonly string[], map: ColumnMap): Columns['at'] {
  const folded = cells.map(fold)
  const indexOf = (field: Column): number => {
    const own = isField(field) ? map[field] : undefined
    if (own === NO_COLUMN) return -1
    if (own !== undefined)
      return cells.indexOf(own) >= 0 ? cells.indexOf(own) : folded.indexOf(fold(own))
    // What was given back is known by what is in it.
    if (field === 'refunded') return -1
    const known = NAMES[field].find((name) => folded.includes(name))
    return known === undefined ? -1 : folded.indexOf(known)
  }
  const indexes = [...FIELDS, ...FURTHER].map((field) => [field, indexOf(field)] as const)
  const at: Columns['at'] = Object.fromEntries(indexes.filter(([, at]) => at >= 0))
  // Without the id of a payout, the others are columns like any.
  if (at.payout === undefined)
    for (const name of ['settled', 'settledCurrency'] as const) delete at[name]
  return at
}

const isField = (name: Column): name is Field => FIELDS.some((field) => field === name)

function moneyIn(cells: readonly string[], at: Columns['at'], map: ColumnMap): Columns['money'] {
  const { amount = -1, currency } = at
  const folded = cells.map(fold)
  const isFacing = folded[amount] === FACING_AMOUNT && folded[currency ?? -1] === FACING_CURRENCY
  if (!isFacing || map.amount !== undefined || map.currency !== undefined) {
    return [{ amount, currency }]
  }
  const next = (names: readonly string[]) => {
    const known = names.slice(1).find((name) => folded.includes(name))
    return known === undefined ? -1 : folded.indexOf(known)
  }
  const settled = { amount: next(NAMES.amount), currency: next(NAMES.currency) }
  return settled.amount < 0 || settled.currency < 0
    ? [{ amount, currency }]
    : [{ amount, currency }, settled]
}

function givenBackIn(cells: readonly string[], at: Columns['at']): Columns['maybeRefunded'] {
  const used = Object.values(at)
  return cells.flatMap((name, index) => {
    const folded = fold(name)
    const isKnown =
      NAMES.refunded.includes(folded) || (GIVEN_BACK.test(folded) && !ABOUT.test(folded))
    const isMaybe = isKnown || WENT_OUT.test(folded)
    return isMaybe && !used.includes(index) ? [{ at: index, name, isKnown }] : []
  })
}

/** Nothing was given back. */
const NOTHING = /^(?:no|non|nein|nee|nie|hayır|لا|false|n\/a|none|null|[^\d\p{L}]*)$/iu
const ZERO = /^(?:[a-z]{3})?[^\d\p{L}]*0+(?:[.,]0*)?[^\d\p{L}]*(?:[a-z]{3})?$/iu

export const isNothing = (text: string): boolean => NOTHING.test(text) || ZERO.test(text)

/**
 * The second column with money: what was given back of the payment in the same row. Left unread, it
 * would hide refunds. A sentence: which columns it may be. Undefined: none has money in it.
 */
export function refundedColumn(
  { at, maybeRefunded, rows }: Columns,
  nameIt: (columns: string) => string,
): { at: number; name: string } | string | undefined {
  if (at.refunded !== undefined) return { at: at.refunded, name: 'of refunded' }
  const filled = maybeRefunded.filter((column) =>
    rows.some(({ cells }) => !isNothing(cells[column.at] ?? '')),
  )
  const [first] = filled
  if (first === undefined || (filled.length === 1 && first.isKnown)) return first
  const names = brief(filled.map(({ name }) => name).join(', '))
  return (
    `There may be refunds in the ${filled.length > 1 ? 'columns' : 'column'} ${names}. ` +
    `Say which ${nameIt('refunded=…')}, or that it has none ${nameIt('refunded=none')}.`
  )
}
