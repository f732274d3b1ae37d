// Reads and parses one file, and says how much that can be trusted. A file that is caught
// half-written, or a store that went away as a whole, is neither a change nor a removal. Of a run,
// only what may leave this machine is kept.

import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../worker/shared/clock.ts'
import type { FileKind, Store } from '../layouts/layout.ts'
import { isThere, isWithin, lookAt } from '../layouts/store-folder.ts'
import { digest } from './compact.ts'
import type { ParsedFile } from './facts.ts'
import { type FileStat, seen, youngest } from './file-stat.ts'
import { parseFile, type RunOutput, tooSlow } from './parse-file.ts'
import { readSource, type Source } from './read-source.ts'

/** A writer that takes longer over one file is not writing it any more. */
export const HALF_WRITTEN_MS = 1_000

export type FileState =
  | {
      state: 'parsed'
      file: ParsedFile
      /** Broken, and so young that its writer may not be done. */
      unsure: boolean
    }
  | { state: 'gone' }
  /** Its state is unknown now: keep what is known, look again. */
  | {
      state: 'later'
      why: string
      /** The folder of its linked worktree is gone. */
      isAway?: true
      /** For a new file: a record which says that it cannot be read. */
      file?: ParsedFile
    }

/** A linked worktree, which holds a copy of the store. */
interface Copied {
  tree: { dir: string; store: Store }
  compare(path: string, hash: string, bytes: Buffer): { isChanged: boolean; blobs: string[] }
}

interface ReaderDeps {
  store: Store
  clock: Pick<Clock, 'now'>
  /** What of runs leaves this machine; all else of them is never kept. */
  runOutput: RunOutput
  /** That which has this file. Undefined: none has. */
  copied?: (path: string) => Copied | undefined
  /** git is writing it. */
  isBusy?: (tree: Copied['tree']) => boolean
}

/** A file as it was found. */
interface Found {
  store: Store
  path: string
  kind: FileKind
  stat: FileStat | undefined
  /** It is in a linked worktree. */
  isCopy: boolean
}

export class FileReader {
  readonly #deps: ReaderDeps
  /** Hashes of files that took too long, by path. */
  readonly #slow = new Map<string, string>()

  constructor(deps: ReaderDeps) {
    this.#deps = deps
  }

  /** What is known by `knownHash`, or is in a copy and says nothing new, is not parsed. */
  read = (path: string, knownHash?: string): FileState => this.#read(path, knownHash, true)

  readWhole = (path: string): FileState => this.#read(path, undefined, false)

