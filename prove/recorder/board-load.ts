// What agents and people do to the files of a board, by chance. Each write has a number that rises,
// and stands in the file: in a task's title, in a session's summary.

import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recorder } from './record.ts'
import type { Seeded } from './seeded.ts'

const TASKS = 30
const SESSIONS = 3
const BURST = 15
const MOST_PAUSE_MS = 160

export class BoardLoad {
  /** What the disk holds. */
  readonly files = { tasks: new Map<string, number>(), sessions: new Map<string, number>() }
  readonly #store: string
  readonly #recorder: Recorder
  readonly #random: Seeded
  /** The highest version that each task ever had: one that is renamed must not go back. */
  readonly #highest = new Map<string, number>()
  #version = 0
  #isOver = false

  constructor(store: string, recorder: Recorder, random: Seeded) {
    this.#store = store
    this.#recorder = recorder
    this.#random = random
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      await this.#step()
      await sleep(this.#random.below(MOST_PAUSE_MS))
    }
  }

  end(): void {
    this.#isOver = true
  }

  #step(): Promise<void> {
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
    const version = ++this.#version
    await replace(this.#path(task), `---\ntitle: v${version}\nstatus: open\n---\n`)
    this.#stands(task, version, how)
  }

  async #delete(task: string, how: string): Promise<void> {
    if (!this.files.tasks.has(task)) return
    await rm(this.#path(task))
    this.#stands(task, null, how)
  }

  async #rename(from: string, to: string): Promise<void> {
    const version = this.files.tasks.get(from)
    if (version === undefined || version <= (this.#highest.get(to) ?? 0)) return
    await rename(this.#path(from), this.#path(to))
    this.#stands(from, null, 'rename')
    this.#stands(to, version, 'rename')
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

  #stands(task: string, version: number | null, how: string): void {
    if (version === null) this.files.tasks.delete(task)
    else {
      this.files.tasks.set(task, version)
      this.#highest.set(task, Math.max(version, this.#highest.get(task) ?? 0))
    }
    this.#recorder.write({ kind: 'write', task, version, how })
  }
}

/** As the tools save: another file, which takes the place of this one. */
async function replace(path: string, text: string): Promise<void> {
  const temp = path.replace(/([^/]+)$/, '.tmp-$1')
  await writeFile(temp, text)
  await rename(temp, path)
}
