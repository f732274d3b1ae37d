// `wrangler dev` of a project, on this machine alone.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { type Child, spawnChild } from '../../tools/start/child.ts'
import type { Edge } from './edge.ts'
import { documentedFetch } from './openapi-operations.ts'

export interface WranglerDev extends Edge {
  /** What it and its Worker printed so far. */
  log(): Promise<string>
  close(): Promise<void>
}

/** It bundles the Worker first, and builds the page where the project says so. */
export const WRANGLER_WAIT_MS = 90_000

/** `home`: keeps its own files away from those of the person who runs the tests. */
export const wranglerEnv = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  CI: 'true',
  // What it would ask the internet for: where this machine stands, whether it is up to date.
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
})

/** `dir`: of the project, whose .dev.vars are the Worker's variables. */
export async function startWranglerDev(dir: string, wrangler: string): Promise<WranglerDev> {
  const logFile = join(dir, 'wrangler.log')
  const flags = ['--ip=127.0.0.1', '--port=0', '--inspector-port=0']
  const child: Child = spawnChild({
    name: 'wrangler',
    command: '/bin/sh',
    args: ['-c', `cd '${dir}' && exec ${wrangler} dev ${flags.join(' ')}`],
    env: wranglerEnv(dir),
    logFile,
    graceMs: 5_000,
  })
  let hasEnded = false
  void child.ended.then(() => {
    hasEnded = true
  })
  const log = () => readFile(logFile, 'utf8')
  const close = async () => {
    child.stop()
    await child.ended
  }
  let origin: string | undefined
  const isUp = async () => {
    origin = /Ready on (http:\/\/127\.0\.0\.1:\d+)/.exec(await log())?.[1]
    return origin !== undefined || hasEnded
  }
  await vi.waitUntil(isUp, { timeout: WRANGLER_WAIT_MS, interval: 50 }).catch(() => undefined)
  if (origin === undefined) {
    await close()
    throw new Error(await log())
  }
  return { origin, fetch: documentedFetch(origin), log, close }
}
