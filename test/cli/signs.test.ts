// What shows that somebody works on a claim.

import { spawn } from 'node:child_process'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cpuTime, Signs } from '../../cli/claim/signs.ts'
import { tempFolder } from '../support/temp-folder.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const at = (ms: number) => ({ activeAt: new Date(ms).toISOString() })
const worker = { claim: 'a', pid: 1 }

it('a process that has computed since the last look works; one that only redraws does not', async () => {
  let ms = 5_000
  const signs = new Signs(() => ms)
  expect(await signs.last(worker, NOW)).toEqual({})
  ms += 600
  expect(await signs.last(worker, NOW + 60_000)).toEqual({})
  ms += 601
  expect(await signs.last(worker, NOW + 120_000)).toEqual(at(NOW + 120_000))
  // Its children went to another parent.
  ms = 100
  expect(await signs.last(worker, NOW + 180_000)).toEqual({})
  expect(await signs.last({ ...worker, claim: 'b' }, NOW)).toEqual({})
})

it('a move of HEAD or the index, and a command of its own, are signs of their time', async () => {
  const gitFolder = tempFolder()
  mkdirSync(join(gitFolder, 'logs'))
  const file = join(gitFolder, 'claim.json')
  const signs = new Signs(() => undefined)
  const touch = (path: string, ms: number) => {
    writeFileSync(path, '')
    utimesSync(path, ms / 1_000, ms / 1_000)
  }
  expect(await signs.last({ ...worker, gitFolder, file }, NOW)).toEqual({})
  const names = [file, ...['HEAD', 'index', 'logs/HEAD'].map((name) => join(gitFolder, name))]
  for (const [n, path] of names.entries()) {
    touch(path, NOW - 10_000 + n * 1_000)
    expect(await signs.last({ ...worker, gitFolder, file }, NOW)).toEqual(
      at(NOW - 10_000 + n * 1_000),
    )
  }
  expect(await signs.last({ ...worker, gitFolder: join(gitFolder, 'gone') }, NOW)).toEqual({})
})

it('what a command below a shell computes is the shell’s', async () => {
  const [resting, working] = ['sleep 60', 'sh -c "while :; do :; done"'].map((command) => {
    const { pid = 0 } = spawn('sh', ['-c', `${command}; :`], { detached: true, stdio: 'ignore' })
    // The shell, and what it runs.
    onTestFinished(() => void process.kill(-pid, 'SIGKILL'))
    return pid
  }) as [number, number]
  await expect.poll(() => cpuTime(working)).toBeGreaterThan(100)
  expect(cpuTime(resting)).toBeLessThan(100)
  expect(cpuTime(2 ** 22 + 1)).toBeUndefined()
})
