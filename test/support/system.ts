// The whole board system: files in a temporary folder, a sidecar process, an edge process on a real
// port, and a client that checks the result.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { git } from '../../tools/harness/git.ts'
import { type Child, type ChildSpec, spawnChild } from '../../tools/start/child.ts'
import { sidecarProcess } from '../../tools/start/processes.ts'
import type { Task } from '../../worker/board/wire.ts'
import { type Edge, Repo, token } from './edge.ts'
import { PATIENT } from './patience.ts'
import { programEnv } from './run-home.ts'
import { tempFolder } from './temp-folder.ts'

const RESTART_MS = 100

/** The text of a task in the cairn layout. */
export const taskText = (title: string, more = '', body = ''): string =>
  `---\ntitle: ${title}\nstatus: open\n${more}---\n${body}`

const CONFIG = 'prefix: T\nstates: [open, done]\nclosed: [done]\ninitial: open\n'

export class System {
  readonly edge: Edge
  readonly repo: Repo
  /** The folder of project, cache and log. */
  readonly home: string
  readonly project: string
  readonly logFile: string
  #sidecar: Child | undefined

  private constructor(edge: Edge, home: string) {
    this.edge = edge
    this.repo = new Repo(edge)
    this.home = home
    this.project = join(home, 'project')
    this.logFile = join(home, 'sidecar.log')
  }

  /** After the first sync of a cairn board with these tasks (id → text). */
  static async start(edge: Edge, tasks: Record<string, string>): Promise<System> {
    const system = new System(edge, tempFolder())
    await system.write('.cairn/config.yaml', CONFIG)
    for (const [id, text] of Object.entries(tasks)) {
      await system.write(`.cairn/tasks/${id}.md`, text)
    }
    await system.startSidecar()
    return system
  }

  path(name: string): string {
    return join(this.project, name)
  }

  /** In the cairn layout. */
  taskPath(id: string): string {
    return this.path(`.cairn/tasks/${id}.md`)
  }

  async write(name: string, content: string): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true })
    await writeFile(this.path(name), content)
  }

  /** Saves as cairn does: temporary file, then rename in the same folder. */
  async save(id: string, text: string): Promise<void> {
    const path = this.taskPath(id)
    const temp = join(dirname(path), `.tmp-${basename(path)}`)
    await writeFile(temp, text)
    await rename(temp, path)
  }

  async git(...args: string[]): Promise<void> {
    await git(this.project, programEnv(this.home), ...args)
  }

  /** Resolves after the first sync. */
  async startSidecar(): Promise<void> {
    const spec = sidecarProcess({
      storeDir: this.project,
      cacheDir: join(this.home, 'cache'),
      edge: this.edge.origin,
      repo: this.repo.path,
      token: await token({ repos: [this.repo.path], scope: 'board:write' }),
      env: programEnv(this.home),
      logFile: this.logFile,
    })
    const before = await this.#count('sidecar.ready')
    this.#keep({ ...spec, args: [SIGNALBOX, ...spec.args.slice(1)] })
    await this.logged('sidecar.ready', before + 1)
  }

  /** SIGTERM, as an operator ends it. */
  async stopSidecar(): Promise<void> {
    const sidecar = this.#letGo()
    sidecar?.stop()
    await sidecar?.ended
  }

  /** SIGKILL. */
  async killSidecar(): Promise<void> {
    const sidecar = this.#letGo()
    sidecar?.kill()
    await sidecar?.ended
  }

  /**
   * Starts a sidecar again that has ended by itself, for example without a board, as systemd does.
   */
  #keep(spec: ChildSpec): void {
    const child = spawnChild(spec)
    this.#sidecar = child
    void child.ended.then(async () => {
      await sleep(RESTART_MS)
      if (this.#sidecar === child) this.#keep(spec)
    })
  }

  #letGo(): Child | undefined {
    const sidecar = this.#sidecar
    this.#sidecar = undefined
    return sidecar
  }

  async log(): Promise<string> {
    return readFile(this.logFile, 'utf8').catch(() => '')
  }

  /** Waits until the sidecar has logged an event this often, or fails with its log. */
  async logged(event: string, times = 1): Promise<void> {
    try {
      await vi.waitUntil(async () => (await this.#count(event)) >= times, PATIENT)
    } catch (cause) {
      throw new Error(`no ${event} in the sidecar's log:\n${await this.log()}`, { cause })
    }
  }

  async #count(event: string): Promise<number> {
    return (await this.log()).split(`"event":"${event}"`).length - 1
  }

  /** All tasks of the edge, by id. */
  async tasks(): Promise<Map<string, Task>> {
    const { tasks } = await this.repo.json<{ tasks: Task[] }>('/tasks')
    return new Map(tasks.map((task) => [task.id, task]))
  }

  /** Undefined: there is no such task, or no edge. */
  async task(id: string): Promise<Task | undefined> {
    return this.repo
      .json<Task>(`/tasks/${encodeURIComponent(id)}`)
      .catch((error: unknown) => void error)
  }

  /** Waits until the task matches, or fails with the task. */
  async untilTask(id: string, isSo: (task: Task) => boolean): Promise<Task> {
    let last: Task | undefined
    try {
      await vi.waitUntil(async () => {
        last = await this.task(id)
        return last !== undefined && isSo(last)
      }, PATIENT)
    } catch (cause) {
      throw new Error(`${id} is ${JSON.stringify(last)?.slice(0, 2_000)}`, { cause })
    }
    if (!last) throw new Error(`${id} is gone`)
    return last
  }
}
