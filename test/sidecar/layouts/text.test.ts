import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFrontMatter } from '../../../sidecar/layouts/text.ts'
import { TEXT_BYTES } from '../../../worker/board/wire.ts'

const read = (text: string) => {
  const { fields, body, invalid } = readFrontMatter(text)
  return { rest: fields.rest(), problems: fields.problems, body, invalid }
}

test.each([
  ['CRLF line ends', '---\r\na: b\r\n---\r\nbody\r\n', 'body\r\n'],
  ['a byte order mark', '\ufeff---\na: b\n---\nbody', 'body'],
  ['spaces after the fences', '--- \na: b\n---\t\nbody', 'body'],
  ['no body', '---\na: b\n---', ''],
])('reads a file with %s', (_, text, body) => {
  expect(read(text)).toEqual({ rest: { a: 'b' }, problems: [], body, invalid: undefined })
})

test.each([
  ['an empty file', '', 'The file is empty.'],
  ['a file of spaces', ' \n\n', 'The file is empty.'],
  ['a binary file', '---\n\0\n---\n', 'NUL'],
  ['no front matter', '# Title\n', 'does not begin with'],
  ['an unterminated fence', '---\na: b\n', 'no closing'],
  ['a fence that is longer', '---\na: b\n----\n', 'no closing'],
  ['a tab for indentation', '---\na:\n\t- b\n---\n', 'line 3'],
  ['two colons', '---\ntitle: Fix: it\n---\n', 'line 2'],
  ['an open quote', '---\na: "b\n---\n', 'YAML'],
  ['a list', '---\n- a\n---\n', 'mapping'],
  ['an unknown alias', '---\na: *b\n---\n', 'alias'],
  ['a large front matter', `---\na: ${'x'.repeat(300_000)}\n---\n`, '256 KiB'],
  ['deep flow lists', `---\na: ${'['.repeat(20_000)}\n---\n`, 'deep'],
  ['deep block lists', `---\na:\n${'- '.repeat(2_000)}x\n---\n`, 'deep'],
])('says of %s what is wrong', (_, text, why) => {
  const { invalid, rest } = read(text)
  expect(invalid).toContain(why)
  expect(invalid).toMatch(/^The .*\.$/)
  expect(rest).toBeUndefined()
})

test('shows the body of a file whose front matter is broken', () => {
  expect(read('---\na: [\n---\nbody\n').body).toBe('body\n')
  expect(read('no fence\n').body).toBe('no fence\n')
})

test('keeps the first of two equal keys, and says so', () => {
  const { rest, problems } = read('---\na: 1\na: 2\n---\n')
  expect(rest).toEqual({ a: 1 })
  expect(problems).toEqual(['the key "a" stands there twice'])
})

test('never changes a scalar by reading it', () => {
  const text = '---\na: 1.10\nb: 007\nc: 1e3\nd: 12345678901234567890\ne: yes\nf: 2026-01-02\n---\n'
  expect(read(text).rest).toEqual({
    a: '1.10',
    b: '007',
    c: '1e3',
    d: '12345678901234567890',
    e: 'yes',
    f: '2026-01-02',
  })
})

test('expands aliases, but not to more than a file may hold', () => {
  expect(read('---\na: &x [1, 2]\nb: *x\n---\n').rest).toEqual({ a: [1, 2], b: [1, 2] })
  const laughs = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}]`)
  expect(read(`---\nl0: &l0 ha\n${laughs.join('\n')}\n---\n`).invalid).toContain('expand')
  const long = (times: number) => `a: &x ${'y'.repeat(20_000)}\nb: [${'*x, '.repeat(times)}]`
  expect(read(`---\n${long(13)}\n---\n`).invalid).toBeUndefined()
  expect(read(`---\n${long(14)}\n---\n`).invalid).toContain('expand')
  expect(read('---\na: &x [*x]\n---\n').invalid).toContain('deep')
})

test('is not fooled by __proto__', () => {
  const { rest } = read('---\n__proto__: {polluted: 1}\na: {__proto__: {polluted: 1}}\n---\n')
  expect(rest).toEqual({ a: {} })
  expect(Object.getPrototypeOf(rest?.a)).toBe(Object.prototype)
})

test('cuts a long body between characters, and says so in its last line', () => {
  const { body = '' } = read(`---\na: b\n---\nx${'€'.repeat(1 << 20)}`)
  const lines = body.split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^x€+$/)
  expect(TEXT_BYTES - Buffer.byteLength(lines[0] ?? '')).toBeLessThan(3)
  expect(lines[1]).toBe('[signalbox: cut at 512 KiB of 3.0 MiB]')
  const exact = 'a'.repeat(TEXT_BYTES)
  expect(read(`---\na: b\n---\n${exact}`).body).toBe(exact)
})

test('never throws, whatever stands in the file', () => {
  const piece = fc.constantFrom(
    '---',
    '\n',
    '\r',
    ': ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '"',
    "'",
    '|',
    '>',
    '&a',
    '*a',
    '!!',
    '@',
    '%',
    '?',
    '#',
    '\t',
    ' ',
    'key',
    '__proto__',
    '\u2028',
    '\ud800',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      const result = read(`---\n${pieces.join('')}\n---\n`)
      expect(() => JSON.stringify(result)).not.toThrow()
    }),
    { numRuns: 500 },
  )
})
