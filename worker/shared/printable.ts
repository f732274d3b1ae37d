// Texts of others in one line: a name or a title could forge lines of a log, and rewrite what a
// terminal or a page shows.

/** Controls (C0, C1), line breaks, and what turns the direction of a text. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) === -1

const escaped = (it: string): string => `\\u{${it.codePointAt(0)?.toString(16)}}`

/** What is not ours, on one line. */
export const printable = (text: string): string => text.replaceAll(UNPRINTABLE, escaped)

/** The same of a text of several lines. */
export const printableLines = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNPRINTABLE, (it) => (it === '\n' || it === '\t' ? it : escaped(it)))

/** In JSON, which escapes C0 alone. */
export const jsonText = (value: unknown, replacer?: (key: string, value: unknown) => unknown) =>
  JSON.stringify(value, replacer).replaceAll(
    UNPRINTABLE,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
