import { expect, test } from 'vitest'
import { createLog } from '../../sidecar/log.ts'

function logged(format: 'json' | 'pretty', fields: Record<string, unknown>): string {
  const lines: string[] = []
  createLog(
    format,
    (line) => lines.push(line),
    'info',
    () => 0,
  )('info', 'it.happened', fields)
  return lines.join('')
}

test('an event is one line of JSON', () => {
  expect(logged('json', { files: 3, why: 'a\nb' })).toBe(
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","event":"it.happened","files":3,"why":"a\\nb"}\n',
  )
})

test('for people it is one line of words', () => {
  expect(logged('pretty', { files: 3, code: undefined })).toBe(
    '00:00:00 info  it.happened files=3\n',
  )
})

test('for people, a name cannot rewrite what the terminal shows', () => {
  expect(logged('pretty', { path: 'a\u001b[2J\n\u009b\u202eb' })).toBe(
    '00:00:00 info  it.happened path=a\\u{1b}[2J\\u{a}\\u{9b}\\u{202e}b\n',
  )
})

test('a secret does not reach the log by its name, nor inside a text or an error', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2VjcmV0'
  const line = logged('json', {
    token: 'hush',
    apiKey: 'hush',
    headers: { Authorization: 'hush', 'x-signature': ['hush'] },
    why: `sent ${jwt} and Bearer hush`,
    error: new Error(jwt),
  })
  expect(line).not.toContain('hush')
  expect(line).not.toContain(jwt)
})

test('a word that only holds the name of a secret is not hidden', () => {
  expect(logged('json', { mapping: 'shown', monkeys: 1 })).toContain(
    '"mapping":"shown","monkeys":1',
  )
})
