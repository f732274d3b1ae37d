// What the processes of one test run compile, they share: a sidecar's start costs 0.4 s of CPU
// with its types to take out, and 0.1 s without; an edge's under Deno 0.7 s and 0.25 s.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Vitest calls it once a run, before the first test. The folder is gone after the last one. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-run-'))
  process.env.NODE_COMPILE_CACHE = join(dir, 'node')
  process.env.DENO_DIR = join(dir, 'deno')
  return () => rm(dir, { recursive: true, force: true, maxRetries: 5 })
}

/** All that a program of a test gets of our environment, and a home folder of its own. */
export function programEnv(home: string): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE, DENO_DIR } = process.env
  return {
    ...{ PATH, HOME: home },
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    ...(DENO_DIR !== undefined && { DENO_DIR }),
  }
}
