// The language of the page, and the texts that several folders share. The other texts are in the
// words.ts beside their components, or in the folder above. Another language needs only other files
// of this name. CSS uses logical properties, so that `direction` can be `rtl`.

export const locale = 'en'
export const direction: 'ltr' | 'rtl' = 'ltr'

const plural = new Intl.PluralRules(locale)
export const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString(locale)} ${plural.select(n) === 'one' ? one : other}`
export const list = (items: readonly string[]): string =>
  new Intl.ListFormat(locale, { type: 'conjunction' }).format(items)

export const words = {
  product: 'Signalbox',
  loading: 'Loading…',
  close: 'Close',
  justNow: 'just now',
  noAnswer: 'The edge does not answer.',
  quote: (text: string) => `“${text}”`,
} as const