  #read(path: string, knownHash: string | undefined, isSparing: boolean): FileState {
    const { isBusy } = this.#deps
    const copied = this.#deps.copied?.(path)
    const { store } = copied?.tree ?? this.#deps
    if (copied && isBusy?.(copied.tree)) return { state: 'later', why: 'git is writing its tree' }
    const kind = store.classify(path)
    if (kind === undefined) return { state: 'gone' }
    const { source, stat } = readTwice(store, path)
    const found = { store, path, kind, stat, isCopy: copied !== undefined }
    if (source.state !== 'read') return this.#unread(found, source)
    const hash = digest(source.text)
    const looked = this.#looked(stat)
    if (hash === knownHash) return withoutNews(hash, looked)
    const copy = copied?.compare(path, hash, source.bytes)
    const signs = copy ? { ...looked, blobs: copy.blobs } : looked
    if (isSparing && copy && !copy.isChanged) return withoutNews(hash, signs)
    return this.#parsed(found, source, { hash, ...signs })
  }

  /** It is not there, or may not be read. */
  #unread({ store, path, kind, stat, isCopy }: Found, source: Unread): FileState {
    const isElsewhere = source.state === 'refused' && source.elsewhere
    const hidden = whyHidden(store, path) ?? (isElsewhere ? source.why : undefined)
    if (hidden !== undefined) {
      const isAway = isCopy && !isThere(store.root)
      return { state: 'later', why: hidden, ...(isAway && { isAway }) }
    }
    if (source.state === 'gone') {
      this.#slow.delete(path)
      return { state: 'gone' }
    }
    const { why, transient } = source
    const file: ParsedFile = {
      hash: digest(`refused: ${why}`),
      state: 'broken',
      entries: store.unreadable(path, kind, why),
      chars: 0,
      // Without a stat it is read again at the next scan.
      ...(!transient && this.#looked(stat)),
    }
    if (transient) return { state: 'later', why, file }
    return { state: 'parsed', file, unsure: this.#isYoung(stat) }
  }

  #parsed(
    { store, path, kind, stat }: Found,
    { text, changing }: Extract<Source, { state: 'read' }>,
    known: Pick<ParsedFile, 'hash' | 'stat' | 'blobs'>,
  ): FileState {
    const wasSlow = this.#slow.get(path) === known.hash
    const { state, entries, tookTooLong } = wasSlow
      ? tooSlow(store, path, kind)
      : parseFile(store, path, kind, text, this.#deps.runOutput)
    if (tookTooLong) this.#slow.set(path, known.hash)
    else this.#slow.delete(path)
    const file = { ...known, state, entries, chars: text.length }
    const isOdd = state === 'broken' || changing === true || text.trim() === ''
    return { state: 'parsed', file, unsure: isOdd && !tookTooLong && this.#isYoung(stat) }
  }

  #looked(stat: FileStat | undefined): Pick<ParsedFile, 'stat'> {
    return stat ? { stat: seen(stat, this.#deps.clock.now()) } : {}
  }

  #isYoung(stat: FileStat | undefined): boolean {
    const now = this.#deps.clock.now()
    return stat !== undefined && Math.abs(now - youngest(stat)) < HALF_WRITTEN_MS
  }
}

type Unread = Exclude<Source, { state: 'read' }>

/** It is not parsed: what it says is known. */
function withoutNews(hash: string, signs: Pick<ParsedFile, 'stat' | 'blobs'>): FileState {
  const file: ParsedFile = { hash, state: 'ok', entries: [], chars: 0, ...signs }
  return { state: 'parsed', file, unsure: false }
}

/** `stat`: from before the text was read, so that a write meanwhile differs. */
function readTwice(store: Store, path: string): { source: Source; stat: FileStat | undefined } {
  const first = readSource(store, path)
  if (first.state === 'read') return { source: first, stat: first.stat }
  // There is no descriptor to ask.
  const stat = lookAt(path)
  const source = readSource(store, path)
  return { source, stat: source.state === 'read' ? source.stat : stat }
}

/** What a folder is whose files cannot be seen: also in what a scan reports. */
export const IS = {
  missing: 'is missing',
  linked: 'is behind a link',
  noFolder: 'is not a folder',
} as const

/**
 * Why the state of a file is unknown that is not there, or is behind a link: the store vanished and
 * took its files along, or a link has replaced a folder. When the folder is back, the file is as it
 * was, so it would not be read again.
 */
function whyHidden(store: Store, path: string): string | undefined {
  const { root } = store
  if (!lookAt(root)?.isDirectory()) return `${root} ${IS.missing}`
  if (!isReal(root)) return `${root} ${IS.linked}`
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
    const stat = lookAt(folder)
    if (stat && !stat.isDirectory()) return `${folder} ${IS.noFolder}`
  }
  return isLost(store, path) ? `${store.tasksIn} ${IS.missing}` : undefined
}

/**
 * Whether a file that is gone went along with the place of all tasks. Not if it has moved to
 * another folder of the store: git removes a folder when its last file has moved.
 */
export function isLost(
  { tasksIn, folders }: Pick<Store, 'tasksIn' | 'folders'>,
  path: string,
): boolean {
  if (!isWithin(path, tasksIn) || lookAt(tasksIn)) return false
  const others = folders().filter((folder) => folder !== dirname(path))
  return !others.some((folder) => lookAt(join(folder, basename(path))))
}

function isReal(path: string): boolean {
  try {
    return realpathSync.native(path) === path
  } catch {
    return false
  }
}
