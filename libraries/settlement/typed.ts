// What people type of how a file is read: which column is what, and what words mean.

import { type ColumnMap, FIELDS } from './columns.ts'
import { TAUGHT, type Words } from './words.ts'

/** `id=Bank No, amount=Net`. A sentence: what is wrong. */
export function columnsTyped(text: string): ColumnMap | string {
  const pairs = pairsIn(text)
  const wrong = pairs.find(({ name, value }) => value === '' || !FIELDS.some((it) => it === name))
  if (wrong) return `--map has ${FIELDS.join('=, ')}=, and not "${wrong.part}".`
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
}

/** `Sale=payment, Vrac=none`. A sentence: what is wrong. */
export function wordsTyped(text: string): Words | string {
  const words: Record<string, Words[string]> = {}
  for (const { part, name, value } of pairsIn(text)) {
    const meaning = TAUGHT.find((known) => known === value)
    if (name === '' || !meaning) {
      return `--words has words with ${TAUGHT.join(', ')}, such as Sale=payment, not "${part}".`
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
