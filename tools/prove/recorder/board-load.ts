// What agents and people do to the files of a board, at random. Each write has a version, a number
// that rises, which is written into the file: a task's title, a session's summary.

import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Seeded } from '../../harness/seeded.ts'
import type { Recorder } from './recorder.ts'

const TASKS = 30
const SESSIONS = 3
const BURST = 15
const MAX_PAUSE_MS = 160
/** Longer than changes are collected for one message, so that each single change has its own. */
const SINGLE_CHANGE_MS = 200

/** A task that the load does not change by itself. */
export interface KeptTask {
  id: string
  version: number
  assignee: string
}

/** `away`: it has no file. */
type KeptStatus = 'open' | 'doing' | 'done' | 'away'

export class BoardLoad {
  /** What the disk holds. */
  readonly files = { tasks: new Map<string, number>(), sessions: new Map<string, number>() }
  readonly #store: string
  readonly #recorder: Recorder
  readonly #random: Seeded
  /** The highest version that each task ever had: a rename must not lower it. */
  readonly #highest = new Map<string, number>()
  #version = 0
  #isOver = false
  #isPaused = false
  #step: Promise<void> = Promise.resolve()
  #kept: Promise<void> = Promise.resolve()

  constructor(store: string, recorder: Recorder, random: Seeded) {
    this.#store = store
    this.#recorder = recorder
    this.#random = random
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      if (!this.#isPaused) {
        this.#step = this.#nextStep()
        await this.#step
      }
      await sleep(this.#random.below(MAX_PAUSE_MS))
    }
  }

  end(): void {
    this.#isOver = true
  }

  /**
   * Changes one file at a time, and then none until `then` is over. A burst makes every client read
   * everything, so under load a lost change or a message that came too early is soon forgotten.
   */
  async pause<Result>(then: () => Promise<Result>): Promise<Result> {
    this.#isPaused = true
    await Promise.all([this.#step, this.#kept])
    const task = `T-${this.#version % TASKS}`
    const changes = [
      () => this.#save(task, 'save'),
      () => this.#session(),
      () => this.#delete(task, 'delete'),
      () => this.#save(`T-${this.#version % TASKS}`, 'save'),
    ]
    for (const change of changes) {
      await sleep(SINGLE_CHANGE_MS)
      await change()
    }
    const result = await then()
    this.#isPaused = false
    return result
  }

  /** Saves a task whose title never changes. Not while the board rests. */
  async keep({ id, version, assignee }: KeptTask, status: KeptStatus): Promise<void> {
    while (this.#isPaused) await sleep(SINGLE_CHANGE_MS)
    this.#kept = this.#kept.then(() =>
      status === 'away'
        ? this.#delete(id, status)
        : this.#write(id, version, { status, assignee }, status),
    )
    await this.#kept
  }

  #nextStep(): Promise<void> {
    const step = this.#random.weighted<() => Promise<void>>([
      [20, () => this.#save(this.#task(), 'save')],
      [5, () => this.#delete(this.#task(), 'delete')],
      [5, () => this.#rename(this.#task(), this.#task())],
      [2, () => this.#many('burst', BURST)],
      [1, () => this.#many('checkout', TASKS)],
      [4, () => this.#session()],
    ])
    return step()
  }

  #task(): string {
    return `T-${this.#random.below(TASKS)}`
  }

  #path(task: string): string {
    return join(this.#store, 'tasks', `${task}.md`)
  }

  async #save(task: string, how: string): Promise<void> {
    await this.#write(task, ++this.#version, { status: 'open' }, how)
  }

  async #write(
    task: string,
    version: number,
    fields: Readonly<Record<string, string>>,
    how: string,
  ): Promise<void> {
    await replace(this.#path(task), taskText(version, fields))
    this.#record(task, version, how)
  }

  async #delete(task: string, how: string): Promise<void> {
    if (!this.files.tasks.has(task)) return
    await rm(this.#path(task))
    this.#record(task, null, how)
  }

  async #rename(from: string, to: string): Promise<void> {
    const version = this.files.tasks.get(from)
    if (version === undefined || version <= (this.#highest.get(to) ?? 0)) return
    await rename(this.#path(from), this.#path(to))
    this.#record(from, null, 'rename')
    this.#record(to, version, 'rename')
  }

  /** As git leaves another branch: many files at once, of which some are gone. */
  async #many(how: 'burst' | 'checkout', count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const isGone = how === 'checkout' && this.#random.next() < 0.3
      await (isGone ? this.#delete(`T-${n}`, how) : this.#save(`T-${n}`, how))
    }
  }

  async #session(): Promise<void> {
    const version = ++this.#version
    const session = `ses_${String(this.#random.below(SESSIONS)).padStart(24, '0')}`
    const path = join(this.#store, 'sessions', `${session}.yaml`)
    await replace(path, `id: ${session}\ntask: T-1\nstatus: finished\nsummary: v${version}\n`)
    this.files.sessions.set(session, version)
    this.#recorder.write({ kind: 'write', session, version, how: 'save' })
  }

  #record(task: string, version: number | null, how: string): void {
    if (version === null) this.files.tasks.delete(task)
    else {
      this.files.tasks.set(task, version)
      this.#highest.set(task, Math.max(version, this.#highest.get(task) ?? 0))
    }
    this.#recorder.write({ kind: 'write', task, version, how })
  }
}

export function taskText(version: number, fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ title: `v${version}`, ...fields }).map((it) => it.join(': '))
  return `---\n${lines.join('\n')}\n---\n`
}

/** As the tools save: a temporary file that is renamed. */
export async function replace(path: string, text: string): Promise<void> {
  const temp = path.replace(/([^/]+)$/, '.tmp-$1')
  await writeFile(temp, text)
  await rename(temp, path)
}
