// docs/remedies.md has what to do for every code, and no other: one that is added without it would
// leave whoever meets it alone.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as exits from '../../cli/exit-codes.ts'
import { PASSING } from '../../cli/program.ts'
import { UsageError } from '../../cli/usage.ts'
import { STORE_ERRORS } from '../../sidecar/layouts/registry.ts'
import { MIGRATION_ERRORS } from '../../system/database/migrate.ts'
import { START_ERRORS } from '../../system/start-error.ts'
import { codeOf, type Reason, STATUS_OF } from '../../worker/shared/problem.ts'
import { SecretFileError } from '../../worker/shared/secret-files-node.ts'

const page = readFileSync('docs/remedies.md', 'utf8')

/** The cells of the rows of a section, without the back-ticks. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| |\s*\|$/g, '').trim()))
}
const bare = (cell = '') => cell.replaceAll('`', '')

it('It has each code of an answer with its status, in the order of the code', () => {
  const rows = rowsOf('An answer with a code')
  expect(rows.map(([status, code]) => [bare(code), Number(bare(status))])).toEqual(
    Object.entries(STATUS_OF).map(([reason, status]) => [codeOf(reason as Reason), status]),
  )
})

it('It has each kind of a failed start, with the exit code that it has', () => {
  const exitOf = (code: string) => (PASSING.some((passing) => passing === code) ? 1 : 2)
  const started = ['usage', 'bad_secret_file', ...START_ERRORS, ...STORE_ERRORS]
  expect(started).toEqual(
    expect.arrayContaining([new UsageError('').code, new SecretFileError('').code]),
  )
  const expected = [
    ...started.map((code) => [code, exitOf(code)]),
    ...MIGRATION_ERRORS.map((code) => [code, exits.FAILED]),
  ]
  const rows = rowsOf('A start that failed').map(([kind, exit]) => [bare(kind), Number(bare(exit))])
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
  expect(rows).toHaveLength(expected.length)
})

it('It has each exit code', () => {
  const { FAILED, USAGE, TIMED_OUT, NOT_OURS } = exits
  const rows = rowsOf('Exit codes').map(([exit]) => Number(bare(exit)))
  expect(rows).toEqual([0, FAILED, USAGE, TIMED_OUT, NOT_OURS])
})

it('It says what each means, and what to do', () => {
  const rows = ['An answer with a code', 'A start that failed', 'Exit codes'].flatMap(rowsOf)
  expect(rows.length).toBeGreaterThan(70)
  for (const [first, ...cells] of rows) {
    expect([first, cells.every((cell) => cell.length > 0)]).toEqual([first, true])
  }
})
