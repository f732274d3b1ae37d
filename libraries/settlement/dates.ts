// The dates of a settlement file: in which order they are written, and which day each is.

import { fold } from '../../worker/payments/domain/fold.ts'
import { westernDigits } from './amounts.ts'

export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

/** By the beginnings of their names, in the languages that we know the words of. */
const MONTHS = [
  'jan ene gen sty oca',
  'feb fév fev şub lut',
  'mar mär mrz maa mrt',
  'apr avr abr kwi nis',
  'may mai mei maj mag',
  'jun juin giu cze haz',
  'jul juil lug lip tem',
  'aug aoû ago sie ağu',
  'sep set wrz eyl',
  'oct okt ott paź eki',
  'nov lis kas',
  'dec dez déc dic gru ara',
].map((names) => names.split(' ').map(fold))

/** `2026-11-27`. Undefined: it is no date. */
export function dayIn(text: string, order: DateOrder): string | undefined {
  const folded = westernDigits(text).trim()
  const iso =
    /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/.exec(folded) ??
    /^((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)/.exec(folded)
  if (iso) return dayOf(iso[1], iso[2], iso[3])
  const named =
    /^(\d{1,2})(?:\.|st|nd|rd|th)?[ -](?:de )?(\p{L}{3,})\.?[ ,-]+(?:de )?(\d{4})/u.exec(folded)
  if (named) return dayOf(named[3], monthOf(named[2]), named[1])
  const monthFirst = /^(\p{L}{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})/u.exec(folded)
  if (monthFirst) return dayOf(monthFirst[3], monthOf(monthFirst[1]), monthFirst[2])
  const [, first, second, third] =
    /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)/.exec(folded) ??
    /^(\d\d)(\d\d)((?:19|20)\d\d)(?!\d)/.exec(folded) ??
    []
  if (order === 'ymd') return dayOf(yearOf(first), second, third)
  const [day, month] = order === 'dmy' ? [first, second] : [second, first]
  return dayOf(yearOf(third), month, day)
}

const yearOf = (text = ''): string => (text.length === 2 ? `20${text}` : text)

function monthOf(name = ''): string {
  const folded = fold(name)
  return String(MONTHS.findIndex((names) => names.some((it) => folded.startsWith(it))) + 1)
}

function dayOf(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const at = new Date(`${text}T00:00:00Z`)
  // The 31st of June would be another day.
  return Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text) ? undefined : text
}

/** Undefined: the day or the month may come first, and they differ in which days they are. */
export function dateOrderOf(texts: readonly string[]): DateOrder | undefined {
  const read = texts.map((text) => [dayIn(text, 'dmy'), dayIn(text, 'mdy')])
  const countOf = (at: number) => read.filter((values) => values[at] !== undefined).length
  const [dmy, mdy] = [countOf(0), countOf(1)]
  if (dmy !== mdy) return dmy > mdy ? 'dmy' : 'mdy'
  return read.every(([one, other]) => one === other) ? 'dmy' : undefined
}
