// A board in a temporary folder, a sidecar of this process that publishes it, and an edge: to see
// which message comes of which files, live, resumed, and after a sync that heals.

import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect } from 'vitest'
import { Repositories } from '../../sidecar/git/repository.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import { openSidecar } from '../../sidecar/open-sidecar.ts'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { watchChokidar } from '../../sidecar/watch/watch-chokidar.ts'
import type { Message, Task } from '../../worker/board/wire.ts'
import { type Clock, hostClock } from '../../worker/shared/clock.ts'
import { Repo, token } from '../support/edge.ts'
import type { EventStream } from '../support/event-stream.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { type EdgeServer, serveEdge } from './edge-server.ts'

/** Path in the project → text. */
export type Files = Readonly<Record<string, string>>

export class PublishedFolder {
  readonly #home = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-messages-')))
  readonly #server: EdgeServer
  readonly #repo: Repo
  #end = new AbortController()
  #running: Promise<void> | undefined
  #stream: EventStream | undefined

  private constructor(server: EdgeServer) {
    this.#server = server
    this.#repo = new Repo(server.edge)
  }

  /**
   * Its first sync is in, and a client listens. `prepare` is called with the project before.
   * `clock`: of the edge, a day ahead at most.
   */
  static async open(
    files: Files,
    prepare?: (dir: string) => void,
    clock: Clock = hostClock,
  ): Promise<PublishedFolder> {
    const folder = new PublishedFolder(await serveEdge(processEdge({ clock })))
    for (const [name, text] of Object.entries(files)) folder.write(name, text)
    prepare?.(folder.dir)
    await folder.startSidecar()
    folder.#stream = await (await folder.#repo.stream()).joined()
    return folder
  }

  get dir(): string {
    return join(this.#home, 'project')
  }

  get messages(): Message[] {
    return (this.#stream?.messages ?? []) as Message[]
  }

  /** Where the client stands now. */
  get place(): string {
    return this.#stream?.lastId ?? ''
  }

  /** Temp and rename, as most tools save. All that is written without a pause is one window. */
  write(name: string, text: string): void {
    const path = this.#path(name)
    mkdirSync(dirname(path), { recursive: true })
    const temp = join(dirname(path), `.tmp-${basename(path)}`)
    writeFileSync(temp, text)
    renameSync(temp, path)
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(this.#path(to)), { recursive: true })
    renameSync(this.#path(from), this.#path(to))
  }

  remove(name: string): void {
    rmSync(this.#path(name))
  }

  async startSidecar(): Promise<void> {
    const bearer = await token({ repos: [this.#repo.path], scope: 'board:write', exp: '1d' })
    const { path: repo } = this.#repo
    const url = new URL(this.#server.url)
    const { sidecar, publisher } = openSidecar({
      version: '0.0.0',
      store: await openStore(this.dir),
      trees: {
        repositories: new Repositories({
          path: process.env.PATH ?? '',
          clock: hostClock,
          log: () => undefined,
        }),
        dir: this.dir,
      },
      edge: new EdgeHttp({ url, repo, token: () => Promise.resolve(bearer) }),
      cacheDir: join(this.#home, 'cache'),
      watch: watchChokidar,
      runOutput: 'masked',
      log: () => undefined,
    })
    this.#end = new AbortController()
    this.#running = sidecar.run(this.#end.signal)
    await Promise.all([sidecar.started, publisher.synced()])
  }

  async stopSidecar(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** Waits until the client was told so much, and answers the messages. */
  async received(count: number): Promise<Message[]> {
    await expect.poll(() => this.messages.length).toBeGreaterThanOrEqual(count)
    return this.messages
  }

  /** What a client is told that comes back after `place`, `count` messages of it. */
  async resumed(place: string, count: number): Promise<unknown[]> {
    const stream = await this.#repo.stream(place)
    await stream.until((s) => s.messages.length >= count)
    await stream.close()
    return stream.messages
  }

  /** What the edge answers. */
  json<T>(path: string): Promise<T> {
    return this.#repo.json<T>(path)
  }

  /** The list as a client has it that reads it again now. */
  async tasks(): Promise<Record<string, Task>> {
    const { tasks } = await this.#repo.json<{ tasks: Task[] }>('/tasks')
    return Object.fromEntries(tasks.map((task) => [task.id, task]))
  }

  async close(): Promise<void> {
    await this.stopSidecar()
    await this.#stream?.close()
    await this.#server.close()
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 })
  }

  #path(name: string): string {
    return join(this.dir, name)
  }
}
