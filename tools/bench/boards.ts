// What it costs to publish many boards: the sidecars of all in one process, or a process for each.
// The edge is another process, the same for both.

import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { createTokens } from '../../worker/shared/tokens.ts'
import { type Child, startNode } from './child.ts'
import { cpuMsOf, memoryOf, ownMiBOf } from './proc.ts'
import { percentile, rounded } from './statistics.ts'

export type Way = 'one process' | 'a process for each'

export interface BoardsPlan {
  way: Way
  /** The folder that holds them. */
  dir: string
  /** Their folders, in it. */
  boards: readonly string[]
  /** For what the edge and the sidecars keep; empty at the beginning. */
  workDir: string
  /** Starts with nothing changed since the last one. */
  warmStarts: number
  settleMs: number
  idleMs: number
}

export interface BoardsRow {
  way: Way
  boards: number
  /** From the start of the processes until the edge has all boards; the first time, all are sent. */
  coldReadyMs: number
  readyMs: number[]
  readyMedianMs: number
  /** Of all processes, with what they share counted once. */
  memoryMiB: number
  /** Resident, added up. */
  rssMiB: number
  idleMs: number
  /** Of one core. */
  cpuPercent: number
}

const SIGNALBOX = resolve(import.meta.dirname, '../../cli/bin.js')
const AUTH_SECRETS = 'of-a-benchmark-that-lasts-some-minutes'
const WAIT_MS = 150_000

export async function measureBoards(plan: BoardsPlan): Promise<BoardsRow> {
  const { boards, way, workDir, warmStarts, settleMs, idleMs } = plan
  await using stack = new AsyncDisposableStack()
  const served = ['serve', '--port', '0', '--data', join(workDir, 'edge')]
  const env = { AUTH_SECRETS, LIBSQL_URL: '', METRICS_PORT: '' }
  const edge = await startNode([SIGNALBOX, ...served], /^signalbox ready /, WAIT_MS, env)
  stack.defer(edge.stop)
  const url = edge.line.split(' ').at(-1) ?? ''
  const coldReadyMs = await readyOnce(plan, url)
  const readyMs: number[] = []
  for (let n = 1; n < warmStarts; n++) readyMs.push(await readyOnce(plan, url))
  const { ms, sidecars } = await start(plan, url)
  for (const { stop } of sidecars) stack.defer(stop)
  readyMs.push(ms)
  await sleep(settleMs)
  const sum = (of: (pid: number) => number) => sidecars.reduce((all, { pid }) => all + of(pid), 0)
  const from = { at: performance.now(), cpuMs: sum(cpuMsOf) }
  await sleep(idleMs)
  const tookMs = performance.now() - from.at
  return {
    ...{ way, boards: boards.length, coldReadyMs, readyMs },
    readyMedianMs: percentile(readyMs, 50),
    memoryMiB: rounded(sum(ownMiBOf)),
    rssMiB: rounded(sum((pid) => memoryOf(pid).rssMiB)),
    idleMs: Math.round(tookMs),
    cpuPercent: rounded(((sum(cpuMsOf) - from.cpuMs) / tookMs) * 100),
  }
}

async function readyOnce(plan: BoardsPlan, url: string): Promise<number> {
  const { ms, sidecars } = await start(plan, url)
  await Promise.all(sidecars.map(({ stop }) => stop()))
  return ms
}

async function start(
  { way, dir, boards, workDir }: BoardsPlan,
  url: string,
): Promise<{ ms: number; sidecars: Child[] }> {
  const tokens = createTokens(readAuth({ AUTH_SECRETS }), { clock: hostClock, fetch })
  const claims = { sub: 'bench', scope: 'board:write', repos: ['*'] }
  const SIGNALBOX_TOKEN = await tokens.sign(claims, 'api', Date.now() + 3_600_000)
  const to = ['--edge', url, '--cache', join(workDir, 'cache')]
  const watch = (folder: string, repo: string) =>
    startNode([SIGNALBOX, 'watch', folder, '--repo', repo, ...to], /"boards\.ready"/, WAIT_MS, {
      SIGNALBOX_TOKEN,
    })
  const startedAt = performance.now()
  const sidecars =
    way === 'one process'
      ? [await watch(dir, 'bench')]
      : await Promise.all(boards.map((board) => watch(join(dir, board), `bench/${board}`)))
  return { ms: Math.round(performance.now() - startedAt), sidecars }
}
