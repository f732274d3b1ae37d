import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSimpleYaml } from '../../../sidecar/layouts/plain-yaml.ts'
import { readAnyYaml, readYamlMap } from '../../../sidecar/layouts/yaml.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const USUAL = `id: T-1
title: 'It''s a title: with a colon'
status: in_progress
rank: !!float 2
count: 12
version: 1.10
empty:
labels: [bug, "two words", 3]
deps:
  - T-2
  - 'T-3'
checks:
  - desc: builds (twice)
    cmd: make check
    cwd: .
    timeout: 30
provenance:
  - {who: 'agent:a', at: '2026-06-22T13:31:58Z', did: created}
  - {who: 'human:b', at: '2026-06-22T13:32:03Z', did: note, text: "two\\nlines, \\"quoted\\""}
assignee: agent:a
`

test('reads what tools usually write', () => {
  expect(Object.fromEntries(readSimpleYaml(USUAL) ?? [])).toEqual({
    id: 'T-1',
    title: "It's a title: with a colon",
    status: 'in_progress',
    rank: 2,
    count: 12,
    version: '1.10',
    empty: null,
    labels: ['bug', 'two words', 3],
    deps: ['T-2', 'T-3'],
    checks: [{ desc: 'builds (twice)', cmd: 'make check', cwd: '.', timeout: 30 }],
    provenance: [
      { who: 'agent:a', at: '2026-06-22T13:31:58Z', did: 'created' },
      { who: 'human:b', at: '2026-06-22T13:32:03Z', did: 'note', text: 'two\nlines, "quoted"' },
    ],
    assignee: 'agent:a',
  })
})

test.each([
  ['a comment', 'a: b # c\n'],
  ['an empty line', 'a: b\n\nc: d\n'],
  ['a value that goes on', 'a: b\n  c\n'],
  ['a block text', 'a: |\n  b\n'],
  ['two colons', 'a: b: c\n'],
  ['a tab', 'a: b\t# c\n'],
  ['a CR', 'a: b\r\n'],
  ['an anchor', 'a: &b c\n'],
  ['two equal keys', 'a: 1\na: 2\n'],
  ['a name with @', 'a: @b\n'],
  ['a map in a map', 'a:\n  b: c\n'],
])('leaves %s to the package', (_, text) => {
  expect(readSimpleYaml(text)).toBeUndefined()
})

test('never reads anything otherwise than the package does', () => {
  const lines = USUAL.split('\n')
  const piece = fc.constantFrom(
    ' ',
    '\n',
    ':',
    ': ',
    '- ',
    "'",
    '"',
    '#',
    ' #',
    ',',
    ', ',
    '{',
    '}',
    '[',
    ']',
    '@',
    '&',
    '*',
    '!',
    '|',
    '>',
    '%',
    '\t',
    '\r',
    '?',
    '~',
    'x',
    '1',
    '.',
    '---',
    '...',
    '\\',
    '\n  ',
    '\n- ',
    '\u2028',
    '\u0085',
    '\ufeff',
    '\x01',
    '\u00a0',
    '__proto__',
    '<<',
    '=',
  )
  const edit = fc.record({
    at: fc.nat(400),
    remove: fc.nat(3),
    insert: fc.oneof(piece, fc.constant('')),
  })
  const range = fc.tuple(fc.nat(lines.length), fc.integer({ min: 1, max: 6 }))
  let compared = 0
  fc.assert(
    fc.property(range, fc.array(edit, { maxLength: 3 }), ([from, count], edits) => {
      let text = lines.slice(from, from + count).join('\n')
      for (const { at, remove, insert } of edits) {
        const place = text.length === 0 ? 0 : at % text.length
        text = text.slice(0, place) + insert + text.slice(place + remove)
      }
      const simple = readSimpleYaml(text)
      if (simple === undefined) return
      compared++
      const any = readAnyYaml(text)
      expect(any).toEqual({ ok: true, fields: simple, problems: [] })
      expect(any.ok && [...any.fields.keys()]).toEqual([...simple.keys()])
    }),
    { numRuns: 5_000 },
  )
  expect(compared).toBeGreaterThan(500)
})

test.each([
  ['brackets', `a: ${'['.repeat((256 << 10) - 3)}`],
  ['maps', `a: ${'{a: '.repeat((256 << 10) / 4 - 1)}`],
  ['commas', `a: [${','.repeat((256 << 10) - 4)}`],
  ['aliases', `a: &a b\nc: [${'*a, '.repeat((256 << 10) / 4 - 4)}`],
])('256 KiB of %s are refused at once, with a sentence', async (_name, text) => {
  const why = 'it is larger than 32 KiB, and more than plain keys with values and lists'
  const refused = () => expect(readYamlMap(text)).toEqual({ ok: false, why })
  // Parsing them takes up to 1.3 s.
  expect(await cpuMs(refused)).toBeLessThan(300)
})

test('a large file of the usual form is read whole', () => {
  const text = Array.from({ length: 6_000 }, (_, n) => `key${n}: "a value of it"`).join('\n')
  expect(text.length).toBeGreaterThan(100 << 10)
  expect(readYamlMap(text)).toMatchObject({ ok: true, fields: { size: 6_000 } })
})

const ALL = 32 << 10
const DENSE = 'it has more than 4096 brackets, commas, colons and the like'

test.each([
  ['open brackets', `a: ${'['.repeat(ALL - 3)}`, 'it is nested more than 64 deep'],
  ['open maps', `a: ${'{a: '.repeat(ALL / 4 - 1)}`, 'it is nested more than 64 deep'],
  ['pairs', `a: [${':,'.repeat(ALL / 2 - 3)}]`, DENSE],
  ['lists', `a: [${`${'['.repeat(20)}${']'.repeat(20)},`.repeat(ALL / 41 - 1)}]`, DENSE],
  ['folded texts', `a: ${'>\n'.repeat(ALL / 2 - 2)}`, DENSE],
  ['aliases', `a: ${'*\n'.repeat(ALL / 2 - 2)}`, DENSE],
])('32 KiB of %s are refused before they are parsed', async (_name, text, why) => {
  expect(text.length).toBeLessThanOrEqual(ALL)
  const refused = () => expect(readYamlMap(text)).toEqual({ ok: false, why })
  expect(await cpuMs(refused)).toBeLessThan(300)
})

test('many lists and maps on one line, as people write them, are read', () => {
  const text = Array.from({ length: 350 }, (_, n) => `k${n}: {a: [1, "two"], b: *x} # list\n`).join(
    '',
  )
  expect(text.length).toBeLessThan(ALL)
  expect(readYamlMap(`x: &x [1]\n${text}`)).toMatchObject({ ok: true, fields: { size: 351 } })
})
