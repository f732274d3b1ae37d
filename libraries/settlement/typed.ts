// What people type of how a file is read: which column is what, and what words mean.

import { type ColumnMap, FIELDS } from './columns.ts'
import { TAUGHT, type Words } from './words.ts'

/** How a person says how a file is read: in the sentences that ask for it. */
export interface Ways {
  /** `columns`: what is to be said. */
  map(columns: string): string
  columns: string
  decimal: string
  dates: string
  currency: string
  /** Their names alone. */
  mapName: string
  wordsName: string
}

export const OPTIONS: Ways = {
  map: (columns) => `with --map ${columns}`,
  columns: 'with --map',
  decimal: 'with --decimal , or --decimal',
  dates: 'with --dates dmy or --dates mdy',
  currency: 'with --currency',
  mapName: '--map',
  wordsName: '--words',
}

/** Those of the page’s form. */
export const FORM: Ways = {
  map: (columns) => `under “Columns”: ${columns}`,
  columns: 'under “Columns”',
  decimal: 'under “Decimals”: , or',
  dates: 'under “Dates”',
  currency: 'under “Currency”',
  mapName: 'Columns',
  wordsName: 'Words of type or state',
}

/** `id=Bank No, amount=Net`. A sentence: what is wrong. */
export function columnsTyped(text: string, { mapName } = OPTIONS): ColumnMap | string {
  const pairs = pairsIn(text)
  const wrong = pairs.find(({ name, value }) => value === '' || !FIELDS.some((it) => it === name))
  if (wrong) return `${mapName} has ${FIELDS.join('=, ')}=, and not "${wrong.part}".`
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
}

/** `Sale=payment, Vrac=none`. A sentence: what is wrong. */
export function wordsTyped(text: string, { wordsName } = OPTIONS): Words | string {
  const words: Record<string, Words[string]> = {}
  for (const { part, name, value } of pairsIn(text)) {
    const meaning = TAUGHT.find((known) => known === value)
    if (name === '' || !meaning) {
      const means = TAUGHT.join(', ')
      return `${wordsName} has words with ${means}, such as Sale=payment, not "${part}".`
    }
    words[name] = meaning
  }
  return words
}

const pairsIn = (text: string) =>
  text.split(',').map((part) => {
    const at = part.indexOf('=')
    return {
      part,
      name: (at < 0 ? part : part.slice(0, at)).trim(),
      value: at < 0 ? '' : part.slice(at + 1).trim(),
    }
  })
