// Which column of a settlement file is what: by its name in known reports, or as given.

import type { Line } from './table.ts'

/** `id`: the gateway's; `ours`: our id, or the external reference that the gateway got. */
export const FIELDS = ['id', 'ours', 'reference', 'amount', 'currency', 'date', 'type'] as const
export type Field = (typeof FIELDS)[number]
/** The name of a column in the file, by field. */
export type ColumnMap = Partial<Record<Field, string>>

export interface Columns {
  /** The index of each column. */
  at: Partial<Record<Field, number>>
  rows: readonly Line[]
}

/**
 * Folded, the best name first. Those of Stripe are of its itemized reports of balance changes
 * (docs.stripe.com/reports/report-types): what the payer paid comes before what was settled.
 */
const NAMES: Readonly<Record<Field, string>> = {
  id: 'gatewaytransactionid transactionid txnid paymentid operationid id رقمالعملية رقمالمعاملة',
  ours: 'paymentmetadataexternalreferenceid externalreferenceid merchantreferenceid ourid',
  reference:
    'paymentmetadatareference clientreferenceid orderid orderreference merchantorderid reference ' +
    'order invoice رقمالطلب المرجع',
  amount: 'customerfacingamount grossamount gross transactionamount amount value المبلغ',
  currency: 'customerfacingcurrency transactioncurrency currency ccy cur العملة',
  date:
    'transactiondate createdat created paidat datetime date time valuedate bookingdate ' +
    'postingdate settlementdate التاريخ',
  type: 'reportingcategory transactiontype type kind النوع',
}

/** A title or two may be above the names. */
const MOST_TITLES = 30

const fold = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** A sentence: what is missing, and what there is. */
export function findColumns(lines: readonly Line[], map: ColumnMap): Columns | string {
  const heads = lines.slice(0, MOST_TITLES).map(({ cells }) => placesIn(cells, map))
  const found = heads.findIndex((at) => isWhole(at, map))
  const at = heads[found]
  if (at) return { at, rows: lines.slice(found + 1) }
  const best = heads.reduce((most, head, n) => (sizeOf(head) > sizeOf(heads[most]) ? n : most), 0)
  const names = lines[best]?.cells.filter(Boolean).join(', ') ?? ''
  const lacking = FIELDS.filter((field) => map[field] !== undefined || field === 'amount')
    .filter((field) => heads[best]?.[field] === undefined)
    .map((field) => (map[field] === undefined ? field : `${field} (${map[field]})`))
  const what = lacking.length > 0 ? lacking.join(', ') : 'id, ours or reference'
  return `There is no column of ${what}. Name it with --map, such as amount=…; there are: ${names}`
}

const sizeOf = (at: Columns['at'] | undefined): number => Object.keys(at ?? {}).length

function isWhole(at: Columns['at'], map: ColumnMap): boolean {
  const isNamed = at.id !== undefined || at.ours !== undefined || at.reference !== undefined
  const given = FIELDS.filter((field) => map[field] !== undefined)
  return at.amount !== undefined && isNamed && given.every((field) => at[field] !== undefined)
}

function placesIn(cells: readonly string[], map: ColumnMap): Columns['at'] {
  const folded = cells.map(fold)
  const indexOf = (field: Field): number => {
    const own = map[field]
    if (own !== undefined)
      return cells.indexOf(own) >= 0 ? cells.indexOf(own) : folded.indexOf(fold(own))
    const known = NAMES[field].split(' ').find((name) => folded.includes(name))
    return known === undefined ? -1 : folded.indexOf(known)
  }
  const indexes = FIELDS.map((field) => [field, indexOf(field)] as const)
  return Object.fromEntries(indexes.filter(([, at]) => at >= 0))
}
