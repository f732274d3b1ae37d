// A small board in a temporary folder, and a listener to its watcher that works like the sidecar:
// it records hints, and scans after a gap or after many hints.

import { execFile } from 'node:child_process'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, type TestContext, vi } from 'vitest'
import type { ScanReport } from '../../sidecar/files/scan.ts'
import type { Store } from '../../sidecar/layouts/layout.ts'
import {
  AFTER_MANY_MS,
  MANY_HINTS,
  type Watch,
  type WatchedStore,
} from '../../sidecar/watch/watch.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { PATIENT } from '../support/patience.ts'
import { ReadingScan } from '../support/reading-scan.ts'
import { tempFolder } from '../support/temp-folder.ts'

export const run = promisify(execFile)

/**
 * The folder of a test. The board is inside it, so that the board can be removed and made again.
 */
export class BoardFolder {
  readonly home: string
  readonly root: string
  readonly tasks: string
  readonly sessions: string
  readonly store: Store

  constructor(home: string) {
    this.home = home
    this.root = join(home, '.board')
    this.tasks = join(this.root, 'tasks')
    this.sessions = join(this.root, 'sessions')
    this.store = {
      layout: 'cairn',
      root: this.root,
      within: '.board',
      folders: () => [this.root, this.tasks, this.sessions],
      tasksIn: this.tasks,
      configFile: join(this.root, 'config.yaml'),
      classify: (path) => this.#classify(path),
      parse: () => ({ state: 'ok', entries: [] }),
      unreadable: () => [],
      fold: (id) => id,
    }
  }

  /** A folder for one test, with a board of tasks T-0, T-1, … if there are any. */
  static async make(tasks = 0): Promise<BoardFolder> {
    const folder = new BoardFolder(tempFolder())
    if (tasks > 0) await folder.fill(tasks)
    return folder
  }

  task(id: string): string {
    return join(this.tasks, `${id}.md`)
  }

  /** Makes the board with tasks T-0 … and returns their paths. */
  async fill(count: number): Promise<string[]> {
    await mkdir(this.tasks, { recursive: true })
    await mkdir(this.sessions)
    // Not part of the layout; git does not keep empty folders.
    await writeFile(join(this.sessions, 'keep'), '')
    await writeFile(join(this.root, 'config.yaml'), 'prefix: T\n')
    const paths = Array.from({ length: count }, (_, i) => this.task(`T-${i}`))
    for (const path of paths) await writeFile(path, 'before')
    return paths
  }

  /** Saves like cairn: a temporary file and a rename in the same folder. */
  async save(path: string, text: string): Promise<void> {
    const temp = join(dirname(path), `.tmp-${basename(path)}`)
    await writeFile(temp, text)
    await rename(temp, path)
  }

  async git(...args: string[]): Promise<void> {
    const who = [
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@example.org',
      '-c',
      'commit.gpgsign=false',
    ]
    await run('git', [...who, ...args], { cwd: this.home })
  }

  #classify(path: string) {
    if (path === this.store.configFile) return 'board'
    if (basename(path).startsWith('.') || !path.endsWith('.md')) return undefined
    return dirname(path) === this.tasks ? 'task' : undefined
  }
}

/** A board, and a listener to its watcher. */
export async function openBoard(
  test: TestContext,
  watch: Watch,
  tasks = 5,
): Promise<{ folder: BoardFolder; listener: Listener }> {
  const folder = await BoardFolder.make(tasks)
  return { folder, listener: await Listener.start(test, folder, watch) }
}

/** Listens to a watcher, and collects changed paths from hints and from scans after a gap. */
export class Listener {
  readonly hinted = new Set<string>()
  readonly scanned = new Set<string>()
  readonly gaps: string[] = []
  readonly reports: ScanReport[] = []
  readonly #scan: ReadingScan
  #timer: NodeJS.Timeout | undefined
  #stop: () => Promise<void> = async () => undefined
  #scans: Promise<unknown> = Promise.resolve()

  private constructor(store: Store) {
    this.#scan = new ReadingScan(store)
  }

  static async start(
    test: TestContext,
    { store }: { store: Store & Pick<WatchedStore, 'roots'> },
    watch: Watch,
  ): Promise<Listener> {
    const listener = new Listener(store)
    await listener.scan()
    listener.scanned.clear()
    listener.reports.length = 0
    const events = {
      onHint: (path: string) => listener.#hint(path),
      onGap: (why: string) => listener.#gap(why),
      onFailed: (why: string) => listener.#gap(why),
    }
    const patience = { clock: hostClock, withinMs: 60_000 }
    const watcher = await watch(store, events, patience)
    listener.#stop = () => watcher.close()
    test.onTestFinished(() => listener.close())
    return listener
  }

  /** The changed paths that hints or scans have found. */
  get known(): Set<string> {
    return new Set([...this.hinted, ...this.scanned])
  }

  /** Waits until exactly these paths are known. */
  async settles(paths: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(this.known).toEqual(new Set(paths)), PATIENT)
  }

  /** Saves T-0 until a save is hinted. The scan may find a file that is created after a gap. */
  async hintsSoon(folder: BoardFolder, text: string): Promise<void> {
    const path = folder.task('T-0')
    let saves = 0
    this.forget()
    await vi.waitFor(
      async () => {
        if (!this.hinted.has(path)) await folder.save(path, `${text} ${saves++}`)
        expect(this.hinted).toContain(path)
      },
      { ...PATIENT, interval: 1_500 },
    )
  }

  forget(): void {
    this.hinted.clear()
    this.scanned.clear()
    this.gaps.length = 0
    this.reports.length = 0
  }

  async scan(): Promise<ScanReport> {
    const report = await this.#scan.run(Date.now())
    for (const path of [...report.changed, ...report.gone]) this.scanned.add(path)
    this.reports.push(report)
    return report
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#stop()
    await this.#scans
  }

  #hint(path: string): void {
    this.hinted.add(path)
    if (this.hinted.size <= MANY_HINTS) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#gap('many hints'), AFTER_MANY_MS)
  }

  #gap(why: string): void {
    this.gaps.push(why)
    this.#scans = this.#scans.then(() => this.scan())
  }
}
