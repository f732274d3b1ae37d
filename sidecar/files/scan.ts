// Finds what changed in a store without hints: lists the folders, stats every file and compares
// with what was read of it. Beneath every watcher, because what a watcher says may be lost. It
// keeps nothing: what it found is reported again until it was read.

import { type Dir, type Dirent, lstatSync, realpathSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { setImmediate as otherTurns } from 'node:timers/promises'
import { errorCode, isAbsence } from '../../worker/shared/file-errors.ts'
import type { Store } from '../layouts/layout.ts'
import { openFolderHere } from '../layouts/open-here.ts'
import { isThere } from '../layouts/store-folder.ts'
import { IS, isLost } from './file-reader.ts'
import type { FileStat } from './file-stat.ts'
import type { FileTable } from './file-table.ts'

/** Longest synchronous work before others get their turn: a save must not wait for a scan. */
const SLICE_MS = 1
/** The clock is read once in this many files: reading it is a tenth of a stat. */
const CLOCK_FILES = 16
/** Beneath a watcher a scan runs this often in a small store … */
const INTERVAL_MS = 30_000
/** … and in a huge one seldom enough that an idle sidecar stays under 0.5 % of a core. */
const WORK_SHARE = 0.005
/** Without a watcher scans are all there is: each second in a small store … */
const POLL_MS = 1_000
/** … and in a large or slow one as often as this share of a core allows. */
const POLL_SHARE = 0.2

/** Paths are absolute and counted by the layout. Each is a reason to read that file, not a fact. */
export interface ScanReport {
  /**
   * `missing`: the root or the place of its tasks is gone or behind a link, which is not an empty
   * board: nothing is reported. `bare`: there is no place of tasks and no task, and none is known
   * to have been there. `unreadable`: what `why` names could not be read, so nothing of it is
   * reported gone. `present` with a `why`: what that names is no folder, and hides no other.
   */
  state: 'present' | 'missing' | 'bare' | 'unreadable'
  why?: string
  /** New, or with another size, time or inode than when it was read. */
  changed: string[]
  /** Known, and not found any more. */
  gone: string[]
  /** The same, but read so soon after a write that another may hide: compare its hash. */
  suspects: string[]
  /** How many files there are now. */
  files: number
  /** Work done, without the turns given to others, in ms; see `intervalMs`. */
  workMs: number
}

/** What a scan needs of a store. */
export type Scanned = Pick<Store, 'root' | 'tasksIn' | 'folders' | 'configFile' | 'classify'>

/** Pause until the next scan, after one that took `workMs` of work. */
export const intervalMs = (workMs: number, isWatched: boolean): number =>
  isWatched ? Math.max(INTERVAL_MS, workMs / WORK_SHARE) : Math.max(POLL_MS, workMs / POLL_SHARE)

/** Whether a file that is new, or another, need not be read: what it has is known elsewhere. */
type IsKnown = (path: string, stat: FileStat) => boolean

/** Scans once. One scan of a table at a time: the table counts what the last one has seen. */
export const scan = (store: Scanned, table: FileTable, isKnown?: IsKnown): Promise<ScanReport> =>
  new Scan(store, table, isKnown).run()

/** One scan under way. */
class Scan {
  readonly #store: Scanned
  readonly #table: FileTable
  readonly #isKnown: IsKnown | undefined
  /** Folder → why it could not be read. */
  readonly #unread = new Map<string, string>()
  /** Folder → that a link stands in its place, or in that of one above. */
  readonly #hidden = new Map<string, string>()
  /** Folder → that a file or a pipe stands in its place. */
  readonly #blocked = new Map<string, string>()
  /** How many of its files hold tasks, wherever they are. */
  #tasks = 0
  /** Why tasks are not where they were, though nobody deleted them. */
  #lost: string | undefined
  readonly #report: ScanReport
  #sliceFrom = performance.now()
  #sliceFiles = 0

  constructor(store: Scanned, table: FileTable, isKnown: IsKnown | undefined) {
    this.#store = store
    this.#table = table
    this.#isKnown = isKnown
    this.#report = { state: 'present', changed: [], gone: [], suspects: [], files: 0, workMs: 0 }
  }

  async run(): Promise<ScanReport> {
    this.#table.beginScan()
    const { root, configFile } = this.#store
    const before = this.#look(root)
    if (before.is !== 'folder') return this.#finish(before)
    const folders = new Set(this.#store.folders())
    for (const folder of folders) await this.#folder(folder)
    if (configFile && !folders.has(dirname(configFile))) this.#file(configFile)
    await this.#confirmGone()
    return this.#finish(this.#look(root))
  }

  #finish(root: Looked<typeof FOLDER>): ScanReport {
    const report = this.#report
    report.workMs += performance.now() - this.#sliceFrom
    const why = root.is === 'unknown' ? root.why : this.#lost
    if (root.is === 'absent' || why !== undefined) {
      // It went away, perhaps in the middle: what was found is void, and found again later.
      const { files, workMs } = report
      const nothing = { changed: [], gone: [], suspects: [], files, workMs }
      return {
        state: 'missing',
        ...(root.is !== 'absent' && why !== undefined && { why }),
        ...nothing,
      }
    }
    // Read by a hint meanwhile: there again.
    report.gone = report.gone.filter((path) => this.#table.isMissed(path))
    if (this.#unread.size > 0) report.state = 'unreadable'
    const notes = [...this.#unread.values(), ...this.#blocked.values()]
    if (notes.length > 0) report.why = notes.join('; ')
    return report
  }

  async #folder(folder: string): Promise<void> {
    const looked = this.#look(folder)
    if (looked.is === 'absent' || this.#blocked.has(folder)) return
    const why = looked.is === 'unknown' ? looked.why : await this.#list(folder)
    if (why) this.#unread.set(folder, why)
  }

  /** Stats the files of a folder. Returns why it could not be read to its end. */
  async #list(folder: string): Promise<string | undefined> {
    const prefix = folder.endsWith(sep) ? folder : folder + sep
    let why: string | undefined
    let dir: Dir
    try {
      dir = openFolderHere(folder, { bufferSize: 256 })
    } catch (error) {
      return isAbsence(error) ? undefined : whyOf(folder, error)
    }
    try {
      for (;;) {
        const entry: Dirent | null = dir.readSync()
        if (!entry) break
        why = this.#file(prefix + entry.name, entry.isFile()) ?? why
        if (this.#sliceIsOver()) await this.#giveTurn()
      }
    } catch (error) {
      why = whyOf(folder, error)
    }
    dir.closeSync()
    return why
  }

  /** Looks at one file; `isFile`: its folder says so. Returns why it could not be looked at. */
  #file(path: string, isFile = false): string | undefined {
    const kind = this.#store.classify(path)
    if (kind === undefined) return undefined
    // A new one is read, with its stat, later.
    const isNew = isFile && this.#isKnown === undefined && !this.#table.has(path)
    if (isNew) this.#report.changed.push(path)
    else {
      const found = this.#compare(path)
      if (found.is !== 'there') return found.is === 'unknown' ? found.why : undefined
    }
    this.#report.files += 1
    if (kind === 'task' || kind === 'tasks') this.#tasks += 1
    return undefined
  }

  #compare(path: string): Looked<typeof THERE> {
    try {
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (!stat) return ABSENT
      const difference = this.#table.compare(path, stat)
      if (difference === 'racy') this.#report.suspects.push(path)
      else if (difference !== 'same' && !this.#isKnown?.(path, stat))
        this.#report.changed.push(path)
      return THERE
    } catch (error) {
      return notThere(path, error)
    }
  }

  /** A listing may miss a file that was renamed over meanwhile: what it missed is looked for. */
  async #confirmGone(): Promise<void> {
    for (const path of this.#table.missed()) {
      const hidden = this.#hidden.get(dirname(path))
      if (hidden !== undefined && this.#holdsTasks(path)) this.#lost = hidden
      if (this.#unread.has(dirname(path))) continue
      if (this.#blocked.has(dirname(path))) {
        // It stands as it was last read.
        if (this.#holdsTasks(path)) this.#tasks += 1
        continue
      }
      const why = this.#file(path)
      if (why) this.#unread.set(path, why)
      else if (this.#table.isMissed(path)) this.#report.gone.push(path)
      if (this.#sliceIsOver()) await this.#giveTurn()
    }
    const { tasksIn } = this.#store
    if (isThere(tasksIn) && !this.#blocked.has(tasksIn)) return
    const wasThere = this.#report.gone.some((path) => isLost(this.#store, path))
    if (wasThere) this.#lost = `${tasksIn} ${IS.missing}`
    else if (this.#tasks === 0) this.#report.state = 'bare'
  }

  #holdsTasks(path: string): boolean {
    const kind = this.#store.classify(path)
    return kind === 'task' || kind === 'tasks' || kind === 'about'
  }

  #look(folder: string): Looked<typeof FOLDER> {
    try {
      const stat = lstatSync(folder, { throwIfNoEntry: false })
      if (!stat) return ABSENT
      if (!stat.isDirectory() && !stat.isSymbolicLink()) {
        const why = `${folder} ${IS.noFolder}`
        this.#blocked.set(folder, why)
        return { is: 'unknown', why }
      }
      // A link may leave the store, and what it points to is not watched either.
      const isLink = stat.isSymbolicLink()
      if (!isLink && realpathSync.native(folder) === folder) return FOLDER
      const why = isLink ? `${folder} ${IS.noFolder} but a link` : `${folder} ${IS.linked}`
      this.#hidden.set(folder, why)
      return { is: 'unknown', why }
    } catch (error) {
      return notThere(folder, error)
    }
  }

  #sliceIsOver(): boolean {
    this.#sliceFiles += 1
    return this.#sliceFiles % CLOCK_FILES === 0 && performance.now() - this.#sliceFrom > SLICE_MS
  }

  async #giveTurn(): Promise<void> {
    this.#report.workMs += performance.now() - this.#sliceFrom
    await otherTurns()
    this.#sliceFrom = performance.now()
  }
}

// Made once: of 100,000 files each is looked at.
const THERE = { is: 'there' } as const
const FOLDER = { is: 'folder' } as const
const ABSENT = { is: 'absent' } as const

/** What stands at a path. */
type Looked<Found> = Found | typeof ABSENT | { is: 'unknown'; why: string }

const notThere = (path: string, error: unknown): Looked<never> =>
  isAbsence(error) ? ABSENT : { is: 'unknown', why: whyOf(path, error) }

const whyOf = (path: string, error: unknown) => `${path} cannot be read (${errorCode(error)})`
