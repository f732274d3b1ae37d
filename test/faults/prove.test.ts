// The whole house under all faults in turn: what an outsider sees of it is written down and judged.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const ENDS_WITHIN_MS = 280_000
type Failed = Error & { stdout: string; stderr: string }

it('a minute of all faults in turn breaks no promise', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-history-'))
  const out = join(folder, 'history.jsonl')
  const args = ['prove/run.ts', '--for', '60s', '--out', out]
  // Killed, it takes all of its processes with it.
  const limits = { timeout: ENDS_WITHIN_MS, killSignal: 'SIGKILL' } as const
  const ended = await run(process.execPath, args, limits).catch((error: Failed) => error)
  // The findings name lines of the history, which is kept where there are any.
  expect(`${ended.stdout}${ended.stderr}`).toMatch(/lines, 0 findings, seed \d+\n$/)
  await rm(folder, { recursive: true })
}, 300_000)
