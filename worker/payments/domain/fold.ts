// A text as it is found. Pure. The database holds texts that `fold` made: with another `fold`, they
// have to be built anew.

/**
 * A text without what people leave out or write in another way: letters and digits only, of one
 * case, digits as 0 to 9. Marks are left out, too, and each character is folded by itself: so a
 * part of a text is always a part of the folded text.
 */
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    // Only so are the two small sigmas one letter, and the sharp s two.
    .toLowerCase()
    .toUpperCase()
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll(OTHER_LETTER, (letter) => ONE_LETTER[letter] ?? letter)
    .replaceAll(FOREIGN_DIGIT, asciiDigit)

/**
 * One letter for those that keyboards and habits exchange: a name in Arabic, Persian or Kurdish is
 * stored with one of them, and typed with another. And the base of letters with a stroke, which
 * decompose into nothing.
 */
// biome-ignore format: a list to look things up in.
const ONE_LETTER: Readonly<Record<string, string>> = {
  // Tatweel only makes a word longer.
  'ـ': '',
  'ٱ': 'ا',
  'ی': 'ي', 'ى': 'ي', 'ێ': 'ي', 'ې': 'ي', 'ۍ': 'ي', 'ے': 'ي',
  'ک': 'ك', 'ڪ': 'ك',
  'ة': 'ه', 'ە': 'ه', 'ھ': 'ه', 'ہ': 'ه', 'ۃ': 'ه',
  'ۆ': 'و', 'ۇ': 'و', 'ۈ': 'و', 'ۋ': 'و',
  'ڕ': 'ر',
  'ڵ': 'ل',
  Ł: 'L', Ø: 'O', Đ: 'D', Ð: 'D', Æ: 'AE', Œ: 'OE', Ħ: 'H', Ŧ: 'T',
}
const OTHER_LETTER = new RegExp(`[${Object.keys(ONE_LETTER).join('')}]`, 'gu')

const FOREIGN_DIGIT = /[^\P{Nd}0-9]/gu

/** With the digits 0 to 9. */
export const asciiDigits = (text: string): string => text.replaceAll(FOREIGN_DIGIT, asciiDigit)

/** The digits of a script follow each other, from its zero on. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return String((code - zero) % 10)
}
