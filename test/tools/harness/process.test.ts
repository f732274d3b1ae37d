// A program that is waited for, and ends before it is ready.

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Process } from '../../../tools/harness/process.ts'
import { tempFolder } from '../../support/temp-folder.ts'

it('a process that ends before it is ready is not waited for, and its end is told', async () => {
  const logFile = join(tempFolder(), 'log')
  const args = ['-e', 'process.exit(3)']
  const spec = { name: 'a shop', command: process.execPath, args, env: {}, logFile, graceMs: 0 }
  // Whoever waits for the URL is told that it was not ready in time.
  await expect(new Process(spec, 'http://127.0.0.1:9').start()).rejects.toThrow(
    'a shop ended before it was ready: 3',
  )
})
