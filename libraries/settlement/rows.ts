// Which rows of a settlement file are money, by their words of type and state; and which are left
// out, or not understood.

import type { SettledRow } from '../../worker/payments/domain/types.ts'
import type { AmountText } from './amounts.ts'
import type { Column } from './columns.ts'
import {
  isOwnMovement,
  isPaidState,
  type Kind,
  kindOf,
  type OwnKind,
  ownKindOf,
  taughtOf,
  type Words,
} from './words.ts'

/** Undefined where the row has nothing there. */
export type Cells = Partial<Record<Column, string>>

/** `text`, `currency`: of its amount. */
export interface Row extends AmountText {
  line: number
  cells: Cells
  /** Of a row without a name: columns that are none of ours, such as a description. */
  texts: readonly string[]
  isBroken: boolean
}

export type MoneyType = Exclude<SettledRow['type'], 'unknown_word'>

export interface UnknownWord {
  line: number
  word: string
  column: 'type' | 'status'
  row: Row
}

export interface Classed {
  /** `kind` undefined: the sign of its amount decides. */
  money: (Row & { kind: MoneyType | undefined })[]
  /** `isReturned`: the money came back. */
  chargebacks: (Row & { isReturned: boolean })[]
  unknown: UnknownWord[]
  /** Their money did not come. */
  unpaid: Row[]
  /** Fees and payouts, which are left out of the comparison, with sums. */
  own: (Row & { kind: OwnKind })[]
  skipped: number
}

export function classify(rows: readonly Row[], words: Words): Classed {
  const classed: Classed = {
    money: [],
    chargebacks: [],
    unknown: [],
    unpaid: [],
    own: [],
    skipped: 0,
  }
  const read = readerOf(words)
  const failed: Row[] = []
  for (const row of rows) {
    const { type = '', status = '' } = row.cells
    const kind = type === '' ? read.method(row.cells.method) : read.type(type)
    const isPaid = status === '' ? true : read.state(status)
    if (isTotal(row) || kind === 'none' || isPaid === 'none' || isCost(row)) {
      classed.skipped++
      const own = isTotal(row) ? undefined : isCost(row) ? 'fee' : ownKindOf(type)
      if (own) classed.own.push({ ...row, kind: own })
    } else if (kind === null) {
      classed.unknown.push({ line: row.line, word: type, column: 'type', row })
    } else if (kind === 'chargeback') {
      classed.chargebacks.push({ ...row, isReturned: RETURNED.test(`${type} ${status}`) })
    } else if (isPaid === null) {
      classed.unknown.push({ line: row.line, word: status, column: 'status', row })
    } else if (kind === 'payment_failed') failed.push(row)
    else if (isPaid) {
      classed.money.push({ ...row, kind: kind ?? (isPaid === true ? undefined : isPaid) })
    } else classed.unpaid.push(row)
  }
  return withoutFailed(classed, failed)
}

/** Null: it is in no list. Each word is looked up once. */
function readerOf(words: Words) {
  const once = <Answer>(find: (text: string) => Answer) => {
    const known = new Map<string, Answer>()
    return (text: string): Answer => {
      if (!known.has(text)) known.set(text, find(text))
      return known.get(text) as Answer
    }
  }
  const type = once((text): Kind | null => kindOf(text, words) ?? null)
  const state = once((text) => taughtOf(text, words) ?? isPaidState(text) ?? null)
  return {
    type,
    state,
    /** A way of paying is no type: only a refund or a chargeback is one. */
    method(text = ''): Kind | undefined {
      const kind = text === '' ? undefined : (type(text) ?? undefined)
      return kind === 'payment' || kind === 'none' || kind === 'payment_failed' ? undefined : kind
    },
  }
}

const RETURNED = /revers|returned|\bwon\b|gewonnen|gagné|ganad/i

/** A charge that failed later takes its own row back: neither came. */
function withoutFailed(classed: Classed, failed: readonly Row[]): Classed {
  if (failed.length === 0) return classed
  const left = Map.groupBy(failed, keyOf)
  const money = classed.money.filter((row) => {
    const taken = row.kind === 'refund' ? undefined : left.get(keyOf(row))?.shift()
    if (taken) classed.unpaid.push(row)
    return !taken
  })
  return { ...classed, money, unpaid: [...classed.unpaid, ...failed] }
}

const keyOf = ({ cells: { id, ours, reference }, text, currency }: Row): string =>
  JSON.stringify([ours ?? id ?? reference, text.replace(/^-/, ''), currency])

const TOTAL =
  /^(grand |sub)?-?(totals?|sums?|summe|المجموع|الإجمالي|إجمالي)\b|^(المجموع|الإجمالي|إجمالي)/i

const namesIn = ({ cells: { id, ours, reference, refund } }: Row): string[] =>
  [id, ours, reference, refund].filter((name) => name !== undefined)

/** It names no payment, and says that it is a sum. */
const isTotal = (row: Row): boolean =>
  namesIn(row).every((name) => TOTAL.test(name)) &&
  [...Object.values(row.cells), ...row.texts].some((text) => TOTAL.test(text))

/** It names no payment, and is described as a cost: "Withheld fees MOL-2026.1". */
const isCost = (row: Row): boolean =>
  namesIn(row).length === 0 &&
  row.texts.some((text) => isOwnMovement(text, /^\D*[-\u2212(]/.test(row.text)))
