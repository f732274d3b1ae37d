// The systems that are measured, behind one face: start one on a board, and ask it.

import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNode } from './child.ts'
import { childrenOf } from './proc.ts'

/**
 * `signalbox` is npm start, on workerd; `signalbox-node` is signalbox dev, one Node process.
 * `chokidar` is the baseline as one writes it, `chokidar-tuned` the same with one more option.
 */
export const SYSTEMS = ['signalbox', 'signalbox-node', 'chokidar', 'chokidar-tuned'] as const
export type System = (typeof SYSTEMS)[number]

/** How results name them. "Tuned" ignores the temporary files of a save. */
export const LABEL: Readonly<Record<System, string>> = {
  signalbox: 'Signalbox on workerd',
  'signalbox-node': 'Signalbox, one Node process',
  chokidar: 'chokidar + SSE',
  'chokidar-tuned': 'chokidar + SSE, tuned',
}

export interface Target {
  readonly system: System
  /** The process that watches the files. */
  readonly pid: number
  /** From the start of that process until it knows the board and, for a sidecar, the edge does. */
  readonly readyMs: number
  /** Until it printed that it is ready: of a large first one it says how far it is from then on. */
  readonly printedMs: number
  /** URL of a path under it, with the repository's name in its query. */
  url(path: string): URL
  readonly headers: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export const HOME = resolve(import.meta.dirname, '../..')
export const SIGNALBOX = join(HOME, 'cli/bin.js')
export const START_WAIT_MS = 150_000
/** What `signalbox watch` says when the edge has all boards. */
export const READY = /"boards\.ready"/
const READY_POLL_MS = 50

/** `dataDir` keeps what a system stores between two starts; the baseline stores nothing. */
export function startTarget(system: System, boardDir: string, dataDir: string): Promise<Target> {
  switch (system) {
    case 'signalbox':
    case 'signalbox-node':
      return startSignalbox(system, boardDir, dataDir)
    case 'chokidar':
    case 'chokidar-tuned':
      return startBaseline(system, boardDir, dataDir)
  }
}

async function startSignalbox(
  system: 'signalbox' | 'signalbox-node',
  boardDir: string,
  dataDir: string,
): Promise<Target> {
  const isNode = system === 'signalbox-node'
  const board = isNode ? ['dev', boardDir] : ['start', '--store', boardDir]
  const args = [...board, '--repo', 'bench', '--port', '0', '--data', dataDir, '--trust-data']
  // Beside the data, which is kept from one start to the next.
  const dir = dirname(dataDir)
  const startedAt = performance.now()
  const place = { dir, waitMs: START_WAIT_MS }
  const child = await startNode([SIGNALBOX, ...args], /^signalbox ready /, place)
  const printedMs = Math.round(performance.now() - startedAt)
  try {
    const local: LocalJson = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8'))
    const log = isNode ? 'signalbox' : 'sidecar'
    return {
      system,
      pid: isNode ? child.pid : sidecarOf(child.pid),
      printedMs,
      readyMs: await sidecarReadyMs(join(dataDir, `logs/${log}.log`)),
      url: (path) => urlOf(local.url, path, local.path),
      headers: { authorization: `Bearer ${local.tokens.board}` },
      stop: child.stop,
    }
  } catch (error) {
    await child.stop()
    throw error
  }
}

function sidecarOf(start: number): number {
  const isSidecar = ({ command }: { command: string }) => command.includes('cli/signalbox.ts watch')
  const sidecar = childrenOf(start).find(isSidecar)
  if (!sidecar) throw new Error('The sidecar was not found among the processes of npm start.')
  return sidecar.pid
}

interface LocalJson {
  url: string
  path: string
  tokens: { board: string }
}

async function sidecarReadyMs(logFile: string): Promise<number> {
  const until = performance.now() + START_WAIT_MS
  while (performance.now() < until) {
    // The last line may not be whole yet.
    const lines = (await readFile(logFile, 'utf8')).split('\n').slice(0, -1)
    for (const line of lines) {
      const { event, ms } = JSON.parse(line)
      if (event === 'sidecar.ready') return Number(ms)
    }
    await sleep(READY_POLL_MS)
  }
  throw new Error(`${logFile} does not say when the sidecar was ready.`)
}

async function startBaseline(system: System, boardDir: string, dataDir: string): Promise<Target> {
  const file = join(import.meta.dirname, 'baseline.ts')
  const options = system === 'chokidar-tuned' ? ['--ignore-temporary'] : []
  const place = { dir: dirname(dataDir), waitMs: START_WAIT_MS }
  const child = await startNode([file, boardDir, ...options], /^baseline ready /, place)
  const [, url = '', ms] = /(http:\S+) in (\d+) ms/.exec(child.line) ?? []
  return {
    system,
    pid: child.pid,
    readyMs: Number(ms),
    printedMs: Number(ms),
    url: (path) => urlOf(url, path, 'bench'),
    headers: {},
    stop: child.stop,
  }
}

function urlOf(base: string, path: string, repo: string): URL {
  const url = new URL(path, base)
  url.searchParams.set('path', repo)
  return url
}
