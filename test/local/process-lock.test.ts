import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeLock } from '../../local/process-lock.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-lock-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** A pid that no process has: past the largest that the system gives out. */
const NOBODY = 2 ** 22 + 1

describe('the lock of a data folder', () => {
  it('has one holder until it is released', async () => {
    const file = join(dir, 'lock')
    const first = await takeLock(file)
    expect(await takeLock(file)).toEqual({ ok: false, pid: process.pid })
    if (first.ok) await first.release()
    expect(await takeLock(file)).toMatchObject({ ok: true, inherited: false })
  })

  it.each([
    ['a process that is gone', JSON.stringify({ pid: NOBODY, born: '1' })],
    ['an earlier process with the same pid', JSON.stringify({ pid: process.pid, born: '1' })],
    ['an unreadable file', 'not ours'],
    ['an empty file', ''],
  ])('is inherited from %s, and no other file is left', async (_, text) => {
    const file = join(dir, 'lock')
    await writeFile(file, text)
    expect(await takeLock(file)).toMatchObject({ ok: true, inherited: true })
    expect(await readdir(dir)).toEqual(['lock'])
  })
})
