// The two commands, as a stranger uses them: what they say, and how they end.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPlan, UsageError } from '../../../tools/prove/plan.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { goodHistory, textOf } from './good-history.ts'

const run = promisify(execFile)

interface Ended {
  code: number
  stdout: string
  stderr: string
}

const command =
  (file: string) =>
  (...args: string[]): Promise<Ended> =>
    run(process.execPath, [file, ...args]).then(
      (ended) => ({ code: 0, ...ended }),
      (error: Ended) => error,
    )

/** Only what is stored has events. */
const isStored = (transaction: unknown, id: string): boolean => {
  const stored = (transaction ?? {}) as { id?: string; events?: unknown }
  return stored.id === id && stored.events !== undefined
}

let folder: string
beforeAll(() => {
  folder = tempFolder()
})

describe('npm run check-history', () => {
  const check = command('tools/prove/check-history.ts')

  it('says what it found, and fails by it', async () => {
    const file = join(folder, 'history.jsonl')
    await writeFile(file, textOf(goodHistory()))
    expect(await check(file)).toMatchObject({ code: 0, stdout: '0 findings\n' })

    const lines = goodHistory().filter(({ kind }) => kind !== 'alert')
    await writeFile(file, textOf(lines))
    const line = 1 + lines.findIndex(({ transaction }) => isStored(transaction, 'tx-2'))
    const what = 'tx-2: 9000 IQD came in instead of 10000 IQD, without an alert'
    expect(await check(file)).toMatchObject({
      code: 1,
      stdout: `line ${line}: (e) ${what}\n1 findings\n`,
    })
  })

  it('says so of a file that is missing, is a folder, or is cut off in a line', async () => {
    const missing = join(folder, 'missing.jsonl')
    expect(await check(missing)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^.*missing\.jsonl cannot be checked: ENOENT.*\n$/),
    })
    expect(await check(folder)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^.* cannot be checked: EISDIR.*\n$/),
    })
    const torn = join(folder, 'torn.jsonl')
    await writeFile(torn, textOf(goodHistory()).slice(0, -5))
    expect(await check(torn)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        / cannot be checked: line \d+ is not JSON: .* cut off or damaged\n$/,
      ),
    })
  })

  it('says how it is used', async () => {
    const usage = 'usage: npm run check-history FILE\n'
    expect(await check()).toMatchObject({ code: 2, stdout: '', stderr: usage })
  })
})

describe('npm run prove', () => {
  it.each([
    ['There is no fault kill-everything on workerd.', ['--fault', 'kill-everything']],
    ['There is no fault none on workerd.', ['--fault', 'none', '--fault', 'kill-edge']],
    ['There is no fault evict-ledger on deno.', ['--fault', 'evict-ledger', '--host', 'deno']],
    ['There is no fault kill-database on node.', ['--fault', 'kill-database', '--host', 'node']],
    ['There is no fault lock-database on deno.', ['--fault', 'lock-database', '--host', 'deno']],
    ['There is no host bun.', ['--host', 'bun']],
    ['--for 1h is no time such as 60s or 10m.', ['--for', '1h']],
    ['--for 0s is no time such as 60s or 10m.', ['--for', '0s']],
    ['--seed x is no integer from 0 to 4294967295.', ['--seed', 'x']],
    ['--seed  is no integer from 0 to 4294967295.', ['--seed', '']],
    ["Unknown option '--sed'", ['--sed', '7']],
    ["Unexpected argument 'kill-edge'", ['kill-edge']],
  ])('refuses wrong options: %s', (sentence, args) => {
    expect(() => readPlan(args)).toThrow(UsageError)
    expect(() => readPlan(args)).toThrow(sentence)
  })

  it('runs all faults of a host unless some are named, or none', () => {
    expect(readPlan(['--host', 'deno']).faults).not.toContain('evict-ledger')
    expect(readPlan([]).faults).toContain('evict-ledger')
    expect(readPlan(['--fault', 'kill-edge', '--for', '2m'])).toMatchObject({
      faults: ['kill-edge'],
      forMs: 120_000,
    })
    expect(readPlan(['--fault', 'none']).faults).toEqual([])
  })

  it('says before anything starts what is wrong, and how it is used', async () => {
    const { code, stdout, stderr } = await command('tools/prove/run.ts')('--for', 'ever')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^--for ever is no time such as 60s or 10m\.\n\nusage: npm run prove -- /,
    )
  })
})
