// The sidecar, run as an operator runs it: its command line, the token in its environment.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChildSpec } from './child.ts'
import { StartError } from './start-error.ts'
import { type Patience, tryFetch, until } from './until.ts'

export interface SidecarPlan {
  home: string
  storeDir: string
  followsLinks?: boolean
  cacheDir: string
  edge: string
  repo: string
  token: string
  env: Readonly<Record<string, string>>
  logFile: string
}

export function sidecarProcess(plan: SidecarPlan): ChildSpec {
  return {
    name: 'sidecar',
    command: process.execPath,
    args: [
      join(plan.home, 'cli/signalbox.ts'),
      'watch',
      plan.storeDir,
      `--edge=${plan.edge}`,
      `--repo=${plan.repo}`,
      `--cache=${plan.cacheDir}`,
      '--log=json',
      // One that is started again while the board is away waits for it, and gives nothing up.
      '--wait',
      ...(plan.followsLinks ? ['--follow-links'] : []),
    ],
    env: { ...plan.env, SIGNALBOX_TOKEN: plan.token },
    logFile: plan.logFile,
    // It publishes what is pending before it ends.
    graceMs: 5_000,
  }
}

export interface BoardQuestion {
  edge: string
  repo: string
  /** Of the scope board:read. */
  token: string
  sidecarLog: string
}

/**
 * The board can be read, and matches the files: the sidecar reports this after its first sync. The
 * edge's answer alone could be the board of the last run.
 */
export async function boardReady(question: BoardQuestion, patience: Patience): Promise<void> {
  await until(() => hasLogged(question.sidecarLog, 'sidecar.ready'), patience)
  const url = new URL('/api/status', question.edge)
  url.searchParams.set('path', question.repo)
  const headers = { authorization: `Bearer ${question.token}` }
  await until(async (signal) => {
    const answer = await tryFetch(url, { headers, signal })
    if (answer && answer.status !== 200 && answer.status !== 404) {
      const why = `The edge answers ${answer.status} to the board's own token`
      throw new StartError('bad_configuration', `${why}: ${await answer.text()}`)
    }
    await answer?.body?.cancel()
    return answer?.status === 200
  }, patience)
}

async function hasLogged(file: string, event: string): Promise<boolean> {
  const log = await readFile(file, 'utf8').catch(() => '')
  return log.includes(`"event":"${event}"`)
}
