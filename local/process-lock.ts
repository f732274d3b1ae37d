// One running system per data folder: two would write the same databases. A file names the process
// that holds the folder, and counts only as long as that very process lives.

import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'

export type Lock =
  | {
      ok: true
      /** The holder before us died without giving it back; its children may still be ending. */
      inherited: boolean
      release(): Promise<void>
    }
  | { ok: false; pid: number }

interface Holder {
  pid: number
  /** Tells a process from a later one with the same pid; empty where the system does not say. */
  born: string
}

export async function takeLock(file: string): Promise<Lock> {
  const own = JSON.stringify({ pid: process.pid, born: await bornOf(process.pid) } satisfies Holder)
  const fresh = `${file}.${process.pid}`
  await writeFile(fresh, own, { mode: 0o600 })
  try {
    for (let inherited = false; ; inherited = true) {
      // Unlike a file that is opened and then written, a link is never seen empty.
      if (await linked(fresh, file)) {
        return { ok: true, inherited, release: () => rm(file, { force: true }) }
      }
      const text = await readFile(file, 'utf8').catch(() => '')
      const holder = readHolder(text)
      if (holder && (await isAlive(holder))) return { ok: false, pid: holder.pid }
      await removeStale(file, text)
    }
  } finally {
    await rm(fresh, { force: true })
  }
}

const linked = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )

/** Between our reading and our removing, another start may have put its own lock there. */
async function removeStale(file: string, text: string): Promise<void> {
  const aside = `${file}.stale.${process.pid}`
  await rename(file, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const moved = await readFile(aside, 'utf8').catch(() => text)
  if (moved !== text) await linked(aside, file)
  await rm(aside, { force: true })
}

function readHolder(text: string): Holder | undefined {
  try {
    const { pid, born } = JSON.parse(text) as Partial<Holder>
    return Number.isInteger(pid) && pid !== undefined ? { pid, born: String(born) } : undefined
  } catch {
    // Not our writing: nobody holds it.
    return undefined
  }
}

async function isAlive({ pid, born }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return (await bornOf(pid)) === born
}

/** A container restarts with the same pids, so a pid alone would find itself holding the lock. */
async function bornOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name before the last bracket may hold anything; the start time is the 20th field after it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
