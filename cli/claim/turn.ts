// When several processes on this machine wait for a task, the first that came asks first: all of
// them are woken at the same moment.

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../context.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'
import { claimsFolder } from './kept-claims.ts'

const LOOK_MS = 15
/** A process that hangs must not keep the others waiting. */
const MOST_MS = 5_000

export interface Turn {
  /** Resolves when those that came before have asked about the message of this id, too. */
  mine(id: string, signal: AbortSignal): Promise<void>
  /** Lets the next one ask. */
  asked(id: string): Promise<void>
  leave(): Promise<void>
}

export async function turnAmong(env: Environment, { url, path = '' }: BoardAtEdge): Promise<Turn> {
  const name = createHash('sha256').update(`${url} ${path}`).digest('hex').slice(0, 32)
  const dir = join(claimsFolder(env), 'waiting', name)
  const own = `${String(Date.now()).padStart(15, '0')}-${process.pid}-${randomUUID()}`
  const file = join(dir, own)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await writeFile(file, '')
  /** Those before us that have not asked about this message. */
  const before = async (id: string): Promise<string[]> => {
    const others = (await readdir(dir)).filter((other) => other < own && isAlive(other))
    const asked = await Promise.all(
      others.map(async (other) => readFile(join(dir, other), 'utf8').catch(() => id)),
    )
    return others.filter((_, n) => seqOf(asked[n] ?? '') < seqOf(id))
  }
  return {
    async mine(id, signal) {
      const until = performance.now() + MOST_MS
      while ((await before(id)).length > 0 && performance.now() < until && !signal.aborted) {
        await sleep(LOOK_MS)
      }
    },
    asked: (id) => writeFile(file, id),
    leave: () => rm(file, { force: true }),
  }
}

/** The number in an event id. */
const seqOf = (id: string): number => Number(id.split('-')[1] ?? -1)

/** One that was killed left its name behind. */
function isAlive(name: string): boolean {
  try {
    process.kill(Number(name.split('-')[1]), 0)
    return true
  } catch {
    return false
  }
}
