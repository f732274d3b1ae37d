// A plain YAML scalar as a value. No I/O.

export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain }

/** A number only where the number reads back as the same text: `1.10` and `007` stay text. */
export function plainScalar(text: string): null | boolean | number | string {
  if (text === '' || text === '~' || text === 'null') return null
  if (text === 'true') return true
  if (text === 'false') return false
  const number = Number(text)
  return Number.isFinite(number) && String(number) === text ? number : text
}
