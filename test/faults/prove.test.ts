// The whole system with four faults, one after the other. What can be seen from
// outside is recorded and checked. `npm run prove` has all faults, which take a quarter of an hour.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
/** The edge and the sidecar are killed, two ledgers write at once, and a gateway's answers are lost. */
const FAULTS = ['kill-edge', 'two-ledgers', 'kill-sidecar', 'lose-edge-gateway']
/** After each fault it waits until all are current, as long as that takes. */
const ENDS_WITHIN_MS = 1_180_000
type Failed = Error & { stdout: string; stderr: string }

it('faults of each part, brief and one after the other, break no promise', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-history-'))
  const out = join(folder, 'history.jsonl')
  const chosen = FAULTS.flatMap((fault) => ['--fault', fault])
  // Each fault comes once, however long that takes.
  const args = ['tools/prove/run.ts', '--for', '1s', ...chosen, '--out', out]
  // Its processes end with it, also when it is killed.
  const limits = { timeout: ENDS_WITHIN_MS, killSignal: 'SIGKILL' } as const
  const ended = await run(process.execPath, args, limits).catch((error: Failed) => error)
  // Findings name lines of the history, so it is removed only where there are none.
  expect(`${ended.stdout}${ended.stderr}`).toMatch(/lines, 0 findings, seed \d+\n$/)
  await rm(folder, { recursive: true })
}, 1_200_000)
