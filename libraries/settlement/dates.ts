// The dates of a settlement file: in which order they are written, and which day each is.

export const DATE_ORDERS = ['dmy', 'mdy'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** `2026-11-27`. Undefined: it is no date. */
export function dayIn(text: string, order: DateOrder): string | undefined {
  const folded = text.replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/.exec(folded)
  if (iso) return dayOf(iso[1], iso[2], iso[3])
  const named = /^(\d{1,2})[ -]([A-Za-z]{3})[a-z]*[ ,-]+(\d{4})/.exec(folded)
  if (named) {
    const month = MONTHS.indexOf((named[2] ?? '').toLowerCase()) + 1
    return dayOf(named[3], String(month), named[1])
  }
  const [, first, second, year = ''] =
    /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)/.exec(folded) ?? []
  const [day, month] = order === 'dmy' ? [first, second] : [second, first]
  return dayOf(year.length === 2 ? `20${year}` : year, month, day)
}

function dayOf(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const at = new Date(`${text}T00:00:00Z`)
  // The 31st of June would be another day.
  return Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text) ? undefined : text
}

/** Undefined: both are possible, and differ in which days they are. */
export function dateOrderOf(texts: readonly string[]): DateOrder | undefined {
  const read = texts.map((text) => DATE_ORDERS.map((order) => dayIn(text, order)))
  const countOf = (at: number) => read.filter((values) => values[at] !== undefined).length
  const [dmy, mdy] = [countOf(0), countOf(1)]
  if (dmy !== mdy) return dmy > mdy ? 'dmy' : 'mdy'
  return read.every(([one, other]) => one === other) ? 'dmy' : undefined
}
