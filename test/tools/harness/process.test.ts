// A program that is waited for, and ends before it is ready.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Process } from '../../../tools/harness/process.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const TAKES_MS = 10_000

describe('a process that ends before it is ready', () => {
  it('is not waited for any longer, and its end is told', async () => {
    const logFile = join(tempFolder(), 'log')
    const args = ['-e', 'process.exit(3)']
    const spec = { name: 'a shop', command: process.execPath, args, env: {}, logFile, graceMs: 0 }
    const startedAt = performance.now()
    await expect(new Process(spec, 'http://127.0.0.1:9').start()).rejects.toThrow(
      'a shop ended before it was ready: 3',
    )
    expect(performance.now() - startedAt).toBeLessThan(TAKES_MS)
  })
})
