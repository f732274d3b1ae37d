// When somebody last showed that they work on a claim: by a command of their own, by a move of
// their tree in git, or by computing. A process that merely runs shows nothing: it may hang.

import { readdirSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { processStat } from '../../worker/shared/process-stat-node.ts'
import { printed } from './agent-process.ts'

/** An agent that waits for its user redraws its prompt, and computes less than this share. */
const LEAST_SHARE = 0.01
/** What git writes in the own folder of a tree: a commit moves no `HEAD`, but adds to its log. */
const MOVED = ['HEAD', 'index', 'logs/HEAD']

export interface Worker {
  /** The secret of the claim. */
  claim: string
  pid: number
  /** The own git folder of the tree that it works in. */
  gitFolder?: string | undefined
  /** The file that its own commands write. */
  file?: string | undefined
}

export class Signs {
  /** By claim, as it was last seen: the time computed, and when. In ms. */
  readonly #computed = new Map<string, { ms: number; at: number }>()
  readonly #cpuMs: (pid: number) => number | undefined

  /** `cpuMs`: what a process and those below it have computed. */
  constructor(cpuMs = cpuTime) {
    this.#cpuMs = cpuMs
  }

  /** For a renewal. Empty: none is known. */
  async last(worker: Worker, now: number): Promise<{ activeAt?: string }> {
    const { gitFolder, file } = worker
    const files = gitFolder === undefined ? [] : MOVED.map((name) => join(gitFolder, name))
    if (file !== undefined) files.push(file)
    const written = await Promise.all(files.map(writtenAt))
    const newest = Math.max(0, ...written, this.#computes(worker, now) ? now : 0)
    return newest === 0 ? {} : { activeAt: new Date(newest).toISOString() }
  }

  #computes({ claim, pid }: Worker, at: number): boolean {
    const ms = this.#cpuMs(pid)
    if (ms === undefined) return false
    const before = this.#computed.get(claim)
    this.#computed.set(claim, { ms, at })
    return before !== undefined && ms - before.ms > (at - before.at) * LEAST_SHARE
  }
}

const writtenAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Math.floor(mtimeMs),
    () => 0,
  )

/** As every Linux has it. */
const TICK_MS = 10
/** A build may start many. */
const MAX_PROCESSES = 1_000

/**
 * What a process, those below it and those of them that have ended have computed, in ms. Undefined:
 * it is not known.
 * @forTests Real processes.
 */
export function cpuTime(pid: number): number | undefined {
  if (process.platform !== 'linux') return byPs(printed('ps', ['-o', 'time=', '-p', String(pid)]))
  let total: number | undefined
  const left = [pid]
  for (let n = 0; n < MAX_PROCESSES; n++) {
    const at = left.pop()
    if (at === undefined) break
    const seen = inProc(at)
    if (!seen) continue
    total = (total ?? 0) + seen.ms
    left.push(...seen.children)
  }
  return total
}

function inProc(pid: number): { ms: number; children: number[] } | undefined {
  const stat = processStat(pid)
  return stat && { ms: stat.ticks * TICK_MS, children: childrenOf(pid) }
}

/** None where the kernel does not say. */
function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter(Boolean)
        .map(Number),
    )
  } catch {
    return []
  }
}

/** Of `[[DD-]HH:]MM:SS[.ss]`. */
function byPs(time: string | undefined): number | undefined {
  const [, days = '0', rest = ''] = /^(?:(\d+)-)?([\d:.]+)$/.exec(time?.trim() ?? '') ?? []
  if (rest === '') return undefined
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  return (Number(days) * 86_400 + seconds) * 1_000
}
