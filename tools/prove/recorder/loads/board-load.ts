// What agents and people do to the files of a board, at random. Each write has a version, a number
// that rises, which is written into the file: a task's title, a session's summary.

import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadPlan } from './load.ts'

const TASKS = 30
const SESSIONS = 3
const BURST = 15
const MAX_PAUSE_MS = 160
/** Longer than changes are collected for one message, so that each single change has its own. */
const SINGLE_CHANGE_MS = 200

/** A task that the load does not change by itself. No other has its version, which is its title. */
export interface KeptTask {
  id: string
  version: number
  assignee: string
}

/** `away`: it has no file. */
type KeptStatus = 'open' | 'doing' | 'done' | 'away'

export type BoardLoad = ReturnType<typeof boardLoad>

export function boardLoad({ system: { store }, recorder, random, ending }: LoadPlan) {
  /** What the disk holds. */
  const files = { tasks: new Map<string, number>(), sessions: new Map<string, number>() }
  /** The highest version that each task ever had: a rename must not lower it. */
  const highest = new Map<string, number>()
  let version = 0
  let isPaused = false
  let step: Promise<void> = Promise.resolve()
  let kept: Promise<void> = Promise.resolve()

  const anyTask = () => `T-${random.below(TASKS)}`
  const pathOf = (task: string) => join(store, 'tasks', `${task}.md`)

  function record(task: string, its: number | null, how: string): void {
    if (its === null) files.tasks.delete(task)
    else {
      files.tasks.set(task, its)
      highest.set(task, Math.max(its, highest.get(task) ?? 0))
    }
    recorder.write({ kind: 'write', task, version: its, how })
  }

  async function write(task: string, its: number, fields: Fields, how: string): Promise<void> {
    await replace(pathOf(task), taskText(its, fields))
    record(task, its, how)
  }

  const save = (task: string, how = 'save') => write(task, ++version, { status: 'open' }, how)

  async function remove(task: string, how = 'delete'): Promise<void> {
    if (!files.tasks.has(task)) return
    await rm(pathOf(task))
    record(task, null, how)
  }

  async function move(from: string, to: string): Promise<void> {
    const its = files.tasks.get(from)
    if (its === undefined || its <= (highest.get(to) ?? 0)) return
    await rename(pathOf(from), pathOf(to))
    record(from, null, 'rename')
    record(to, its, 'rename')
  }

  /** As git leaves another branch: many files at once, of which some are gone. */
  async function many(how: 'burst' | 'checkout', count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const isGone = how === 'checkout' && random.next() < 0.3
      await (isGone ? remove(`T-${n}`, how) : save(`T-${n}`, how))
    }
  }

  async function saveSession(): Promise<void> {
    const its = ++version
    const session = `ses_${String(random.below(SESSIONS)).padStart(24, '0')}`
    const path = join(store, 'sessions', `${session}.yaml`)
    await replace(path, `id: ${session}\ntask: T-1\nstatus: finished\nsummary: v${its}\n`)
    files.sessions.set(session, its)
    recorder.write({ kind: 'write', session, version: its, how: 'save' })
  }

  return {
    files,

    async run(): Promise<void> {
      while (!ending.isOver) {
        if (!isPaused) {
          const next = random.weighted<() => Promise<void>>([
            [20, () => save(anyTask())],
            [5, () => remove(anyTask())],
            [5, () => move(anyTask(), anyTask())],
            [2, () => many('burst', BURST)],
            [1, () => many('checkout', TASKS)],
            [4, saveSession],
          ])
          step = next()
          await step
        }
        await sleep(random.below(MAX_PAUSE_MS))
      }
    },

    /**
     * Changes one file at a time, and then none until `then` is over. A burst makes every client
     * read everything, so under load a lost change or an early message is soon forgotten.
     */
    async pause<Result>(then: () => Promise<Result>): Promise<Result> {
      isPaused = true
      await Promise.all([step, kept])
      const task = `T-${version % TASKS}`
      const last = () => save(`T-${version % TASKS}`)
      for (const change of [() => save(task), saveSession, () => remove(task), last]) {
        await sleep(SINGLE_CHANGE_MS)
        await change()
      }
      const result = await then()
      isPaused = false
      return result
    },

    /** Saves a task whose title never changes. Not while the board rests. */
    async keep({ id, version: its, assignee }: KeptTask, status: KeptStatus): Promise<void> {
      while (isPaused) await sleep(SINGLE_CHANGE_MS)
      kept = kept.then(() =>
        status === 'away' ? remove(id, status) : write(id, its, { status, assignee }, status),
      )
      await kept
    },
  }
}

type Fields = Readonly<Record<string, string>>

export function taskText(version: number, fields: Fields): string {
  const lines = Object.entries({ title: `v${version}`, ...fields }).map((it) => it.join(': '))
  return `---\n${lines.join('\n')}\n---\n`
}

/** As the tools save: a temporary file that is renamed. */
export async function replace(path: string, text: string): Promise<void> {
  const temp = path.replace(/([^/]+)$/, '.tmp-$1')
  await writeFile(temp, text)
  await rename(temp, path)
}
